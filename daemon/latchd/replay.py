"""What a watcher gets of the past: stored records in pages, with a gap where some are gone.

Each page is one short visit to the store; whoever sends them waits between two, so a long history
costs the hooks no more than a page at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from latch_contracts.records import GapRecord, Record
from latch_contracts.wire import Watch
from latchd.hub import Filter

PAGE: Final = 256  # about 1 ms to read and decode
_LAST: Final = 2**63 - 1  # the largest sequence that SQLite can be asked about


class Stored(Protocol):
    def records_after(self, seq: int, limit: int) -> list[Record]: ...

    def newest_seq(self) -> int: ...


class Replay:
    """The past of one watch. ``cursor`` is the last sequence that ``pages`` has come to."""

    def __init__(self, stored: Stored, watch: Watch) -> None:
        self._stored = stored
        self._watch = watch
        self._wanted = Filter.of(watch)
        self.cursor: int = stored.newest_seq() if watch.cursor < 0 else min(watch.cursor, _LAST)

    def pages(self) -> Iterator[list[Record]]:
        """What the watch asks for, oldest first; pages may be empty.

        When it ends and nothing is awaited before subscribing, the live records follow without a
        gap and without one twice: nothing is written between two awaits.
        """
        if self._watch.cursor < 0:
            return
        if not self._watch.follow and self._watch.limit > 0:
            yield from self._skip_to_newest(self._watch.limit)
        end = None if self._watch.follow else self._stored.newest_seq()
        while end is None or self.cursor < end:
            page = self._stored.records_after(self.cursor, PAGE)
            if not page:
                return
            if end is not None:
                page = [record for record in page if record.seq <= end]
            wanted = [record for record in page if self._wanted.takes(record)]
            if page and 0 < self.cursor < page[0].seq - 1:  # who begins at 0 asks for what there is
                wanted.insert(0, _pruned(self.cursor + 1, page[0]))
            self.cursor = page[-1].seq if page else max(self.cursor, end or 0)
            yield wanted

    def _skip_to_newest(self, limit: int) -> Iterator[list[Record]]:
        """Move the cursor before the newest ``limit`` that match, looking from the end backwards.

        They are only counted here and read again to be sent: a history must not be held in memory.
        """
        high = self._stored.newest_seq()
        while high > self.cursor:
            low = max(self.cursor, high - PAGE)
            page = [record for record in self._stored.records_after(low, PAGE) if record.seq <= high]
            wanted = [record.seq for record in page if self._wanted.takes(record)]
            if len(wanted) >= limit:
                self.cursor = wanted[-limit] - 1
                return
            limit -= len(wanted)
            high = low
            yield []


def _pruned(first: int, following: Record) -> Record:
    return GapRecord(
        at_ms=following.at_ms,
        what="pruned",
        from_seq=first,
        to_seq=following.seq - 1,
        count=following.seq - first,
        detail="records past their age or size were removed",
    )
