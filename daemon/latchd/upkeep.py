"""What the passing of time does to the state: windows end, bounds are kept. It changes no decision."""

from __future__ import annotations

from typing import Final

from latch_contracts.records import Record
from latchd.clock import Clock
from latchd.logbook import Logbook
from latchd.settling import Results
from latchd.store.bounds import Bounds
from latchd.store.errors import StoreError
from latchd.store.store import Store
from latchd.windows import Instant, remaining_ms

_SWEEP_MS: Final = 60_000  # how often bounds are enforced when nothing else wakes the scheduler
_BACKLOG_MS: Final = 100  # and how often while more is over them than one batch takes


class Upkeep:
    def __init__(self, store: Store, log: Logbook, clock: Clock) -> None:
        self._store = store
        self._log = log
        self._clock = clock
        self._swept_ms = clock.wall_ms()
        self._every_ms = _SWEEP_MS
        # No pending call is older than this; None = nothing is pending. A lower bound is enough: the
        # scheduler comes early once, and looks again.
        self._oldest = self._oldest_pending()

    def opened(self, at: Instant) -> None:
        """A call is pending since then."""
        if self._oldest is None:
            self._oldest = at

    def expire(self, results: Results, bounds: Bounds, now: Instant) -> list[Record]:
        """Expire what is over its window and prune what is over its bound."""
        records: list[Record] = []
        try:
            records += self._log.catch_up()
            records += results.expire(now)
            self._oldest = self._oldest_pending()
            self._sweep(bounds)
        except StoreError as error:
            self._log.failed("the last sweep", error)
        return records

    def next_deadline_ms(self, window_ms: int, now: Instant) -> int:
        """Milliseconds until ``expire`` has something to do, at most until the next sweep."""
        if self._oldest is None:
            return self._every_ms
        return min(self._every_ms, remaining_ms(self._oldest, now, window_ms))

    def _sweep(self, bounds: Bounds) -> None:
        wall_ms = self._clock.wall_ms()
        if 0 <= wall_ms - self._swept_ms < self._every_ms:
            return
        self._swept_ms = wall_ms
        with self._store.database.transaction():
            more = self._store.prune(bounds, wall_ms)
        self._every_ms = _BACKLOG_MS if more else _SWEEP_MS

    def _oldest_pending(self) -> Instant | None:
        rows = self._store.pending(1)
        return rows[0].opened if rows else None
