"""What the daemon does without being asked. None of it changes a decision: its absence is only untidy.

Four loops that wait for different things; an idle daemon wakes for its look-around alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from latch_contracts.places import Places
from latch_contracts.records import Record
from latchd import spool
from latchd.bell import Bell
from latchd.engine_port import Expiry
from latchd.hub import Filter, Hub
from latchd.notify import Notifier

LOOK_AROUND_SECONDS: Final = 10.0
# After the first record of a burst: long enough that a burst is one checkpoint, short enough that a
# log replayed at the next start is small.
CHECKPOINT_SECONDS: Final = 5.0
# A checkpoint beside a busy writer never gets to the end of the log, and the log never starts over.
# Above this size one is made between two events: what is left by then takes a millisecond or two, and
# it is won back at once, for commits into a log that grows cost twice as much.
LOG_BYTES: Final = 16 * 1024 * 1024
_LOOKS: Final = 5  # at the log's size in that time
_RETRY_SECONDS: Final = 1.0


class Scheduler:
    """Drives one engine. ``look_again`` when something may have brought the next deadline forward."""

    def __init__(self, engine: Expiry, hub: Hub, places: Places) -> None:
        self._engine = engine
        self._hub = hub
        self._places = places
        self._deadlines = Bell()
        self._checkpoint_fails = False

    def look_again(self) -> None:
        self._deadlines.ring()

    async def run(
        self, notifier: Notifier, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Until cancelled. Started once the spool of an earlier time has been read."""
        self._engine.make_room()
        self._publish(lambda: spool.collect(self._places.spool, self._engine))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.expire_when_due)
            await nursery.start(self.checkpoint_after_records)
            nursery.start_soon(self.look_around)
            nursery.start_soon(say_alive, notifier)
            task_status.started()

    async def expire_when_due(self) -> None:
        while True:
            left_ms = self._engine.next_deadline_ms()
            with trio.move_on_after(trio_seconds(left_ms)) as sleep:
                await self._deadlines.wait()
            if sleep.cancelled_caught and not self._publish(self._engine.expire) and left_ms == 0:
                await trio.sleep(_RETRY_SECONDS)  # overdue and yet nothing done: the store is busy

    async def checkpoint_after_records(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        bell = Bell()
        published = self._hub.subscribe(Filter(), bell.ring, capacity=1)
        task_status.started()
        try:
            while True:
                await bell.wait()
                for _ in range(_LOOKS):
                    await trio.sleep(CHECKPOINT_SECONDS / _LOOKS)
                    if self._engine.log_bytes > LOG_BYTES:
                        break
                published.take(1)
                await self._checkpoint()
        finally:
            self._hub.unsubscribe(published)

    async def look_around(self) -> None:
        while True:
            await trio.sleep(LOOK_AROUND_SECONDS)
            self._publish(self._engine.verify)
            self._publish(lambda: spool.collect(self._places.spool, self._engine))

    async def _checkpoint(self) -> None:
        try:
            await trio.to_thread.run_sync(self._engine.checkpoint)
            if self._engine.log_bytes > LOG_BYTES:
                self._engine.checkpoint()
            self._checkpoint_fails = False
        except Exception as error:  # of the store's own kind, which the rim does not know
            if not self._checkpoint_fails:  # the record leads to the next try, whose record …
                self._checkpoint_fails = True
                self._hub.publish(self._engine.fault("checkpoint", type(error).__name__))

    def _publish(self, work: Callable[[], list[Record]]) -> bool:
        """Do the work and publish what it wrote; whether it wrote anything."""
        try:
            records = work()
        except Exception as error:  # one that fails today must not end the daemon's other duties
            records = self._engine.fault("scheduler", type(error).__name__)
        self._hub.publish(records)
        return bool(records)


async def say_alive(notifier: Notifier) -> None:
    """Tell the watchdog that this very loop still turns, twice in its time."""
    while notifier.watchdog_seconds is not None:
        notifier.alive()
        await trio.sleep(notifier.watchdog_seconds / 2)


def trio_seconds(left_ms: int | None) -> float:
    return float("inf") if left_ms is None else left_ms / 1000
