"""Who watches: a bounded queue per subscriber, filled without waiting for anyone.

Pure: publishing is appending, and the rim is told by a call that there is something to take. A
subscriber that does not keep up loses records, is told which, and costs nobody else anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol

import msgspec

from latch_contracts.records import GapRecord, Record, VerdictRecord
from latch_contracts.wire import Watch

CAPACITY: Final = 1024  # a burst of a second at full speed; about 2 MiB when every record is large


class Wanted(Protocol):
    """What a subscriber wants to have."""

    def takes(self, record: Record) -> bool: ...


class Filter(msgspec.Struct, frozen=True):
    """What a subscriber wants. Empty sets take everything; ``actions`` takes verdicts alone."""

    kinds: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()

    @classmethod
    def of(cls, watch: Watch) -> Filter:
        return cls(frozenset(watch.kinds), frozenset(watch.connectors), frozenset(watch.actions))

    def takes(self, record: Record) -> bool:
        if self.kinds and record.__struct_config__.tag not in self.kinds:
            return False
        if self.connectors and record.connector not in self.connectors:
            return False
        return not self.actions or (isinstance(record, VerdictRecord) and record.action in self.actions)


class Subscription:
    """One subscriber's queue. ``wake`` is called when it stops being empty; it must not wait."""

    def __init__(self, wanted: Wanted, wake: Callable[[], None], capacity: int) -> None:
        self._wanted = wanted
        self._wake = wake
        self._capacity = capacity
        self._queue: deque[Record] = deque()
        self._dropped: list[Record] = []  # the first and the last of them
        self._dropped_count = 0
        self.lost = 0

    def offer(self, record: Record) -> None:
        if not self._wanted.takes(record):
            return
        # Once one is lost all are until the queue is empty: one gap in one place, and order kept.
        if self._dropped_count or len(self._queue) >= self._capacity:
            self._dropped[1:] = [record]
            self._dropped_count += 1
            self.lost += 1
            return
        self._queue.append(record)
        if len(self._queue) == 1:
            self._wake()

    def take(self, limit: int) -> list[Record]:
        """Up to ``limit`` records, oldest first; the gap stands where the lost ones would have."""
        taken = [self._queue.popleft() for _ in range(min(limit, len(self._queue)))]
        if self._dropped_count and not self._queue:
            first, last = self._dropped[0], self._dropped[-1]
            taken.append(
                GapRecord(
                    at_ms=last.at_ms,
                    what="subscriber",
                    from_seq=first.seq,
                    to_seq=last.seq,
                    count=self._dropped_count,
                    detail="this reader was too slow",
                )
            )
            self._dropped.clear()
            self._dropped_count = 0
        return taken


class Hub:
    """Everyone who watches. Records must be published in the order of their sequence."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._subscriptions: dict[int, Subscription] = {}

    def __len__(self) -> int:
        return len(self._subscriptions)

    def subscribe(
        self, wanted: Wanted, wake: Callable[[], None], *, capacity: int | None = None
    ) -> Subscription:
        subscription = Subscription(wanted, wake, capacity or self._capacity)
        self._subscriptions[id(subscription)] = subscription
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.pop(id(subscription), None)

    def publish(self, records: Iterable[Record]) -> None:
        """Append to every queue; never waits, never raises for a subscriber's sake."""
        for record in records:
            for subscription in self._subscriptions.values():
                subscription.offer(record)
