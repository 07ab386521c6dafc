"""The database file, on real files: created, kept, refused, moved aside."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import foreign
from latchd.store.database import Database
from latchd.store.errors import StoreError, StoreUnusable
from latchd.store.migrations import VERSION
from latchd.store.sqlite import LOG_KEPT, checkpoint


def raw(path: Path) -> sqlite3.Connection:
    """Somebody else's connection, through another library."""
    return sqlite3.connect(path, isolation_level=None)


def test_a_new_database_is_private_ours_and_durable(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"

    database = Database.open(path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert database.row("PRAGMA journal_mode") == ("wal",)
    assert database.row("PRAGMA synchronous") == (2,)
    assert database.row("PRAGMA user_version") == (VERSION,)
    assert database.moved_aside == ""
    database.close()


def test_normal_durability_is_the_users_choice(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "latchd.db", full_sync=False)

    assert database.row("PRAGMA synchronous") == (1,)
    database.close()


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "latchd.db")

    def half() -> None:
        with database.transaction():
            database.insert("INSERT INTO records (at_ms, kind, body) VALUES (1, 'x', x'')", ())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()

    assert database.row("SELECT count(*) FROM records") == (0,)
    database.close()


def test_what_was_committed_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    first = Database.open(path)
    with first.transaction():
        first.insert("INSERT INTO records (at_ms, kind, body) VALUES (1, 'x', x'')", ())
    first.close()

    again = Database.open(path)

    assert again.row("SELECT kind FROM records") == ("x",)
    again.close()


def test_a_foreign_lock_holder_costs_an_error_not_a_hang(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    database = Database.open(path)
    with (
        foreign.holding(path),
        pytest.raises(StoreError, match="locked"),
        database.transaction(),
    ):
        pass

    with database.transaction():
        pass
    database.close()


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    Database.open(path).close()
    connection = raw(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreUnusable, match=f"has schema {VERSION + 1}, this latchd knows {VERSION}"):
        Database.open(path)

    assert path.read_bytes() == before


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    connection = raw(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreUnusable, match="belongs to another program"):
        Database.open(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize("junk", [b"not a database at all" * 500, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_corrupt_file_is_moved_aside_whole_and_a_new_one_started(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "latchd.db"
    path.write_bytes(junk)
    path.with_name("latchd.db-wal").write_bytes(b"old log")

    database = Database.open(path)

    aside = tmp_path / "latchd.db.corrupt-1"
    assert database.moved_aside == str(aside)
    assert aside.read_bytes() == junk
    assert aside.with_name("latchd.db.corrupt-1-wal").read_bytes() == b"old log"
    assert database.row("SELECT count(*) FROM records") == (0,)
    database.close()


def test_a_second_corrupt_file_does_not_overwrite_the_first(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    for number in (1, 2):
        path.write_bytes(b"junk" * 2000 + bytes([number]))
        Database.open(path).close()
        path.unlink()

    assert sorted(entry.name for entry in tmp_path.glob("*.corrupt-?")) == [
        "latchd.db.corrupt-1",
        "latchd.db.corrupt-2",
    ]


def test_a_place_that_is_no_directory_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreUnusable, match=r"^database `.*`: unable to open database file$"):
        Database.open(tmp_path / "file" / "latchd.db")


def test_a_removed_file_is_noticed(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "latchd.db")
    assert database.is_in_place()

    database.path.unlink()

    assert not database.is_in_place()
    database.close()


def test_a_checkpoint_beside_the_writer_moves_the_log(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    database = Database.open(path)
    with database.transaction():
        database.insert("INSERT INTO records (at_ms, kind, body) VALUES (1, 'x', zeroblob(100000))", ())
    before = path.stat().st_size

    checkpoint(path)

    assert path.stat().st_size > before
    database.close()


@pytest.mark.parametrize("mebibytes", [40, 1])
def test_a_log_that_was_moved_is_written_anew_and_cut_to_what_is_kept(tmp_path: Path, mebibytes: int) -> None:
    path = tmp_path / "latchd.db"
    log = path.with_name("latchd.db-wal")
    database = Database.open(path)
    kept = "INSERT INTO records (at_ms, kind, body) VALUES (1, 'x', zeroblob(?))"
    with database.transaction():
        database.insert(kept, (mebibytes << 20,))
    long, waiting = log.stat().st_size, database.log_bytes

    checkpoint(path)
    with database.transaction():
        database.insert(kept, (1,))

    assert path.stat().st_size > mebibytes << 20 < waiting
    assert log.stat().st_size == min(LOG_KEPT, long)
    assert database.log_bytes < 1 << 16
    database.close()


def test_a_checkpoint_never_waits_for_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    database = Database.open(path)
    reader = Database.open_to_read(path)
    with reader.snapshot():
        before = reader.row("SELECT count(*) FROM records")
        with database.transaction():
            database.insert(
                "INSERT INTO records (at_ms, kind, body) VALUES (1, 'x', zeroblob(?))", (20 << 20,)
            )
        checkpoint(path)

        assert reader.row("SELECT count(*) FROM records") == before
        assert path.with_name("latchd.db-wal").stat().st_size > 20 << 20
    reader.close()
    database.close()


def test_a_corrupt_file_that_can_not_be_moved_aside_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "latchd.db").write_bytes(b"junk" * 4000)

    def rename(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", rename)

    with pytest.raises(StoreUnusable, match="can't be moved aside: permission denied"):
        Database.open(tmp_path / "latchd.db")


def test_nothing_is_written_to_a_file_that_is_gone(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "latchd.db")
    (tmp_path / "latchd.db").unlink()

    with pytest.raises(StoreError, match="was removed or replaced"), database.transaction():
        pass
    database.close()
    again = database.opened_again()
    with again.transaction():
        pass
    again.close()


def test_durability_can_be_changed_while_it_is_open(tmp_path: Path) -> None:
    opened = Database.open(tmp_path / "latchd.db")
    modes = [opened.row("PRAGMA synchronous")]
    for full in (False, True):
        opened.sync(full=full)
        modes.append(opened.row("PRAGMA synchronous"))
    opened.close()

    assert modes == [(2,), (1,), (2,)]
