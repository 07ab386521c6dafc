"""Requests as they come in, each within its time and its room. What they ask for is nothing of this.

A connection that says nothing holds a place that another may want, so who waits longest goes first when
places are short; and requests that fill the memory are taken a few at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
import trio

from latch_contracts.wire import EventSide, HookSide
from latchd.session import Refusal, Session

# A hook sends at once and an agent waits for it two seconds, so whoever is slower is no hook.
READ_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 10.0
# When all places are taken and somebody waits at the door: how long after it came a connection may
# have sent nothing, and how long not yet all. A hook sends in the same breath it connects in.
SILENT_SECONDS: Final = 0.1
UNFINISHED_SECONDS: Final = 0.5
# Requests of this size are rare, and without a bound as many as there are places would fill the memory.
LARGE_BYTES: Final = 1 << 20
MAX_LARGE: Final = 16
_CHUNK: Final = 1 << 16


class Waiter(msgspec.Struct, frozen=True, eq=False):
    """A connection of the hook socket whose request is not here yet. Times are trio's, in seconds."""

    patience: trio.CancelScope
    session: Session[Any]
    since: float
    fresh: bool

    @property
    def may_wait_until(self) -> float:
        """When it has to make room for others."""
        if not self.session.is_between_requests:
            return self.since + UNFINISHED_SECONDS
        return self.since + (SILENT_SECONDS if self.fresh else 0)  # one that was answered may come again


R = TypeVar("R", bound=HookSide | EventSide)


class Reception:
    """Receives for all connections of both sockets; ``fault`` is told what a peer did wrong."""

    def __init__(self, fault: Callable[[Refusal], None], counters: Counter[str]) -> None:
        self._fault = fault
        self._counters = counters
        self._large = trio.Semaphore(MAX_LARGE)
        self._waiters: set[Waiter] = set()
        self._resting: set[trio.CancelScope] = set()
        self._draining = False

    def drain(self) -> None:
        """End connections at rest now; one with a request under way may finish it."""
        self._draining = True
        for scope in self._resting:
            scope.cancel()

    def make_room(self) -> None:
        """Let go of the one that has kept others waiting longest, as soon as that is fair."""
        if self._waiters:
            waiter = min(self._waiters, key=lambda one: one.may_wait_until)
            waiter.patience.deadline = min(waiter.patience.deadline, waiter.may_wait_until)
            self._counters["hurried"] += 1

    async def hook_request(self, stream: trio.SocketStream, session: Session[HookSide]) -> HookSide | None:
        """The next request of a connection that can be told to make room."""
        patience = _patience()
        waiter = Waiter(patience, session, trio.current_time(), fresh=not session.has_answered)
        self._waiters.add(waiter)
        try:
            return await self._request(stream, session, patience)
        finally:
            self._waiters.discard(waiter)

    async def request(self, stream: trio.SocketStream, session: Session[R]) -> R | None:
        """The next request, or None when there will be none: the connection is to be closed."""
        return await self._request(stream, session, _patience())

    async def _request(
        self, stream: trio.SocketStream, session: Session[R], patience: trio.CancelScope
    ) -> R | None:
        # One scope and no more: each costs a hook as much as the decoding of its request.
        fresh = not session.has_answered
        is_large = False
        try:
            with patience:
                while (found := session.next()) is None:
                    if session.is_between_requests and not fresh:
                        if self._draining:
                            return None
                        self._resting.add(patience)
                    try:
                        data = await stream.receive_some(_CHUNK)
                    finally:
                        self._resting.discard(patience)
                    if not data:
                        break
                    session.receive(data)
                    if not is_large and session.announced > LARGE_BYTES:
                        await self._large.acquire()
                        is_large = True
                if isinstance(found, Refusal):
                    self._fault(found)
                    if found.farewell:
                        await self.write(stream, found.farewell)
                    return None
                if found is not None:
                    return found
        finally:
            if is_large:
                self._large.release()
        if cut := session.gone():
            self._fault(cut)
        return None

    async def write(self, stream: trio.SocketStream, frame: bytes) -> bool:
        """Whether the peer took it in time."""
        with trio.move_on_after(WRITE_SECONDS):
            await stream.send_all(frame)
            return True
        self._fault(Refusal("slow-peer", "a peer did not read its answer"))
        return False


def _patience() -> trio.CancelScope:
    return trio.CancelScope(deadline=trio.current_time() + READ_SECONDS)
