"""Binding the two sockets: never over something that lives, never over something that is not ours.

Called under the lock, so no second latchd is between our looks and our acts.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path
from typing import Final

import msgspec

from latch_contracts.places import MAX_SOCKET_PATH, PlaceError
from latchd.lock import RefusedToStart

# Hooks of many agents come in bursts; the kernel caps this at net.core.somaxconn.
BACKLOG: Final = 1024


class Bound(msgspec.Struct, frozen=True):
    """A listening socket. ``identity``: the (device, inode) we bound, None when it was passed to us."""

    socket: socket.socket
    path: str
    identity: tuple[int, int] | None

    def close(self) -> None:
        """Close, and remove the path if it still is what we bound; a passed socket's path is another's."""
        self.socket.close()
        if self.identity is not None and _identity(self.path) == self.identity:
            with contextlib.suppress(FileNotFoundError):
                Path(self.path).unlink()


def bind(path: str) -> Bound:
    """Listen at ``path``, mode 0600, replacing a socket that is proven dead.

    Raises PlaceError for a path the kernel can't take and RefusedToStart for anything else that is
    in the way; then nothing was changed.
    """
    size = len(os.fsencode(path))
    if size > MAX_SOCKET_PATH:  # CPython's own error for it has no errno and names no path
        raise PlaceError(
            f"socket path `{path}` has {size} bytes, the kernel takes {MAX_SOCKET_PATH}; "
            "set LATCHD_RUNTIME_DIR to a shorter directory"
        )
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        old_mask = os.umask(0o177)  # the mode must be right from the first instant, not chmodded later
        try:
            listener.bind(path)
        finally:
            os.umask(old_mask)
        identity = _identity(path)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise RefusedToStart(f"socket `{path}` can't be bound: {_why(error)}") from error
    return Bound(listener, path, identity)


def passed(listener: socket.socket) -> Bound:
    """A listening socket from the service manager, who also owns its path."""
    return Bound(listener, str(listener.getsockname()), None)


def _clear(path: str) -> None:
    """Remove a dead socket. Only ECONNREFUSED of a real socket proves death.

    A regular file refuses connections just the same, a stopped server still accepts them, and a
    full queue says EAGAIN.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise RefusedToStart(f"socket path `{path}` can't be looked at: {_why(error)}") from error
    if not stat.S_ISSOCK(mode):
        raise RefusedToStart(f"socket path `{path}` is {_kind(mode)}, not a socket; move it away")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        found = probe.connect_ex(path)
    if found != errno.ECONNREFUSED:
        raise RefusedToStart(f"another program listens at `{path}`; stop it or choose another directory")
    try:
        Path(path).unlink()
    except OSError as error:
        raise RefusedToStart(f"dead socket `{path}` can't be removed: {_why(error)}") from error


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISDIR(mode):
        return "a directory"
    return "a regular file" if stat.S_ISREG(mode) else "a special file"


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
