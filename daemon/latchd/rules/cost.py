"""What judging by rules costs: how many are asked about a command, and how long that takes.

The clock is the caller's. ``python -m latchd.rules.cost FILE.jsonl`` prints it for rows with a `command`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from latchd.guard.manifest import PARTICIPANTS
from latchd.guard.subject import Subject
from latchd.guard.work import Work
from latchd.offline import RowError, subject_of
from latchd.policy import Policy


class Cost(msgspec.Struct, frozen=True):
    """Of ``commands`` judged each by itself: rules asked, and microseconds spent in them.

    The time is the better of two runs, without making the facts; nothing of the walk's verdict is in it.
    """

    commands: int
    rules_p50: int
    rules_p99: int
    rules_most: int
    us_p50: float
    us_p99: float
    us_most: float


def cost(commands: Iterable[str], clock_ns: Callable[[], int]) -> Cost:
    """Measure the release's rules on these commands; at least one must be judged."""
    counts: list[int] = []
    times: list[int] = []
    for command in commands:
        try:
            made = subject_of({"command": command}, Policy())
        except RowError:
            continue
        runs = [_run(msgspec.structs.replace(made, work=Work()), clock_ns) for _ in range(2)]
        counts.append(runs[0][0])
        times.append(min(took for _, took in runs))
    counts.sort()
    times.sort()
    return Cost(
        len(counts),
        counts[len(counts) // 2],
        counts[len(counts) * 99 // 100],
        counts[-1],
        times[len(times) // 2] / 1000,
        times[len(times) * 99 // 100] / 1000,
        times[-1] / 1000,
    )


def _run(subject: Subject, clock_ns: Callable[[], int]) -> tuple[int, int]:
    begun = clock_ns()
    for participant in PARTICIPANTS:
        participant.decide(subject)
    took = clock_ns() - begun
    return subject.work.rules, took


def main(path: str) -> None:
    lines = Path(path).read_text("utf-8").splitlines()
    rows = (json.loads(line) for line in lines if line.strip())
    found = cost(
        (row["command"] for row in rows if isinstance(row.get("command"), str)), time.perf_counter_ns
    )
    print(json.dumps(msgspec.to_builtins(found)))


if __name__ == "__main__":
    main(sys.argv[1])
