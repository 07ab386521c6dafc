"""Wall times of many runs, as three figures: what was possible, what is usual, what hurts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import msgspec


class Times(msgspec.Struct, frozen=True):
    """Wall times in milliseconds."""

    minimum: float
    median: float
    p99: float
    mean: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Times:
        """The figures of at least one time."""
        ordered = sorted(1000 * one for one in seconds)
        p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
        return cls(ordered[0], statistics.median(ordered), p99, statistics.fmean(ordered))


def timed(count: int, step: Callable[[int], object]) -> list[float]:
    """Seconds of each of ``count`` steps, which get their number."""
    seconds: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        step(number)
        seconds.append(time.perf_counter() - start)
    return seconds
