"""Which files lie at a database's path: SQLite goes on with unlinked ones, and nobody else reads those."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

_SIDES: Final = ("", "-wal", "-shm")


class Presence(NamedTuple):
    """The file, its log and the log's index: device and inode, None for none; and the log's length."""

    files: tuple[tuple[int, int] | None, ...]
    log_bytes: int


def of(path: Path) -> Presence:
    found: list[tuple[int, int] | None] = []
    length = 0
    for side in _SIDES:
        try:
            status = os.stat(f"{path}{side}")  # noqa: PTH116 (once per transaction: no Path is made)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino))
            if side == "-wal":
                length = status.st_size
    return Presence(tuple(found), length)
