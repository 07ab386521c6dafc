"""A copy of the database in a file of its own: complete or not there, private, and on the disk.

SQLite writes the copy beside its final name and a hard link gives it that name, so that a crash leaves
no half copy under it and nothing that exists is overwritten.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

KEPT: Final = 3  # copies of one schema; a start that fails again and again must not fill the disk


def name_for(database: Path, version: int, at_ms: int) -> Path:
    """Beside the database, by its schema and the moment (UTC): ``latchd.db.schema-1.20260131T235959Z``."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_ms // 1000))
    return database.with_name(f"{database.name}.schema-{version}.{moment}")


def write(copy_into: Callable[[str], None], target: Path) -> None:
    """Have ``copy_into`` fill a new file and name it ``target``. Raises OSError, or what it raises.

    FileExistsError: there is a file of that name, and it stays as it is.
    """
    if os.path.lexists(target):  # before the work, and again when the name is given
        raise FileExistsError(f"`{target}` exists")
    partial = target.with_name(f".{target.name}.partial")
    _remove(partial)  # of a copy that a crash cut short
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    try:
        copy_into(str(partial))
        _sync(partial, os.O_RDONLY)
        _name(partial, target)
    finally:
        _remove(partial)
    with contextlib.suppress(OSError):  # some network mounts can't sync a directory
        _sync(target.parent, os.O_RDONLY | os.O_DIRECTORY)


def write_dated(copy_into: Callable[[str], None], database: Path, version: int, at_ms: int) -> Path:
    """A copy beside the database, in the place of the oldest of that schema when there are enough."""
    target = name_for(database, version, at_ms)
    for cut_short in database.parent.glob(f".{database.name}.schema-*.partial*"):
        cut_short.unlink(missing_ok=True)
    with contextlib.suppress(FileExistsError):  # of this very second, by a start that failed just now
        write(copy_into, target)
    earlier = sorted(database.parent.glob(f"{database.name}.schema-{version}.*"))
    for old in earlier[:-KEPT]:
        old.unlink(missing_ok=True)
    return target


def _remove(partial: Path) -> None:
    for side in ("", "-journal"):  # SQLite writes the copy with one
        partial.with_name(partial.name + side).unlink(missing_ok=True)


def _name(partial: Path, target: Path) -> None:
    try:
        os.link(partial, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError(f"`{target}` exists") from None
        partial.rename(target)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
