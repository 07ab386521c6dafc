"""One watcher of the event socket: the past from the store, then what is published, until its end."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final, Protocol

import trio

from latch_contracts.records import Record
from latch_contracts.wire import VERSION, End, EventSide, Streamed, Watch
from latchd.bell import Bell
from latchd.hub import Filter, Hub
from latchd.replay import Replay, Stored
from latchd.session import Refusal, Session

# A reader that takes not one batch in this time is gone in all but name.
PROGRESS_SECONDS: Final = 30.0
_BATCH: Final = 64
_CHUNK: Final = 1 << 12


class Reader:
    """A connected watcher; ``end`` asks for a last word and an end, and returns at once."""

    def __init__(self, stream: trio.SocketStream, session: Session[EventSide], bell: Bell) -> None:
        self.stream = stream
        self.session = session
        self.bell = bell
        self.ending = False

    def end(self) -> None:
        self.ending = True
        self.bell.ring()


class Kept(Stored, Protocol):
    """What is stored, and the codes that are not."""

    def with_codes(self, records: Sequence[Record]) -> list[Record]: ...


async def stream_records(reader: Reader, watch: Watch, stored: Kept, hub: Hub) -> Refusal | None:
    """Send what the watch asks for. Returns when the stream is over; a Refusal tells of a reader's fault."""
    if isinstance(refusal := reader.session.next(), Refusal):  # it came together with the watch
        return refusal
    slow = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_with_the_peer, reader, nursery.cancel_scope)
        try:
            await _send_all(reader, watch, stored, hub)
        except trio.BrokenResourceError:
            pass  # it hung up; the session is told below
        except trio.TooSlowError:
            slow = True
        nursery.cancel_scope.cancel()
    # Only now, when nothing is sent any more, may the session close.
    refusal = reader.session.next()
    reader.session.gone()
    if slow:
        return Refusal("slow-reader", "a reader took nothing for too long")
    return refusal if isinstance(refusal, Refusal) else None


async def _send_all(reader: Reader, watch: Watch, stored: Kept, hub: Hub) -> None:
    def told(records: list[Record]) -> list[Record]:
        return stored.with_codes(records) if watch.codes else records

    replay = Replay(stored, watch)
    for page in replay.pages():
        if reader.ending:
            break
        await _send(reader, told(page))
    cursor = replay.cursor
    if watch.follow:
        # No await between the last page and this: see Replay.pages.
        subscription = hub.subscribe(Filter.of(watch), reader.bell.ring)
        try:
            while not reader.ending:
                await reader.bell.wait()
                while batch := subscription.take(_BATCH):
                    await _send(reader, told(batch))
                    cursor = max(cursor, *(record.seq for record in batch))
        finally:
            hub.unsubscribe(subscription)
    with trio.fail_after(PROGRESS_SECONDS):
        await reader.stream.send_all(reader.session.end(End(VERSION, cursor)))


async def _send(reader: Reader, records: Sequence[Record]) -> None:
    """One write for all of them; even for none, let others run."""
    if not records:
        await trio.lowlevel.checkpoint()
        return
    frames = b"".join(reader.session.record(Streamed(VERSION, record)) for record in records)
    with trio.fail_after(PROGRESS_SECONDS):
        await reader.stream.send_all(frames)


async def _end_with_the_peer(reader: Reader, scope: trio.CancelScope) -> None:
    """Cancel when the reader hangs up, or says something, which it has no right to."""
    with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        reader.session.receive(await reader.stream.receive_some(_CHUNK))
    scope.cancel()
