"""The rim that asks the disk about paths. Errors become values; only a script about to run is opened.

A mount that does not answer is no value: where it leads can't be known, and no guess may stand for it.
What asks of one raises Unanswered, which the judge makes a refusal of.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from latchd.artifacts import MAX_BYTES, Candidate, Script, read_as_shell
from latchd.files import FileView, Stamp
from latchd.hanging import Hanging, Table, Unanswered

_hanging: Final = Hanging(Table().mounts)

T = TypeVar("T")


def asked(path: str, work: Callable[[], T]) -> T:
    """What ``work`` gives, which asks the disk of this path. Raises Unanswered, and whatever it raises."""
    return _hanging.ask((path,), work)


def view(path: str) -> FileView:
    """What the disk says of one absolute path. Raises Unanswered."""
    return asked(path, lambda: look(path))


def stamp(path: str) -> Stamp | None:
    """What tells this file from a changed one; None when it is not there, or nobody answers. Never raises."""
    try:
        return view(path).stamp
    except Unanswered:
        return None


def look(path: str) -> FileView:
    """The view of one path, asked right here, however long it takes."""
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
    """The view of each path, by the path as it was asked for. Raises Unanswered.

    What lies on one mount that can hang is asked of it together.
    """
    if not _hanging.can():
        return {path: look(path) for path in paths}
    together: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        together[_hanging.met(path)].append(path)
    found: dict[str, FileView] = {}
    for mount, ours in together.items():

        def each(ours: list[str] = ours) -> dict[str, FileView]:
            return {path: look(path) for path in ours}

        found |= _hanging.ask_mount(mount, each) if mount else each()
    return found


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
    """The bytes of a script that is about to run, or why they can't be judged. Raises Unanswered.

    Opened without following a last symlink and without waiting (a pipe in its place must not stop
    us), and only believed when the file is the same before and after it was read.
    """
    return asked(candidate.path, lambda: _script(candidate))


def _script(candidate: Candidate) -> Script:
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
