"""The measure of what rules cost."""

from __future__ import annotations

from itertools import count

from latchd.rules.cost import Cost, cost


def test_each_command_is_counted_and_timed_by_the_callers_clock() -> None:
    ticks = count(0, 1000)

    assert cost(["cat a", "cat b"], lambda: next(ticks)) == Cost(2, 1, 1, 1, 1.0, 1.0, 1.0)
