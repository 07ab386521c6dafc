"""Room in the write-ahead log before it is needed.

A commit into bytes that the file has already costs about half of one that makes the file longer: the disk
need not write down a new size too. SQLite starts over in a log that a checkpoint has emptied and keeps its
length, so this is for the first log of a start. What lies behind the last frame of a log means nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

BYTES: Final = 8 * 1024 * 1024  # some three hundred events; the first checkpoint comes before more
_SHARE: Final = 16  # of what the disk has free; with less, room is for those who need it now


def provide(path: Path, size: int = BYTES) -> None:
    """Lengthen the log of the database at ``path`` with zeros; where that can't be, it stays as it is.

    Only for who holds the one writing connection and writes nothing meanwhile.
    """
    try:
        descriptor = os.open(f"{path}-wal", os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        there = os.fstat(descriptor).st_size
        disk = os.fstatvfs(descriptor)
        if there >= size or disk.f_bavail * disk.f_frsize < size * _SHARE:
            return
        try:
            os.pwrite(descriptor, bytes(size - there), there)
        except OSError:
            os.ftruncate(descriptor, there)
    except OSError:
        return  # what can't be measured or cut is no room, and no harm either
    finally:
        os.close(descriptor)
