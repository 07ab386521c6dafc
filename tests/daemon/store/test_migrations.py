"""From any schema that was to the one that is: whole steps in order, never without a copy from before."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest

from latchd.store import backup
from latchd.store.database import Database
from latchd.store.errors import StoreUnusable
from latchd.store.migrations import MIGRATIONS, VERSION, Migration, NoPath, Schema, current, shape
from latchd.store.sqlite import shape_of
from made_up_schemas import ITEMS_AT_3, ROWS, TO_2, TO_3, TOTALS_AT_3, V1, V2, V3

RELEASED = Path(__file__).parent / "schemas"


def old(path: Path) -> Path:
    """A database of the first made-up schema."""
    database = Database.open(path, schema=V1)
    with database.transaction():
        for row in ROWS:
            database.insert("INSERT INTO items VALUES (?, ?)", row)
    database.close()
    return path


def migrated(path: Path, schema: Schema) -> Database:
    return Database.open(path, schema=schema)


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.schema-*"))


def test_the_schema_of_now_is_the_oldest_one_migrated(tmp_path: Path) -> None:
    """Whoever changes schema.sql after a release keeps the released text here and adds the migration."""
    oldest = RELEASED / "1.sql"
    assert oldest.exists() or VERSION == 1, "keep the text of schema 1 in tests/daemon/store/schemas/1.sql"
    text = oldest.read_text("utf-8") if oldest.exists() else current().sql

    Database.open(tmp_path / "latchd.db", schema=Schema(1, text)).close()
    database = Database.open(tmp_path / "latchd.db")

    assert database.shape() == shape_of(current())
    assert [one.to for one in MIGRATIONS] == list(range(2, VERSION + 1))
    database.close()


@pytest.mark.parametrize("schema", [V2, V3])
def test_a_migrated_database_is_what_the_new_schema_makes_of_nothing(tmp_path: Path, schema: Schema) -> None:
    database = migrated(old(tmp_path / "latchd.db"), schema)

    assert database.shape() == shape_of(schema)
    assert database.row("PRAGMA user_version") == (schema.version,)
    database.close()


def test_layout_comments_and_quotes_make_no_other_schema_and_a_column_does() -> None:
    one = shape([("table", "t", 'CREATE TABLE "t" (\n  a INTEGER,  -- first\n  b TEXT\n) STRICT')])

    assert one == shape([("table", "t", "CREATE TABLE t (a INTEGER, b TEXT) STRICT")])
    assert one != shape([("table", "t", "CREATE TABLE t (a INTEGER, c TEXT) STRICT")])
    assert one != shape([("table", "t", "CREATE TABLE t (a INTEGER, b TEXT)")])


def test_several_steps_are_taken_in_order_and_keep_the_rows(tmp_path: Path) -> None:
    database = migrated(old(tmp_path / "latchd.db"), V3)

    assert database.rows("SELECT * FROM items") == ITEMS_AT_3
    assert database.rows("SELECT * FROM totals ORDER BY name") == TOTALS_AT_3
    database.close()


def test_one_copy_from_before_lies_beside_it_private_and_whole(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")
    migrated(path, V3).close()
    (copy,) = copies(path)

    assert copy.name.startswith("latchd.db.schema-1.20")
    assert copy.stat().st_mode & 0o777 == 0o600
    before = Database.open_to_read(copy, schema=V1)
    assert before.rows("SELECT * FROM items ORDER BY id") == ROWS
    before.close()


def test_a_database_that_is_up_to_date_is_not_copied(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")
    migrated(path, V1).close()

    assert copies(path) == []


def test_only_the_last_copies_of_a_schema_are_kept(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")
    database = Database.open_to_read(path, schema=V1)
    for second in range(5):
        backup.write_dated(database.copy_into, path, 1, second * 1000)
    database.close()

    assert [copy.name for copy in copies(path)] == [
        f"latchd.db.schema-1.19700101T00000{second}Z" for second in (2, 3, 4)
    ]


def test_what_a_crash_left_of_a_copy_is_gone_with_its_journal(tmp_path: Path) -> None:
    left = [tmp_path / f".latchd.db.schema-1.20260101T000000Z.partial{side}" for side in ("", "-journal")]
    for one in left:
        one.write_bytes(b"half")

    backup.write_dated(lambda target: None, tmp_path / "latchd.db", 1, 2 * 10**12)

    assert [one for one in left if one.exists()] == []


def test_a_step_that_fails_leaves_what_was_before_it(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")
    failing = msgspec.structs.replace(
        V3, migrations=(TO_2, Migration(3, (*TO_3.statements, "INSERT INTO items SELECT * FROM nowhere")))
    )

    with pytest.raises(
        StoreUnusable, match=r"can't be migrated to schema 3: .*nowhere; it is as it was after"
    ):
        migrated(path, failing)

    database = Database.open_to_read(path, schema=V2)
    assert database.shape() == shape_of(V2)
    assert database.rows("SELECT * FROM items ORDER BY id") == [(1, "pear", 4), (2, "fig", 3), (3, "fig", 3)]
    database.close()


def test_a_migration_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")
    migrated(path, V2).close()
    database = migrated(path, V3)

    assert database.rows("SELECT * FROM totals ORDER BY name") == TOTALS_AT_3
    assert [copy.name.split(".")[2] for copy in copies(path)] == ["schema-1", "schema-2"]
    database.close()


def test_without_a_copy_nothing_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old(tmp_path / "latchd.db")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(Path, "rename", full)

    with pytest.raises(
        StoreUnusable, match="can't be copied before it is migrated, and is as it was: no space"
    ):
        migrated(path, V3)

    database = Database.open_to_read(path, schema=V1)
    assert database.rows("SELECT * FROM items ORDER BY id") == ROWS
    assert copies(path) == []
    database.close()


def test_a_schema_older_than_any_path_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")

    with pytest.raises(StoreUnusable, match="has schema 1: nothing leads to schema 2"):
        migrated(path, msgspec.structs.replace(V3, migrations=(TO_3,)))

    assert copies(path) == []


def test_the_path_is_every_step_between_and_no_other() -> None:
    assert V3.path_from(1) == (TO_2, TO_3)
    assert V3.path_from(2) == (TO_3,)
    assert V3.path_from(3) == ()
    with pytest.raises(NoPath):
        V1.path_from(0)


def test_a_reader_of_an_older_schema_is_told_to_start_the_daemon(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")

    with pytest.raises(StoreUnusable, match=r"has schema 1, this latchd works with 3; starting the daemon"):
        Database.open_to_read(path, schema=V3)


def test_a_database_whose_tables_are_not_those_of_its_schema_is_moved_aside(tmp_path: Path) -> None:
    path = old(tmp_path / "latchd.db")
    database = migrated(path, V3)
    database.run("DROP TABLE totals")
    database.close()

    again = migrated(path, V3)

    assert again.moved_aside == f"{path}.corrupt-1"
    assert again.rows("SELECT * FROM items") == []
    again.close()
