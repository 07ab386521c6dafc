"""What one event's transaction costs at an empty store and at a full one, in turn. A tool, not a test.

``PYTHONPATH=tests python tests/tools/store_bench.py [STEPS] [EVENTS]``: the whole engine call, judging and
all, with ``synchronous = FULL``, beside a bare transaction of one row. Microseconds.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engine_bench import Bench
from latchd.store.database import Database

SESSIONS = 4000
COMMAND = "git status --short"


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


def bare(root: Path) -> Callable[[int], None]:
    """One row in one transaction, with the same promises about the disk."""
    root.mkdir(parents=True, exist_ok=True)
    database = Database.open(root / "bare.db")
    kept = "INSERT INTO records (seq, at_ms, kind, body) VALUES (?, 0, 'x', x'00')"

    def one(number: int) -> None:
        with database.transaction():
            database.run(kept, (number + 1,))

    return one


def asking(bench: Bench) -> Callable[[int], object]:
    def one(number: int) -> object:
        return bench.pre(COMMAND, f"c{number}")

    return one


def timed(act: Callable[[int], object], number: int) -> float:
    start = time.perf_counter()
    act(number)
    return 1e6 * (time.perf_counter() - start)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        empty, full, floor = Bench(root / "empty"), filled(root / "full", steps), bare(root / "bare")
        times: dict[str, list[float]] = {
            "bare transaction": [],
            "event, empty": [],
            f"event, {steps:,} steps": [],
        }
        acts = (floor, asking(empty), asking(full))
        for number in range(events):  # in turn, so that the machine's moods meet all alike
            for name, act in zip(times, acts, strict=True):
                times[name].append(timed(act, number))
        for name, found in times.items():
            ordered = sorted(found)
            worst = ordered[len(ordered) * 99 // 100]
            print(f"{name:24} p50 {statistics.median(found):8.0f}   p99 {worst:8.0f}")
        medians = [statistics.median(found) for found in times.values()]
        print(f"full / empty: {medians[2] / medians[1]:.2f}")


if __name__ == "__main__":
    main()
