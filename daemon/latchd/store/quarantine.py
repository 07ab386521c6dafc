"""Moving a damaged database out of the way, whole, so that nothing of it is read or lost.

The file goes first and its companions after it. A crash in between leaves a log without its file, which
is never a state of a database in use: the next start moves it to where the file went.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

LOG: Final = "-wal"
COMPANIONS: Final = (LOG, "-shm", "-journal")


def move_aside(path: Path) -> Path:
    """Rename the file and its companions to the next free ``.corrupt-N``; where the file is now.

    Raises OSError.
    """
    aside = _numbered(path, _newest(path) + 1)
    with contextlib.suppress(FileNotFoundError):
        path.rename(aside)
    _move_companions(path, aside)
    _sync_directory(path.parent)
    return aside


def part_log(path: Path) -> Path | None:
    """Move the log of a file that another has taken the place of; the name it went by, None without one.

    SQLite can't tell whose log lies beside a file, and would write the old one's pages into the new one.
    Raises OSError.
    """
    if not path.exists() or not _size(_companion(path, LOG)):
        return None
    aside = _numbered(path, _newest(path) + 1)
    _move_companions(path, aside)
    _sync_directory(path.parent)
    return aside


def finish(path: Path) -> Path | None:
    """Complete a move that a crash cut short; where the leftovers went, None when there were none.

    A log without its file must not lie there when a new file is made: SQLite would delete it, and it
    holds what was committed last. Raises OSError.
    """
    if _size(path) or not _size(_companion(path, LOG)):
        return None
    newest = _newest(path)
    aside = _numbered(path, newest)
    if newest == 0 or path.exists() or any(_companion(aside, one).exists() for one in COMPANIONS):
        return move_aside(path)
    _move_companions(path, aside)
    _sync_directory(path.parent)
    return aside


def _move_companions(path: Path, aside: Path) -> None:
    for suffix in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            _companion(path, suffix).rename(_companion(aside, suffix))


def _newest(path: Path) -> int:
    """The highest number in use, by a file or by a companion that had none; 0 when there is none."""
    number = 0
    while any(_companion(_numbered(path, number + 1), one).exists() for one in ("", *COMPANIONS)):
        number += 1
    return number


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.corrupt-{number}")


def _companion(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sync_directory(path: Path) -> None:
    """Make renames last; a directory that can't be synced (some network mounts) is no reason to stop."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
