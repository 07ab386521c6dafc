"""Room in the log beforehand: it means nothing, harms nothing and is only there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from latchd.store import log_room
from latchd.store.database import Database
from latchd.store.sqlite import checkpoint

ROW = "INSERT INTO records (at_ms, kind, body) VALUES (?, 'x', x'00')"


def times(database: Database) -> list[int]:
    return [at for (at,) in database.rows("SELECT at_ms FROM records ORDER BY seq")]


def test_commits_go_into_the_room_and_the_log_keeps_its_length(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    database = Database.open(path)
    log_room.provide(path, 1 << 20)

    for number in range(20):
        with database.transaction():
            database.insert(ROW, (number,))

    assert path.with_name("latchd.db-wal").stat().st_size == 1 << 20
    assert times(database) == list(range(20))
    database.close()


def test_what_a_crash_leaves_of_it_is_read_to_the_last_frame_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    database = Database.open(path)
    log_room.provide(path, 1 << 20)
    with database.transaction():
        database.insert(ROW, (7,))
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for side in ("", "-wal"):
        (crashed / f"latchd.db{side}").write_bytes(path.with_name(f"latchd.db{side}").read_bytes())
    database.close()

    database = Database.open(crashed / "latchd.db")

    assert (times(database), database.moved_aside) == ([7], "")
    database.close()


def test_a_checkpoint_moves_what_was_committed_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    database = Database.open(path)
    log_room.provide(path, 1 << 20)
    with database.transaction():
        database.insert(ROW, (7,))

    checkpoint(path)
    database.close()

    assert path.stat().st_size < 1 << 18
    assert not path.with_name("latchd.db-wal").exists()


def test_a_log_that_is_long_enough_or_missing_is_let_be(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    log = path.with_name("latchd.db-wal")
    log_room.provide(path, 1 << 20)
    assert not log.exists()

    log.write_bytes(b"frames")
    log_room.provide(path, 6)

    assert log.read_bytes() == b"frames"


@pytest.mark.parametrize("free", [0, 15])
def test_a_disk_that_is_almost_full_keeps_its_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    log = tmp_path / "latchd.db-wal"
    log.write_bytes(b"frames")
    real = os.statvfs(tmp_path)
    full = os.statvfs_result([4096, 4096, 1000, free, free, *real[5:]])

    def measured(_: int) -> os.statvfs_result:
        return full

    monkeypatch.setattr(os, "fstatvfs", measured)

    log_room.provide(tmp_path / "latchd.db", 4096)

    assert log.read_bytes() == b"frames"


def test_a_write_that_fails_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "latchd.db-wal"
    log.write_bytes(b"frames")
    write = os.pwrite

    def half(descriptor: int, data: bytes, offset: int) -> int:
        write(descriptor, data[:100], offset)
        raise OSError

    monkeypatch.setattr(os, "pwrite", half)

    log_room.provide(tmp_path / "latchd.db", 4096)

    assert log.read_bytes() == b"frames"
