"""The rim of the two sockets: accept, know the peer, read, ask the engine, write. Nothing is decided here.

One client can cost another nothing but its turn: every connection has its deadlines, and whatever
goes wrong in one ends that one alone.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, assert_never

import msgspec
import trio

from latch_contracts.records import Record
from latch_contracts.wire import (
    VERSION,
    Allow,
    Answer,
    EventSide,
    Fault,
    HookRequest,
    HookSide,
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
from latchd.hub import Hub
from latchd.policy import fingerprint
from latchd.session import Refusal, Session, event_session, hook_session
from latchd.streaming import Reader, stream_records

# A hook sends at once and an agent waits for it two seconds, so whoever is slower is no hook.
READ_SECONDS: Final = 10.0
# When all places are taken and somebody waits at the door: how long after it came a connection may
# have sent nothing, and how long not yet all. A hook sends in the same breath it connects in.
SILENT_SECONDS: Final = 0.1
UNFINISHED_SECONDS: Final = 0.5
WRITE_SECONDS: Final = 10.0
# Over this many hooks at once the next one waits in the kernel's queue, under its own deadline.
MAX_HOOKS: Final = 256
# A reader stays as long as it likes, so the next one is told at once. Short questions have places of
# their own beside them; without a bound here the event socket could use up the hooks' descriptors.
MAX_READERS: Final = 64
MAX_QUESTIONS: Final = 64
MAX_SESSIONS: Final = 1000
# Garbage is recorded, but a peer that sends it all day must not push real records out of a bounded table.
FAULTS_PER_MINUTE: Final = 60
# Requests of this size are rare, and without a bound MAX_HOOKS of them would fill the machine's memory.
LARGE_BYTES: Final = 1 << 20
MAX_LARGE: Final = 16
# Over this many bytes of payload a decision can take tens of milliseconds, so such ones are taken one
# at a time, and others between two of them.
HEAVY_BYTES: Final = 1 << 16
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


class About(msgspec.Struct, frozen=True):
    """What this process is, for Status."""

    latchd: str
    pid: int
    started_ms: int


R = TypeVar("R", bound=HookSide | EventSide)


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
        self._hooks = trio.Semaphore(MAX_HOOKS)
        self._others = trio.Semaphore(MAX_READERS + MAX_QUESTIONS)
        self._large = trio.Semaphore(MAX_LARGE)
        self._heavy = trio.Lock()
        self._waiters: set[Waiter] = set()
        self._readers: set[Reader] = set()
        self._resting: set[trio.CancelScope] = set()
        self._draining = False
        self._faults_left = FAULTS_PER_MINUTE
        self._faults_until = trio.current_time()
        self._unrecorded = Bell()
        self.counters: Counter[str] = Counter()

    def hook_listener(self, listener: socket.socket) -> peers.Slotted:
        """Accepts no more than MAX_HOOKS connections at once; over that, who only waits makes room."""
        hooks = trio.SocketListener(trio.socket.from_stdlib_socket(listener))
        return peers.Slotted(hooks, self._hooks, self._make_room)

    def events_listener(self, listener: socket.socket) -> peers.Slotted:
        """Accepts no more than MAX_READERS and MAX_QUESTIONS connections together."""
        return peers.Slotted(trio.SocketListener(trio.socket.from_stdlib_socket(listener)), self._others)

    def drain(self) -> None:
        """End streams and connections at rest now; those with a request under way finish it."""
        self._draining = True
        for scope in self._resting:
            scope.cancel()
        for reader in self._readers:
            reader.end()

    async def tell_of_faults(self) -> None:
        """Until cancelled: at the end of a minute that had too many faults, and at the end, say how many."""
        try:
            while True:
                await self._unrecorded.wait()
                await trio.sleep_until(self._faults_until)
                self._next_minute()
        finally:
            self._next_minute()

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
        async with stream:
            try:
                uid = self._peer_uid(stream)
                if why := peers.refusal(uid, os.getuid()):
                    self._fault(Refusal("foreign-peer", why))
                    return
                await serve(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self.counters["peers_gone"] += 1
            except Exception as error:
                self._fault(Refusal("internal", type(error).__name__))
                await self._complain(error)

    async def _serve_hook(self, stream: trio.SocketStream) -> None:
        session = hook_session()
        while (request := await self._hook_request(stream, session)) is not None:
            match request:
                case StatusRequest():
                    answer: Answer = self.status()
                case Allow():
                    answer = self._allow(request)
                case HookRequest():
                    answer = await self._judge(request)
                case _:
                    assert_never(request)
            if not await self._write(stream, session.answer(answer)):
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
        while (request := await self._request(stream, session)) is not None:
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
            if not await self._write(stream, session.answer(answer)):
                return

    def _show(self, request: Show) -> Answer:
        view = self._engine.show(request.call_id)
        if not request.codes:
            return view
        return msgspec.structs.replace(view, records=self._engine.with_codes(view.records))

    async def _stream(self, stream: trio.SocketStream, session: Session[EventSide], watch: Watch) -> None:
        if len(self._readers) >= MAX_READERS:
            full = Fault(VERSION, "full", f"{MAX_READERS} readers are connected already")
            await self._write(stream, session.end(full))
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

    def _make_room(self) -> None:
        """Let go of the one that has kept others waiting longest, as soon as that is fair."""
        if self._waiters:
            waiter = min(self._waiters, key=lambda one: one.may_wait_until)
            waiter.patience.deadline = min(waiter.patience.deadline, waiter.may_wait_until)
            self.counters["hurried"] += 1

    async def _hook_request(self, stream: trio.SocketStream, session: Session[HookSide]) -> HookSide | None:
        """The next request of a connection that can be told to make room."""
        with trio.CancelScope() as patience:
            waiter = Waiter(patience, session, trio.current_time(), fresh=not session.has_answered)
            self._waiters.add(waiter)
            try:
                return await self._request(stream, session)
            finally:
                self._waiters.discard(waiter)
        if cut := session.gone():
            self._fault(cut)
        return None

    async def _request(self, stream: trio.SocketStream, session: Session[R]) -> R | None:
        """The next request, or None when there will be none: the connection is to be closed."""
        fresh = not session.has_answered
        async with contextlib.AsyncExitStack() as held:
            return await self._received(stream, session, held, fresh=fresh)

    async def _received(
        self,
        stream: trio.SocketStream,
        session: Session[R],
        held: contextlib.AsyncExitStack,
        *,
        fresh: bool,
    ) -> R | None:
        is_large = False
        with trio.move_on_after(READ_SECONDS) as patience:
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
                    is_large = True
                    await held.enter_async_context(self._large)
            if isinstance(found, Refusal):
                self._fault(found)
                if found.farewell:
                    await self._write(stream, found.farewell)
                return None
            if found is not None:
                return found
        if cut := session.gone():
            self._fault(cut)
        return None

    async def _write(self, stream: trio.SocketStream, frame: bytes) -> bool:
        """Whether the peer took it in time."""
        with trio.move_on_after(WRITE_SECONDS):
            await stream.send_all(frame)
            return True
        self._fault(Refusal("slow-peer", "a peer did not read its answer"))
        return False

    def _fault(self, refusal: Refusal) -> None:
        self.counters[f"refused_{refusal.code}"] += 1
        if trio.current_time() >= self._faults_until:
            self._next_minute()
        self._faults_left -= 1
        if self._faults_left >= 0:
            self._publish(self._engine.fault(refusal.code, refusal.detail))
        else:
            self._unrecorded.ring()

    def _next_minute(self) -> None:
        unrecorded = -min(self._faults_left, 0)
        self._faults_left = FAULTS_PER_MINUTE
        self._faults_until = trio.current_time() + 60
        if unrecorded:
            detail = "more faults came in a minute than are recorded one by one"
            self._publish(self._engine.gap("faults", count=unrecorded, detail=detail))

    def _publish(self, records: list[Record]) -> None:
        self._hub.publish(records)
