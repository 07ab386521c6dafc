"""How much one participant may work on one call: past that it is stopped, and the walk refuses in its name.

The measure is the caller's. The daemon gives its own thread's computing time, so that a machine that is
busy with other things costs nobody a refusal; whoever gives none sets no limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# Microseconds. An agent waits two seconds for the whole answer; the worst text known takes a tenth of this.
LIMIT_US: Final = 1_000_000


class Overrun(Exception):
    """A participant has worked for longer than it may."""


class Pace:
    """Of one call. ``worked`` tells microseconds of work, from any origin."""

    __slots__ = ("_end", "_worked")

    def __init__(self, worked: Callable[[], int] = int) -> None:
        self._worked = worked
        self._end = LIMIT_US

    def begin(self) -> None:
        """The next participant's turn."""
        self._end = self._worked() + LIMIT_US

    def check(self) -> None:
        """Raises Overrun when its time is over. Asked between rules: one rule can't be stopped."""
        if self._worked() > self._end:
            raise Overrun
