"""What goes wrong at the rim, as records: one by one while it is rare, as a number when it is not.

Garbage is recorded, but a peer that sends it all day must not push real records out of a bounded table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import trio

from latch_contracts.records import Record
from latchd.bell import Bell
from latchd.engine_port import Engine
from latchd.session import Refusal

FAULTS_PER_MINUTE: Final = 60
_MINUTE: Final = 60.0


class Faultbook:
    """``publish`` gets every record that is written; ``counters`` counts every fault, recorded or not."""

    def __init__(
        self, engine: Engine, publish: Callable[[list[Record]], None], counters: Counter[str]
    ) -> None:
        self._engine = engine
        self._publish = publish
        self._counters = counters
        self._left = FAULTS_PER_MINUTE
        self._until = trio.current_time()
        self._unrecorded = Bell()

    def enter(self, refusal: Refusal) -> None:
        self._counters[f"refused_{refusal.code}"] += 1
        if trio.current_time() >= self._until:
            self._next_minute()
        self._left -= 1
        if self._left >= 0:
            self._publish(self._engine.fault(refusal.code, refusal.detail))
        else:
            self._unrecorded.ring()

    async def tell_of_the_rest(self) -> None:
        """Until cancelled: at the end of a minute that had too many faults, and at the end, say how many."""
        try:
            while True:
                await self._unrecorded.wait()
                await trio.sleep_until(self._until)
                self._next_minute()
        finally:
            self._next_minute()

    def _next_minute(self) -> None:
        unrecorded = -min(self._left, 0)
        self._left = FAULTS_PER_MINUTE
        self._until = trio.current_time() + _MINUTE
        if unrecorded:
            detail = "more faults came in a minute than are recorded one by one"
            self._publish(self._engine.gap("faults", count=unrecorded, detail=detail))
