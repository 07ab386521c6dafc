"""The rim of the two sockets: accept, know the peer, read, ask the engine, write. Nothing is decided here.

One client can cost another nothing but its turn: every connection has its deadlines, and whatever
goes wrong in one ends that one alone.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, assert_never

import msgspec
import trio

from latch_contracts.wire import (
    VERSION,
    Allow,
    Answer,
    EventSide,
    Fault,
    HookRequest,
    Sessions,
    Show,
    ShowSession,
    Status,
    StatusRequest,
    Watch,
)
from latchd import peers
from latchd.bell import Bell
from latchd.engine_port import Engine
from latchd.faultbook import Faultbook
from latchd.hub import Hub
from latchd.policy import fingerprint
from latchd.reception import Reception
from latchd.session import Refusal, Session, event_session, hook_session
from latchd.streaming import Reader, stream_records

# Over this many hooks at once the next one waits in the kernel's queue, under its own deadline.
MAX_HOOKS: Final = 256
# A reader stays as long as it likes, so the next one is told at once. Short questions have places of
# their own beside them; without a bound here the event socket could use up the hooks' descriptors.
MAX_READERS: Final = 64
MAX_QUESTIONS: Final = 64
MAX_SESSIONS: Final = 1000
# Over this many bytes of payload a decision can take tens of milliseconds, so such ones are taken one
# at a time, and others between two of them.
HEAVY_BYTES: Final = 1 << 16


class About(msgspec.Struct, frozen=True):
    """What this process is, for Status."""

    latchd: str
    pid: int
    started_ms: int


class Server:
    """Handles connections. ``complain`` logs an error of ours; ``peer_uid`` asks the kernel who is there."""

    def __init__(
        self,
        engine: Engine,
        hub: Hub,
        about: About,
        complain: Callable[[Exception], Awaitable[None]],
        *,
        peer_uid: Callable[[trio.SocketStream], int] = peers.uid_of,
    ) -> None:
        self._engine = engine
        self._hub = hub
        self._about = about
        self._complain = complain
        self._peer_uid = peer_uid
        self._own_uid = os.getuid()
        self._hooks = trio.Semaphore(MAX_HOOKS)
        self._others = trio.Semaphore(MAX_READERS + MAX_QUESTIONS)
        self._heavy = trio.Lock()
        self._readers: set[Reader] = set()
        self._draining = False
        self.counters: Counter[str] = Counter()
        self._faultbook = Faultbook(engine, hub.publish, self.counters)
        self._fault = self._faultbook.enter
        self._reception = Reception(self._fault, self.counters)

    def hook_listener(self, listener: socket.socket) -> peers.Slotted:
        """Accepts no more than MAX_HOOKS connections at once; over that, who only waits makes room."""
        hooks = trio.SocketListener(trio.socket.from_stdlib_socket(listener))
        return peers.Slotted(hooks, self._hooks, self._reception.make_room)

    def events_listener(self, listener: socket.socket) -> peers.Slotted:
        """Accepts no more than MAX_READERS and MAX_QUESTIONS connections together."""
        return peers.Slotted(trio.SocketListener(trio.socket.from_stdlib_socket(listener)), self._others)

    def drain(self) -> None:
        """End streams and connections at rest now; those with a request under way finish it."""
        self._draining = True
        self._reception.drain()
        for reader in self._readers:
            reader.end()

    async def tell_of_faults(self) -> None:
        """Until cancelled: at the end of a minute that had too many faults, and at the end, say how many."""
        await self._faultbook.tell_of_the_rest()

    async def hook(self, stream: trio.SocketStream) -> None:
        """Serve one connection of the hook socket to its end."""
        try:
            await self._guarded(stream, self._serve_hook)
        finally:
            self._hooks.release()

    async def events(self, stream: trio.SocketStream) -> None:
        """Serve one connection of the event socket to its end."""
        try:
            await self._guarded(stream, self._serve_events)
        finally:
            self._others.release()

    def status(self) -> Status:
        engine = self._engine
        return Status(
            version=VERSION,
            latchd=self._about.latchd,
            pid=self._about.pid,
            started_ms=self._about.started_ms,
            health=engine.health_word,
            notes=list(engine.degraded.values()),
            profile=engine.policy.profile.value,
            policy=fingerprint(engine.policy).hex()[:16],
            counters={**engine.counters, **self.counters, "readers": len(self._readers)},
            rules=engine.rules.fingerprint.hex()[:16],
        )

    async def _guarded(
        self, stream: trio.SocketStream, serve: Callable[[trio.SocketStream], Awaitable[None]]
    ) -> None:
        self.counters["connections"] += 1
        try:
            uid = self._peer_uid(stream)
            if why := peers.refusal(uid, self._own_uid):
                self._fault(Refusal("foreign-peer", why))
                return
            await serve(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.counters["peers_gone"] += 1
        except Exception as error:
            self._fault(Refusal("internal", type(error).__name__))
            await self._complain(error)
        finally:
            stream.socket.close()  # without a checkpoint: trio's own handler makes one of its own

    async def _serve_hook(self, stream: trio.SocketStream) -> None:
        session = hook_session()
        while (request := await self._reception.hook_request(stream, session)) is not None:
            match request:
                case HookRequest():
                    answer: Answer = await self._judge(request)
                case Allow():
                    answer = self._allow(request)
                case StatusRequest():
                    answer = self.status()
                case _:
                    assert_never(request)
            if not await self._reception.write(stream, session.answer(answer)):
                return

    async def _judge(self, request: HookRequest) -> Answer:
        if len(request.payload) <= HEAVY_BYTES:
            return await self._judged(request)
        async with self._heavy:
            await trio.lowlevel.checkpoint()  # whoever came meanwhile goes first
            return await self._judged(request)

    async def _judged(self, request: HookRequest) -> Answer:
        try:
            handled = self._engine.handle(request)
        except Exception as error:  # the engine answers everything; this is a fault of its own code
            self._fault(Refusal("internal", type(error).__name__))
            await self._complain(error)
            return Fault(VERSION, "internal", "latchd failed on this request; its log says where")
        # Published before the reply is written, so that two connections can't publish out of order.
        # It delays nobody: it only fills queues, and their readers run after the reply's first write.
        self._hub.publish(handled.records)
        return handled.reply

    def _allow(self, request: Allow) -> Answer:
        leave = self._engine.allow(request)
        self._hub.publish(leave.records)
        if leave.answer.record is None:
            self._fault(Refusal("allow-refused", leave.answer.why))
        return leave.answer

    async def _serve_events(self, stream: trio.SocketStream) -> None:
        session = event_session()
        while (request := await self._reception.request(stream, session)) is not None:
            match request:
                case Watch():
                    await self._stream(stream, session, request)
                    return
                case Show():
                    answer: Answer = self._show(request)
                case Sessions():
                    answer = self._engine.sessions(max(1, min(request.limit, MAX_SESSIONS)))
                case ShowSession():
                    answer = self._engine.session(request.session, request.limit)
                case StatusRequest():
                    answer = self.status()
                case _:
                    assert_never(request)
            if not await self._reception.write(stream, session.answer(answer)):
                return

    def _show(self, request: Show) -> Answer:
        view = self._engine.show(request.call_id)
        if not request.codes:
            return view
        return msgspec.structs.replace(view, records=self._engine.with_codes(view.records))

    async def _stream(self, stream: trio.SocketStream, session: Session[EventSide], watch: Watch) -> None:
        if len(self._readers) >= MAX_READERS:
            full = Fault(VERSION, "full", f"{MAX_READERS} readers are connected already")
            await self._reception.write(stream, session.end(full))
            return
        reader = Reader(stream, session, Bell())
        self._readers.add(reader)
        if self._draining:
            reader.end()
        try:
            if refusal := await stream_records(reader, watch, self._engine, self._hub):
                self._fault(refusal)
        finally:
            self._readers.discard(reader)
