"""Files that were cut, flipped, mixed up or taken away: no crash, no promotion, and a word about it.

Positions are random and seeded: a failure names the one it met.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from engine_bench import Bench
from latch_contracts.records import Record
from latchd.store.database import Database
from latchd.store.errors import StoreError, StoreUnusable
from latchd.store.store import Store

CALLS = 60  # enough rows that tables and indexes have inner pages
UNWRITABLE = b"[floor.record-unwritable]"
LONG = "echo " + "x" * 300


def worked(root: Path) -> Bench:
    """A bench with a history: c0 proven, c1 denied, c2 failed, and more of the same."""
    bench = Bench(root)
    for number in range(0, CALLS, 3):
        bench.pre(LONG, f"c{number}")
        bench.post(LONG, f"c{number}")
        bench.pre("rm -rf ~", f"c{number + 1}")
        bench.pre("make test", f"c{number + 2}")
        bench.fail("make test", f"c{number + 2}")
    return bench


def again(before: Path, root: Path) -> Path:
    """The same state at the same path as ever: paths are part of what is compared."""
    if root.exists():
        shutil.rmtree(root)
    shutil.copytree(before, root)
    return root


def use(bench: Bench) -> list[str]:
    """Everything that reads and writes, on a store that may be damaged; what went wrong."""
    wrong: list[str] = []
    # A history that ends earlier may end before a failure was told: then a success is one.
    may_yet = {number for number in range(2, CALLS, 3) if states_of(bench, number) == [("pending", False)]}
    for number in range(1, CALLS, 7):
        bench.post("rm -rf ~" if number % 3 == 1 else "make test", f"c{number}")
    bench.engine.expire()
    bench.engine.sessions(0)
    seen = [record.seq for record in bench.engine.records_after(0, 9999)]
    if seen != sorted(set(seen)):
        wrong.append(f"records out of order: {seen}")
    reply = bench.pre("git log", "new").reply
    if UNWRITABLE in reply.stderr:
        if bench.engine.health_word != "degraded":
            wrong.append("a call was refused for want of a record, and health is fine")
        bench.engine.verify()
        reply = bench.pre("git log", "newer").reply
    if reply.exit_code != 0:
        wrong.append(f"the next call is refused: {reply.stderr.decode()}")
    for number in range(CALLS):
        if number % 3 and number not in may_yet and any(step for _, step in states_of(bench, number)):
            wrong.append(f"c{number} was promoted")
    return wrong


def states_of(bench: Bench, number: int) -> list[tuple[str, bool]]:
    try:
        return bench.states(f"c{number}")
    except StoreError:  # told to whoever asked; the rest goes on
        return []


@pytest.mark.slow
def test_a_flipped_bit_anywhere_is_met_without_a_crash_or_a_promotion(tmp_path: Path) -> None:
    bench = worked(tmp_path / "work")
    bench.engine.close()
    before = (tmp_path / "work").rename(tmp_path / "before")
    size = (before / "latchd.db").stat().st_size
    pages = size // 4096
    die = random.Random(20260101)  # noqa: S311 (nothing secret)
    # Each page once, where its structure is; and anywhere.
    places = [page * 4096 + die.randrange(12) for page in range(pages)]
    places += [die.randrange(size) for _ in range(pages)]
    wrong: list[str] = []
    refused = aside = 0
    for place in places:
        root = again(before, tmp_path / "work")
        flip(root / "latchd.db", place, die.randrange(8))
        try:
            bench = Bench(root)
        except StoreUnusable:
            refused += 1
            continue
        aside += "corrupt" in bench.engine.degraded
        wrong += [f"byte {place}: {one}" for one in use(bench)]
        bench.engine.close()

    print(f"{len(places)} flips: {refused} refused to start, {aside} moved aside")
    assert wrong == []
    assert aside > pages // 2  # a broken page is noticed; a flipped value in a sound one need not be


def flip(path: Path, place: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))


@pytest.mark.parametrize("how", ["cut", "flipped"])
def test_a_torn_log_ends_the_history_earlier_and_changes_none_of_it(tmp_path: Path, how: str) -> None:
    bench = worked(tmp_path / "work")
    history = bench.engine.records_after(0, 9999)
    shutil.copytree(tmp_path / "work", tmp_path / "before")  # as a crash leaves it: all of it in the log
    bench.engine.close()
    size = (tmp_path / "before" / "latchd.db-wal").stat().st_size
    die = random.Random(7)  # noqa: S311 (nothing secret)
    kept: list[int] = []
    for place in [die.randrange(size) for _ in range(30)]:
        root = again(tmp_path / "before", tmp_path / "work")
        log = root / "latchd.db-wal"
        if how == "cut":
            with log.open("r+b") as file:
                file.truncate(place)
        else:
            flip(log, place, 3)
        bench = Bench(root)
        left: list[Record] = bench.engine.records_after(0, 9999)

        assert left == history[: len(left)], place
        assert use(bench) == [], place
        kept.append(len(left))
        bench.engine.close()
    assert 0 < sorted(kept)[len(kept) // 2] < len(history)


@pytest.mark.parametrize("side", ["-wal", "-shm"])
def test_a_log_that_is_taken_away_is_missed_at_once_and_loses_nothing(tmp_path: Path, side: str) -> None:
    bench = worked(tmp_path)
    bench.pre("git status", "open")
    history = bench.engine.records_after(0, 9999)
    Path(f"{bench.places.database}{side}").unlink()
    refused = bench.pre("git status", "refused")
    told = bench.engine.verify()
    bench.post("git status", "open")

    assert UNWRITABLE in refused.reply.stderr
    assert bench.engine.degraded == {
        "database": "the database file had its log taken away; it was opened again, with all that it held"
    }
    assert bench.engine.records_after(0, 9999)[: len(history)] == history
    assert [type(one).__name__ for one in told] == ["HealthRecord", "GapRecord", "HealthRecord"]
    assert bench.states("open") == [("succeeded", True)]
    bench.engine.close()


def test_a_log_that_is_taken_away_while_it_is_down_ends_the_history_earlier(tmp_path: Path) -> None:
    bench = worked(tmp_path / "work")
    bench.engine.checkpoint()
    history = bench.engine.records_after(0, 9999)
    bench.pre("git status", "later")
    shutil.copytree(tmp_path / "work", tmp_path / "crashed")
    bench.engine.close()
    (tmp_path / "crashed" / "latchd.db-wal").unlink()
    bench = Bench(tmp_path / "crashed")

    assert bench.engine.records_after(0, 9999) == history
    assert use(bench) == []
    bench.engine.close()


def test_the_log_of_another_database_promotes_nothing(tmp_path: Path) -> None:
    """SQLite takes any log that is whole: what comes of it is noticed, or is that other database."""
    other = Bench(tmp_path / "other")
    other.pre("git status", "theirs")
    bench = worked(tmp_path / "work")
    bench.engine.close()
    shutil.copy(f"{other.places.database}-wal", tmp_path / "work" / "latchd.db-wal")
    bench = Bench(tmp_path / "work")

    assert use(bench) == []
    assert len(bench.states("theirs")) + len(bench.engine.degraded) == 0 or bench.engine.degraded
    bench.engine.close()
    other.engine.close()


def test_a_database_that_may_not_grow_refuses_until_it_may(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pre("git status", "open")
    store: Store = bench.engine._store  # pyright: ignore[reportPrivateUsage]
    (pages,) = store.database.row("PRAGMA page_count") or (0,)
    store.database.run(f"PRAGMA max_page_count = {pages}")
    full = [bench.pre(LONG, f"full-{number}").reply for number in range(40)]
    refused = sum(UNWRITABLE in reply.stderr for reply in full)
    ill = bench.engine.degraded["store"]
    store.database.run("PRAGMA max_page_count = 1000000")

    assert refused > 0
    assert ill == "recording the last event failed: database or disk is full"
    assert bench.pre("git log", "after").reply.exit_code == 0
    assert bench.engine.degraded == {}
    assert [len(bench.states(f"full-{number}")) for number in range(40)] == [
        int(UNWRITABLE not in reply.stderr) for reply in full
    ]
    bench.engine.close()


def test_a_database_of_zeros_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    path.write_bytes(bytes(16384))
    database = Database.open(path)

    assert database.moved_aside == f"{path}.corrupt-1"
    database.close()
