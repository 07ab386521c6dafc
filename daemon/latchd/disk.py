"""The rim that asks the disk about paths. Errors become values; only a script about to run is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping

from latchd.artifacts import MAX_BYTES, Candidate, Script, read_as_shell
from latchd.files import FileView, Stamp


def view(path: str) -> FileView:
    """What the disk says of one absolute path. Never raises."""
    try:
        real = os.path.realpath(path)
        status = os.stat(path)  # noqa: PTH116 (a Path object per probe costs more than the probe)
    except FileNotFoundError:
        return FileView(path=path, real=_existing_part(path))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return FileView(path=path, real=path, fault=_why(error))
    is_dir = stat.S_ISDIR(status.st_mode)
    return FileView(
        path=path,
        exists=True,
        is_dir=is_dir,
        real=real,
        stamp=_stamp(status),
        holds_git=is_dir and os.path.lexists(os.path.join(real, ".git")),  # noqa: PTH118
    )


def views(paths: Iterable[str]) -> Mapping[str, FileView]:
    """The view of each path, by the path as it was asked for."""
    return {path: view(path) for path in paths}


def _existing_part(path: str) -> str:
    """The real path of the deepest ancestor that exists, and the rest as written."""
    try:
        return os.path.realpath(path)  # resolves what exists and keeps the missing tail
    except (OSError, ValueError):
        return path


def _why(error: Exception) -> str:
    return (os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error))[
        :120
    ]


def script(candidate: Candidate) -> Script:
    """The bytes of a script that is about to run, or why they can't be judged. Never raises.

    Opened without following a last symlink and without waiting (a pipe in its place must not stop
    us), and only believed when the file is the same before and after it was read.
    """
    path = candidate.path
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return Script(path, skipped="unreadable")
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Script(path, skipped="not-a-file")
        if candidate.direct and not before.st_mode & 0o111:
            return Script(path, skipped="not-executable")
        data = os.read(descriptor, MAX_BYTES + 1)
        if _stamp(os.fstat(descriptor)) != _stamp(before):
            return Script(path, skipped="changing")
    except OSError:
        return Script(path, skipped="unreadable")
    finally:
        os.close(descriptor)
    return read_as_shell(path, data, direct=candidate.direct)


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
