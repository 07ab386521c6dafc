"""A disk that fails on request, under the real SQLite: at the k-th change it refuses, or everything dies.

A change is a write, a sync, a truncation, a deletion or a new file; reads and locks are no changes. What
a dying machine keeps is what was synced, and of the rest whatever a seeded die says, torn at sectors.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (apsw's stubs name a type that this Python has not)

from __future__ import annotations

import contextlib
import enum
import os
import random
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import apsw

DEAD: Final = 77  # the exit code of a process that died here
_SECTOR: Final = 512
_REAL: Final = apsw.vfs_names()[0]  # the default of now; once plugged in, "" would mean ourselves


class Fault(enum.StrEnum):
    """What happens at the chosen change."""

    KILL = "kill"  # the process dies; the kernel keeps all that was written
    POWER = "power"  # the machine dies; unsynced writes are lost in part
    FULL = "full"  # this change fails: no room
    FULL_ON = "full-on"  # this one and all after it
    BROKEN = "broken"  # this change fails: input/output error
    BROKEN_ON = "broken-on"


_STICKY: Final = frozenset({Fault.FULL_ON, Fault.BROKEN_ON})
_DEATHS: Final = frozenset({Fault.KILL, Fault.POWER})


class Disk(apsw.VFS):
    """The default disk while it is ``plugged_in``. ``at`` counts from 1; 0 = nothing ever fails."""

    def __init__(self, fault: Fault = Fault.KILL, at: int = 0) -> None:
        self.fault = fault
        self.at = at
        self.changes = 0
        # path -> what to write back, oldest first: (offset, bytes that were there, size before)
        self._unsynced: dict[str, list[tuple[int, bytes, int]]] = {}
        self.name = f"failing-{id(self)}"
        super().__init__(self.name, _REAL, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is not None and flags[0] & apsw.SQLITE_OPEN_CREATE and not Path(path).exists():
            self.change()
        return _File(self, path or "", name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.change()
        self._unsynced.pop(filename, None)
        super().xDelete(filename, syncdir)

    def change(self) -> None:
        """Count one, and fail when its turn has come."""
        self.changes += 1
        if self.at == 0 or self.changes < self.at or (self.changes > self.at and self.fault not in _STICKY):
            return
        if self.fault in _DEATHS:
            self._die()
        if self.fault in (Fault.FULL, Fault.FULL_ON):
            raise apsw.FullError("no room")
        raise apsw.IOError("broken")

    def written(self, path: str, offset: int, before: bytes, size: int) -> None:
        self._unsynced.setdefault(path, []).append((offset, before, size))

    def synced(self, path: str) -> None:
        self._unsynced.pop(path, None)

    def _die(self) -> None:
        if self.fault is Fault.POWER:
            self._lose_unsynced()
        os._exit(DEAD)

    def _lose_unsynced(self) -> None:
        die = random.Random(self.at)  # noqa: S311 (nothing secret)
        for path, undo in self._unsynced.items():
            with contextlib.suppress(FileNotFoundError), Path(path).open("r+b") as file:
                for offset, before, size in reversed(undo):
                    for start in range(0, len(before), _SECTOR):
                        if die.random() < 0.5:
                            file.seek(offset + start)
                            file.write(before[start : start + _SECTOR])
                    if die.random() < 0.5:
                        file.truncate(size)
            Path(path.removesuffix("-wal") + "-shm").unlink(missing_ok=True)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, path: str, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._path = path
        super().__init__(_REAL, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.change()
        if self._disk.fault is Fault.POWER:
            size = self.xFileSize()
            before = self.xRead(min(len(data), max(0, size - offset)), offset) if offset < size else b""
            self._disk.written(self._path, offset, before.ljust(len(data), b"\0"), size)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.change()
        super().xSync(flags)
        self._disk.synced(self._path)

    def xTruncate(self, newsize: int) -> None:
        self._disk.change()
        super().xTruncate(newsize)


@contextlib.contextmanager
def plugged_in(fault: Fault = Fault.KILL, at: int = 0) -> Generator[Disk]:
    """The disk of every database opened in the block."""
    disk = Disk(fault, at)
    try:
        yield disk
    finally:
        disk.unregister()
