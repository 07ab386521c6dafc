"""One daemon per directory: a file lock held for life, and private directories to hold it in.

A lock dies with its process, whatever killed it, and a pid file does not: so the lock decides, and
the pid inside is for people.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Generator
from pathlib import Path
from typing import Final

# `latchctl` asks by taking a shared lock for an instant. Asking again beats it without a sleep.
_ATTEMPTS: Final = 1000


class RefusedToStart(Exception):
    """The daemon can't start here. The text is one line for a person; nothing has been touched."""


def private_directory(path: str, what: str, *, readable: bool = False) -> None:
    """Make ``path`` a directory of ours that others can't enter, or prove that it is one.

    ``readable`` lets others read, never write. Raises RefusedToStart.
    """
    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            Path(path).mkdir(mode=0o700)
        status = os.lstat(path)
    except OSError as error:
        raise RefusedToStart(f"{what} `{path}` can't be made: {_why(error)}") from error
    if stat.S_ISLNK(status.st_mode):
        raise RefusedToStart(f"{what} `{path}` is a symbolic link; name the directory itself")
    if not stat.S_ISDIR(status.st_mode):
        raise RefusedToStart(f"{what} `{path}` is not a directory")
    if status.st_uid != os.getuid():
        raise RefusedToStart(f"{what} `{path}` belongs to user {status.st_uid}, not to you")
    mode = stat.S_IMODE(status.st_mode)
    if mode & (0o022 if readable else 0o077):
        raise RefusedToStart(f"{what} `{path}` is open to others (mode {mode:04o}); run: chmod 700 {path}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise RefusedToStart(f"{what} `{path}` can't be written to")


@contextlib.contextmanager
def held(path: str) -> Generator[None]:
    """Hold the lock file at ``path``. Raises RefusedToStart, naming the pid, while another process does.

    The file stays when the lock goes: unlinking it would let two daemons lock two files of one name.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise RefusedToStart(f"lock file `{path}` can't be opened: {_why(error)}") from error
    try:
        _lock(descriptor, path)
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            raise RefusedToStart(f"lock file `{path}` can't be written: {_why(error)}") from error
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str) -> None:
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise RefusedToStart(f"another latchd runs here, pid {pid} (it holds `{path}`)") from None
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    raise RefusedToStart(f"lock file `{path}` is being looked at by another process; try again")


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
