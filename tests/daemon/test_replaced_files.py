"""Files that are taken away, cut or exchanged under a working engine: missed at once, told, and got over."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_bench import Bench, only
from latch_contracts.records import FaultRecord, GapRecord, HealthRecord, VerdictRecord
from latchd.store.database import Database

UNWRITABLE = "floor.record-unwritable"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


def calls(bench: Bench) -> list[str]:
    records = bench.engine.records_after(0, 99)
    return [record.call for record in records if isinstance(record, VerdictRecord)]


def test_a_log_that_is_emptied_is_missed_at_once_and_what_it_held_is_told_as_lost(bench: Bench) -> None:
    bench.pre(call="kept")
    bench.engine.checkpoint()
    bench.pre(call="lost")
    os.truncate(f"{bench.places.database}-wal", 0)

    refused = bench.pre(call="refused").reply
    told = bench.engine.verify()
    bench.pre(call="after")

    assert UNWRITABLE in refused.stderr.decode()
    gap = next(one for one in told if isinstance(one, GapRecord))
    assert (gap.what, gap.from_seq, gap.to_seq) == ("lost", 2, 2)
    assert "had its log cut short" in bench.engine.degraded["database"]
    assert calls(bench) == ["kept", "after"]
    assert bench.engine.newest_seq() == len(told) + 3  # no sequence is given twice


@pytest.mark.parametrize(("left", "mixed"), [(0, True), (0.4, True), (0.99, False)])
def test_a_log_that_is_cut_before_what_was_moved_out_of_it_makes_no_mixture_of_moments(
    bench: Bench, left: float, mixed: bool
) -> None:
    database = Path(bench.places.database)
    bench.engine.checkpoint()
    for number in range(5):
        bench.pre(call=f"c{number}")
    reader = Database.open_to_read(database)
    with reader.snapshot():  # nothing behind it is moved
        reader.row("SELECT count(*) FROM records")
        for number in range(5, 10):
            bench.pre(call=f"c{number}")
        bench.engine.checkpoint()
        os.truncate(f"{database}-wal", int(left * bench.engine.log_bytes))
    reader.close()

    bench.engine.verify()

    assert database.with_name("latchd.db.corrupt-1").exists() is mixed
    assert calls(bench) == ([] if mixed else [f"c{number}" for number in range(9)])
    assert bench.pre(call="after").reply.exit_code == 0


def test_a_log_that_is_emptied_after_all_of_it_was_moved_is_no_loss(bench: Bench) -> None:
    for number in range(3):
        bench.pre(call=f"c{number}")
    bench.engine.checkpoint()
    os.truncate(f"{bench.places.database}-wal", 0)

    told = bench.engine.verify()

    assert [one for one in told if isinstance(one, GapRecord)] == []
    assert calls(bench) == ["c0", "c1", "c2"]


def test_a_log_that_another_program_moved_and_cut_is_no_loss(bench: Bench) -> None:
    bench.pre(call="c1")
    other = Database.open(Path(bench.places.database))
    other.run("PRAGMA wal_checkpoint(TRUNCATE)")

    bench.pre(call="c2")
    other.close()

    assert (calls(bench), bench.engine.degraded) == (["c1", "c2"], {})


def test_another_file_in_its_place_gets_nothing_of_its_log(bench: Bench) -> None:
    bench.pre(call="c1")
    path = Path(bench.places.database)
    other = path.with_name("other")
    other.write_bytes(b"no database" * 1000)
    other.replace(path)

    bench.engine.checkpoint()
    assert path.read_bytes() == b"no database" * 1000
    told = bench.engine.verify()
    bench.pre(call="c2")

    assert path.with_name("latchd.db.corrupt-1").read_bytes() == b"no database" * 1000
    health = next(one for one in told if isinstance(one, HealthRecord))
    assert (health.health, f"`{path}.corrupt-1`" in health.note) == ("degraded", True)
    assert calls(bench) == ["c2"]


def test_an_older_copy_in_its_place_is_taken_as_it_is(bench: Bench) -> None:
    bench.pre(call="old")
    bench.restart()
    path = Path(bench.places.database)
    bench.engine.close()
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    bench.engine = bench.open()
    bench.pre(call="new")
    copy.replace(path)

    told = bench.engine.verify()
    bench.pre(call="after")

    assert calls(bench) == ["old", "after"]
    assert [one.what for one in told if isinstance(one, GapRecord)] == ["lost"]


def test_a_key_file_that_is_gone_is_written_again(bench: Bench) -> None:
    path = Path(bench.places.key)
    content = path.read_bytes()
    path.unlink()

    told = bench.engine.verify()

    assert (told, path.read_bytes(), path.stat().st_mode & 0o777) == ([], content, 0o600)


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (b"", 0o600, "is not the one in use"),
        (b"x" * 32, 0o600, "is not the one"),
        (None, 0o644, "is open to"),
    ],
)
def test_a_key_file_that_is_another_is_left_alone_and_told_until_it_is_well(
    bench: Bench, content: bytes | None, mode: int, why: str
) -> None:
    path = Path(bench.places.key)
    right = path.read_bytes()
    if content is not None:
        path.write_bytes(content)
    path.chmod(mode)

    told = bench.engine.verify()
    again = bench.engine.verify()
    allowed = bench.pre().reply.exit_code
    left = path.read_bytes()
    path.write_bytes(right)
    path.chmod(0o600)
    well = bench.engine.verify()

    assert [(one.health, why in one.note) for one in told if isinstance(one, HealthRecord)] == [
        ("degraded", True)
    ]
    assert (again, allowed, left) == ([], 0, right if content is None else content)
    assert [one.health for one in well if isinstance(one, HealthRecord)] == ["ok"]
    assert bench.engine.degraded == {}


def test_a_new_key_beside_an_old_database_is_told(bench: Bench) -> None:
    bench.pre()
    bench.engine.close()
    Path(bench.places.key).unlink()
    bench.engine = bench.open()

    records = bench.engine.records_after(0, 9)
    assert [one.code for one in records if isinstance(one, FaultRecord)] == ["key-made"]


def test_a_clock_that_is_set_far_back_changes_no_order_and_loses_nothing(bench: Bench) -> None:
    bench.pre(call="c1")
    bench.clock.step_wall_ms(1 - bench.clock.wall_ms())
    record = only(bench.pre(call="c2"), VerdictRecord)
    bench.engine.expire()

    assert (record.seq, record.at_ms) == (2, 1)
    assert calls(bench) == ["c1", "c2"]
    assert bench.states("c1") == [("pending", False)]
