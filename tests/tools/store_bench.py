"""What one event's transaction costs at an empty store and at a full one, in turn. A tool, not a test.

``PYTHONPATH=tests python tests/tools/store_bench.py [STEPS] [EVENTS]``: the transactions of a proposal and of
a success as the engine makes them, BEGIN to COMMIT with ``synchronous = FULL``, and the whole engine call of
the proposal, judging and all; beside a bare transaction of one row. Microseconds of wall and processor time.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

from engine_bench import Bench
from latchd.store import log_room, sqlite
from latchd.store.database import Database

SESSIONS = 4000
COMMAND = "git status --short"
CHECKPOINT = 250  # events between two, about what a busy daemon makes of it

Times = dict[str, list[tuple[float, float]]]


def filled(root: Path, steps: int) -> Bench:
    """A bench whose database holds so many proven calls, as many to each session as it can hold."""
    bench = Bench(root)
    bench.pre(COMMAND, "first")
    bench.post(COMMAND, "first")
    bench.engine.close()
    database = Database.open(root / "latchd.db")
    (seq,) = database.row("SELECT max(seq) FROM records") or (0,)
    sessions = [os.urandom(32) for _ in range(SESSIONS)]
    call = (
        "INSERT INTO calls (opened_seq, session, call, agent, state, fingerprint, input, policy, action, "
        "boot, boot_ns, wall_ms, closed_seq) SELECT ?1, ?2, ?3, agent, state, fingerprint, input, policy, "
        "action, boot, boot_ns, wall_ms, ?4 FROM calls WHERE opened_seq = 1"
    )
    step = (
        "INSERT INTO steps (seq, session, call, policy, operations, boot, boot_ns, wall_ms) "
        "SELECT ?1, ?2, ?3, policy, operations, boot, boot_ns, wall_ms FROM steps LIMIT 1"
    )
    record = (
        "INSERT INTO records (seq, at_ms, kind, body) SELECT ?1, at_ms, kind, body FROM records WHERE seq = 1"
    )
    for start in range(0, steps, 5000):
        with database.transaction():
            for number in range(start, min(start + 5000, steps)):
                opened, name = seq + 1 + 2 * number, os.urandom(32)
                session = sessions[number % SESSIONS]
                database.run(call, (opened, session, name, opened + 1))
                database.run(step, (opened + 1, session, name))
    with database.transaction():
        database.run(record, (seq + 2 * steps + 2,))
    database.close()
    bench.engine = bench.open()
    return bench


def bare(database: Database) -> Callable[[int], None]:
    """One row in one transaction, with the same promises about the disk."""
    kept = "INSERT INTO records (seq, at_ms, kind, body) VALUES (?, 0, 'x', x'00')"

    def one(number: int) -> None:
        with database.transaction():
            database.run(kept, (number + 1,))

    return one


def watched(database: Database) -> list[tuple[float, float]]:
    """Where the times of this database's transactions go from now on: wall and processor."""
    times: list[tuple[float, float]] = []
    real = database.transaction

    @contextlib.contextmanager
    def timed() -> Generator[None]:
        wall, worked = time.perf_counter(), time.thread_time()
        with real():
            yield
        times.append((1e6 * (time.perf_counter() - wall), 1e6 * (time.thread_time() - worked)))

    setattr(database, "transaction", timed)  # noqa: B010 (a method of this one alone)
    return times


def ask(bench: Bench, act: Callable[[str, str], object], call: str) -> tuple[float, float]:
    wall, worked = time.perf_counter(), time.thread_time()
    act(COMMAND, call)
    return 1e6 * (time.perf_counter() - wall), 1e6 * (time.thread_time() - worked)


def measured(benches: dict[str, Bench], floor: Database, events: int) -> Times:
    """All of them in turn, so that the machine's moods meet all alike."""
    databases = {name: bench.store.database for name, bench in benches.items()}
    inside = {name: watched(database) for name, database in databases.items()}
    bottom, act = watched(floor), bare(floor)
    names = ("proposal", "success", "call of it")
    times: Times = {f"{what}, {where}": [] for what in names for where in benches}
    for database in (floor, *databases.values()):
        log_room.provide(database.path)  # as the daemon does
    for number in range(events):
        if number % CHECKPOINT == 0:
            for database in (floor, *databases.values()):
                sqlite.checkpoint(database.path)
        act(number)
        for where, bench in benches.items():
            times[f"call of it, {where}"].append(ask(bench, bench.pre, f"c{number}"))
            times[f"proposal, {where}"].append(inside[where][-1])
        for where, bench in benches.items():
            ask(bench, bench.post, f"c{number}")
            times[f"success, {where}"].append(inside[where][-1])
    return {"bare transaction": bottom} | times


def line(name: str, times: list[tuple[float, float]], floor: float) -> str:
    walls = sorted(wall for wall, _ in times)
    worked = sorted(one for _, one in times)
    middle = statistics.median(walls)
    return (
        f"{name:28}{walls[0]:8.0f}{middle:8.0f}{walls[len(walls) * 99 // 100]:8.0f}{middle / floor:8.2f}"
        f"{worked[0]:11.0f}{statistics.median(worked):8.0f}"
    )


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        full = f"{steps:,} steps"
        benches = {"empty": Bench(root / "empty"), full: filled(root / "full", steps)}
        floor = Database.open(root / "bare.db")
        times = measured(benches, floor, events)
        middles = {name: statistics.median(wall for wall, _ in found) for name, found in times.items()}
        print(f"{'µs, ' + str(events) + ' in turn':28}{'min':>8}{'p50':>8}{'p99':>8}{'/ bare':>8}", end="")
        print(f"{'cpu: min':>11}{'p50':>8}")
        for name, found in times.items():
            print(line(name, found, middles["bare transaction"]))
        for what in ("proposal", "success"):
            ratio = middles[f"{what}, {full}"] / middles[f"{what}, empty"]
            print(f"{what}, full / empty: {ratio:.2f} of medians (bar 1.3)")


if __name__ == "__main__":
    main()
