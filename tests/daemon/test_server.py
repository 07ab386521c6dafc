"""The rim on real sockets: what each peer gets, and that none can take anything from another.

Watchers (latchd.streaming) are tested here too: they are nothing without a socket.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from doubles import FakeEngine
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.records import AllowanceRecord, FaultRecord, GapRecord, Record, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import (
    VERSION,
    Allow,
    Allowed,
    Answer,
    CallView,
    End,
    EventSide,
    Fault,
    HookReply,
    HookRequest,
    HookSide,
    SessionList,
    Sessions,
    Show,
    Status,
    StatusRequest,
    Streamed,
    Watch,
    decode_answer,
    encode,
)
from latchd import reception, server, streaming
from latchd.faultbook import FAULTS_PER_MINUTE
from latchd.hub import Hub
from latchd.policy import Policy, fingerprint
from latchd.reception import READ_SECONDS
from latchd.server import About, Server

pytestmark = pytest.mark.trio

ABOUT = About("0.0", 42, 1000)


class Peer:
    """The other end of one connection, in the words of the protocol."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._buffer = FrameBuffer()

    async def send(self, *messages: HookSide | EventSide) -> None:
        await self.stream.send_all(b"".join(pack(encode(message)) for message in messages))

    async def receive(self) -> Answer | None:
        """The next answer, None at the end."""
        while (message := self._buffer.next()) is None:
            try:
                data = await self.stream.receive_some()
            except trio.BrokenResourceError:
                return None
            if not data:
                return None
            self._buffer.feed(data)
        return decode_answer(message)

    async def rest(self) -> list[Answer]:
        answers: list[Answer] = []
        while (answer := await self.receive()) is not None:
            answers.append(answer)
        return answers


class Bench:
    def __init__(self, nursery: trio.Nursery) -> None:
        self.engine = FakeEngine()
        self.hub = Hub()
        self.failures: list[str] = []
        self.uid = 1000
        self.server = self.make()
        self.nursery = nursery
        self.peers: list[Peer] = []

    def make(self, **more: Callable[[trio.SocketStream], int]) -> Server:
        return Server(self.engine, self.hub, ABOUT, self._complain, **more)

    def connect(self, serve: Callable[[trio.SocketStream], Awaitable[None]]) -> Peer:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.nursery.start_soon(serve, trio.SocketStream(trio.socket.from_stdlib_socket(ours)))
        return self.keep(trio.SocketStream(trio.socket.from_stdlib_socket(theirs)))

    def keep(self, stream: trio.SocketStream) -> Peer:
        self.peers.append(Peer(stream))
        return self.peers[-1]

    def hook(self) -> Peer:
        return self.connect(self.server.hook)

    def events(self) -> Peer:
        return self.connect(self.server.events)

    async def _complain(self, error: Exception) -> None:
        await trio.lowlevel.checkpoint()
        self.failures.append(repr(error))


@pytest.fixture
async def bench(nursery: trio.Nursery) -> AsyncIterator[Bench]:
    made = Bench(nursery)
    yield made
    for peer in made.peers:
        await peer.stream.aclose()


def call(payload: bytes, version: int = VERSION) -> HookRequest:
    return HookRequest(version, "claudecode", "", "", "/", "", payload)


def reply(payload: bytes) -> HookReply:
    return HookReply(VERSION, 0, payload, b"")


def verdict(seq: int, payload: str) -> VerdictRecord:
    return VerdictRecord(seq=seq, connector="claudecode", action=Action.ALLOW, call=payload)


def fault(seq: int, code: str, detail: str) -> FaultRecord:
    return FaultRecord(seq=seq, code=code, detail=detail)


STATUS = Status(VERSION, "0.0", 42, 1000, "ok", [], "balanced", fingerprint(Policy()).hex()[:16], {})


async def test_hook_calls_are_answered_in_their_order(bench: Bench) -> None:
    peer = bench.hook()
    await peer.send(call(b"1"), call(b"2"))

    assert [await peer.receive(), await peer.receive()] == [reply(b"1"), reply(b"2")]
    assert bench.engine.log == [verdict(1, "1"), verdict(2, "2")]


async def test_the_largest_frame_is_served(bench: Bench) -> None:
    payload = b"x" * (15 * 1024 * 1024)
    peer = bench.hook()
    await peer.send(call(payload))

    assert await peer.receive() == reply(payload)


async def test_both_sockets_tell_how_the_daemon_is(bench: Bench) -> None:
    bench.engine.degraded["disk"] = "the disk is full"
    for peer in (bench.hook(), bench.events()):
        await peer.send(StatusRequest(VERSION))
        status = await peer.receive()

        assert isinstance(status, Status)
        assert (status.health, status.notes, status.pid, status.profile, status.policy) == (
            "degraded",
            ["the disk is full"],
            42,
            STATUS.profile,
            STATUS.policy,
        )
        assert status.rules == bench.engine.rules.fingerprint.hex()[:16]
        assert status.counters["connections"] >= 1


async def test_questions_about_the_past_are_answered(bench: Bench) -> None:
    hook, events = bench.hook(), bench.events()
    await hook.send(call(b"c1"), call(b"c2"))
    await hook.receive()
    await hook.receive()
    await events.send(Show(VERSION, "c2"), Sessions(VERSION, 10**9))
    view, sessions = await events.receive(), await events.receive()

    assert view == bench.engine.show("c2")
    assert sessions == SessionList(VERSION, [{"limit": 1000}])


@pytest.mark.parametrize(
    ("wire", "code", "detail"),
    [
        (bytes(4), "bad-frame", "a frame can't be empty"),
        (b"GET / HTTP/1.0\r\n", "bad-frame", "frame of 1195725856 bytes is over the limit of 16777216"),
        (pack(b"\xc1 secret"), "bad-message", "a frame held no message that this socket takes"),
        (pack(encode(Watch(VERSION))), "bad-message", "a frame held no message that this socket takes"),
    ],
    ids=["empty", "http", "junk", "of the event socket"],
)
async def test_garbage_ends_its_connection_with_a_fault_and_the_next_client_is_unharmed(
    bench: Bench, wire: bytes, code: str, detail: str
) -> None:
    bad, good = bench.hook(), bench.hook()
    await bad.stream.send_all(wire)

    assert await bad.receive() is None
    assert bench.engine.log == [fault(1, code, detail)]
    await good.send(call(b"1"))
    assert await good.receive() == reply(b"1")


async def test_another_version_is_told_so_and_not_with_a_hook_reply(bench: Bench) -> None:
    peer = bench.hook()
    await peer.send(call(b"1", version=9))
    (answer,) = await peer.rest()

    assert isinstance(answer, Fault)
    assert answer.code == "wrong-version"
    assert bench.engine.log == [fault(1, "wrong-version", "protocol version 9, this side speaks 1")]


async def test_a_foreign_peer_is_not_even_read(bench: Bench) -> None:
    bench.server = bench.make(peer_uid=lambda _: 4321)
    for peer in (bench.hook(), bench.events()):
        assert await peer.receive() is None

    assert bench.engine.log == [
        fault(seq, "foreign-peer", "a process of user 4321 connected") for seq in (1, 2)
    ]


async def test_the_kernel_tells_who_connected(bench: Bench) -> None:
    peer = bench.hook()
    await peer.send(call(b"1"))

    assert await peer.receive() == reply(b"1")
    assert bench.engine.counters["requests"] == 1


async def test_an_error_of_ours_is_a_fault_to_its_client_alone(bench: Bench) -> None:
    bench.engine.raising = ZeroDivisionError("of a secret")
    peer = bench.hook()
    await peer.send(call(b"1"))
    first = await peer.receive()
    await peer.send(call(b"2"))

    assert first == Fault(VERSION, "internal", "latchd failed on this request; its log says where")
    assert await peer.receive() == reply(b"2")
    assert bench.engine.log == [fault(1, "internal", "ZeroDivisionError"), verdict(2, "2")]
    assert bench.failures == ["ZeroDivisionError('of a secret')"]


async def test_an_error_in_a_connection_ends_that_one_only(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def show(_: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(bench.engine, "show", show)
    bad, good = bench.events(), bench.events()
    await bad.send(Show(VERSION, "c"))

    assert await bad.receive() is None
    await good.send(StatusRequest(VERSION))
    assert isinstance(await good.receive(), Status)
    assert bench.engine.log == [fault(1, "internal", "ZeroDivisionError")]


async def test_a_peer_that_is_slow_to_ask_is_let_go(bench: Bench, autojump_clock: MockClock) -> None:
    silent, slow = bench.hook(), bench.hook()
    await slow.stream.send_all(b"\0\0\0\x09abc")

    assert (await silent.receive(), await slow.receive()) == (None, None)
    assert trio.current_time() == READ_SECONDS
    assert bench.engine.log == [fault(1, "cut-short", "a connection ended inside a request")]


async def test_a_peer_that_does_not_read_its_answer_is_let_go(
    bench: Bench, autojump_clock: MockClock
) -> None:
    peer = bench.hook()
    await peer.send(call(b"x" * 4_000_000))
    await trio.sleep(reception.WRITE_SECONDS + 1)

    assert bench.engine.log[1:] == [fault(2, "slow-peer", "a peer did not read its answer")]


async def test_a_peer_that_hangs_up_before_its_answer_still_has_its_record_seen(bench: Bench) -> None:
    watcher, peer = bench.events(), bench.hook()
    await watcher.send(Watch(VERSION))
    await wait_all_tasks_blocked()
    await peer.send(call(b"1"))
    await peer.stream.aclose()

    assert await watcher.receive() == Streamed(VERSION, verdict(1, "1"))


async def test_faults_over_the_rate_are_counted_in_one_gap(bench: Bench, autojump_clock: MockClock) -> None:
    for _ in range(FAULTS_PER_MINUTE + 5):
        peer = bench.hook()
        await peer.stream.send_all(bytes(4))
        await peer.receive()
    recorded = len(bench.engine.log)
    await trio.sleep(61)
    last = bench.hook()
    await last.stream.send_all(bytes(4))
    await last.receive()

    assert recorded == FAULTS_PER_MINUTE
    assert bench.engine.log[recorded:] == [
        GapRecord(
            seq=recorded + 1,
            what="faults",
            count=5,
            detail="more faults came in a minute than are recorded one by one",
        ),
        fault(recorded + 2, "bad-frame", "a frame can't be empty"),
    ]


async def test_the_gap_does_not_wait_for_another_fault(bench: Bench, autojump_clock: MockClock) -> None:
    bench.nursery.start_soon(bench.server.tell_of_faults)
    for _ in range(FAULTS_PER_MINUTE + 5):
        peer = bench.hook()
        await peer.stream.send_all(bytes(4))
        await peer.receive()
    await trio.sleep(61)

    assert [one.count for one in bench.engine.log[FAULTS_PER_MINUTE:] if isinstance(one, GapRecord)] == [5]


async def test_large_requests_take_turns_and_small_ones_pass_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    monkeypatch.setattr(reception, "MAX_LARGE", 1)
    bench.server = bench.make()
    frame = pack(encode(call(b"x" * 2_000_000)))
    first, second, small = bench.hook(), bench.hook(), bench.hook()
    await first.stream.send_all(frame[:100])
    await wait_all_tasks_blocked()
    with trio.move_on_after(0.2) as full:
        await second.stream.send_all(frame)
    await small.send(call(b"1"))

    assert (full.cancelled_caught, await small.receive()) == (True, reply(b"1"))
    await first.stream.aclose()


async def test_an_absurd_watch_is_a_watch_of_nothing_old(bench: Bench) -> None:
    bench.engine.handle(call(b"1"))
    for cursor in (2**63, 2**64 - 1, -(2**63)):
        watcher = bench.events()
        await watcher.send(Watch(VERSION, cursor=cursor, follow=False, limit=2**64 - 1))

        assert [type(answer) for answer in await watcher.rest()] == [End]
    assert bench.failures == []


async def test_a_watch_replays_then_follows_without_a_gap_or_a_double(bench: Bench) -> None:
    hook, watcher = bench.hook(), bench.events()
    expected: list[Record] = []
    for number in range(1, 601):
        expected += bench.engine.handle(call(str(number).encode())).records
    await watcher.send(Watch(VERSION, cursor=2))

    async def work() -> None:
        for number in range(601, 901):
            await hook.send(call(str(number).encode()))
            await hook.receive()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        got = [await watcher.receive() for _ in range(898)]

    assert got == [Streamed(VERSION, verdict(seq, str(seq))) for seq in range(3, 901)]


async def test_a_watch_that_does_not_follow_ends_with_its_cursor(bench: Bench) -> None:
    for payload in (b"1", b"2", b"3"):
        bench.engine.handle(call(payload))
    for watch, answers in (
        (Watch(VERSION, cursor=1, follow=False), [verdict(2, "2"), verdict(3, "3")]),
        (Watch(VERSION, cursor=-1, follow=False), []),
        (Watch(VERSION, cursor=0, follow=False, limit=1), [verdict(3, "3")]),
        (Watch(VERSION, cursor=0, follow=False, kinds=["fault"]), []),
    ):
        watcher = bench.events()
        await watcher.send(watch)

        assert await watcher.rest() == [
            *(Streamed(VERSION, record) for record in answers),
            End(VERSION, 3),
        ]


async def test_a_watcher_that_hangs_up_or_speaks_is_forgotten(bench: Bench) -> None:
    gone, loud = bench.events(), bench.events()
    for watcher in (gone, loud):
        await watcher.send(Watch(VERSION))
    await wait_all_tasks_blocked()
    watching = len(bench.hub)
    await gone.stream.aclose()
    await loud.send(StatusRequest(VERSION))

    assert await loud.rest() == []
    await wait_all_tasks_blocked()
    assert (watching, len(bench.hub)) == (2, 0)
    assert bench.engine.log == [fault(1, "bad-message", "a request came while records were streaming")]


async def test_a_watcher_that_does_not_read_loses_records_and_in_the_end_its_place(
    bench: Bench, autojump_clock: MockClock
) -> None:
    watcher, hook = bench.events(), bench.hook()
    await watcher.send(Watch(VERSION))
    await wait_all_tasks_blocked()
    for number in range(3000):
        await hook.send(call(b"%d" % number + b"x" * 1000))
        await hook.receive()
    before = len(bench.hub)
    await trio.sleep(streaming.PROGRESS_SECONDS + 1)

    assert (before, len(bench.hub)) == (1, 0)
    assert bench.engine.log[-1] == fault(3001, "slow-reader", "a reader took nothing for too long")


async def test_a_watcher_that_reads_late_finds_one_gap_for_all_it_lost(bench: Bench) -> None:
    bench.hub = Hub(capacity=8)
    bench.server = bench.make()
    watcher, hook = bench.events(), bench.hook()
    await watcher.send(Watch(VERSION))
    await wait_all_tasks_blocked()
    for number in range(2000):
        await hook.send(call(b"%d" % number + b"x" * 1000))
        await hook.receive()
    got: list[Record] = []
    while not got or got[-1].seq != 2001:
        answer = await watcher.receive()
        assert isinstance(answer, Streamed)
        got.append(answer.record)
        if isinstance(answer.record, GapRecord):
            await hook.send(call(b"last"))
    gaps = [(place, record) for place, record in enumerate(got) if isinstance(record, GapRecord)]

    assert len(gaps) == 1
    place, gap = gaps[0]
    assert isinstance(gap, GapRecord)
    assert [record.seq for record in got[:place]] == list(range(1, gap.from_seq))
    assert (gap.what, gap.to_seq, gap.count) == ("subscriber", 2000, 2000 - gap.from_seq + 1)


async def test_one_reader_too_many_is_told_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_READERS", 2)
    readers = [bench.events() for _ in range(3)]
    for reader in readers:
        await reader.send(Watch(VERSION))
        await wait_all_tasks_blocked()

    assert await readers[2].rest() == [Fault(VERSION, "full", "2 readers are connected already")]
    await readers[0].stream.aclose()
    await wait_all_tasks_blocked()
    late = bench.events()
    await late.send(Watch(VERSION))
    await wait_all_tasks_blocked()
    assert len(bench.hub) == 2


async def test_draining_lets_a_request_finish_and_ends_what_rests(bench: Bench) -> None:
    resting, asking, watcher = bench.hook(), bench.hook(), bench.events()
    await watcher.send(Watch(VERSION, cursor=0))
    await resting.send(call(b"1"))
    await resting.receive()
    frame = pack(encode(call(b"2")))
    await asking.stream.send_all(frame[:5])
    await wait_all_tasks_blocked()
    bench.server.drain()

    assert await resting.receive() is None
    await asking.stream.send_all(frame[5:])
    assert await asking.rest() == [reply(b"2")]
    assert await watcher.rest() == [Streamed(VERSION, verdict(1, "1")), End(VERSION, 1)]


async def test_the_event_socket_leaves_the_hooks_their_descriptors(
    bench: Bench, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(server, "MAX_READERS", 1)
    monkeypatch.setattr(server, "MAX_QUESTIONS", 1)
    bench.server = bench.make()
    path = str(tmp_path / "s")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()
    nursery.start_soon(trio.serve_listeners, bench.server.events, [bench.server.events_listener(listener)])
    first, _, third = [bench.keep(await trio.open_unix_socket(path)) for _ in range(3)]
    await third.send(Sessions(VERSION, 1))
    await wait_all_tasks_blocked()
    accepted = bench.server.counters["connections"]
    await first.stream.aclose()

    assert (accepted, await third.receive()) == (2, SessionList(VERSION, [{"limit": 1}]))
    nursery.cancel_scope.cancel()


@pytest.fixture
async def house(
    bench: Bench, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[Callable[[], Awaitable[Peer]]]:
    """A hook socket with one place; connects to it."""
    monkeypatch.setattr(server, "MAX_HOOKS", 1)
    bench.server = bench.make()
    path = str(tmp_path / "s")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()

    async def connect() -> Peer:
        peer = bench.keep(await trio.open_unix_socket(path))
        await wait_all_tasks_blocked()
        return peer

    nursery.start_soon(trio.serve_listeners, bench.server.hook, [bench.server.hook_listener(listener)])
    yield connect
    nursery.cancel_scope.cancel()


async def test_who_was_answered_and_stays_makes_room_at_once(
    bench: Bench, house: Callable[[], Awaitable[Peer]], autojump_clock: MockClock
) -> None:
    first = await house()
    await first.send(call(b"1"))
    await first.receive()
    second = await house()
    await second.send(call(b"2"))

    assert await second.receive() == reply(b"2")
    assert (trio.current_time(), await first.receive()) == (0, None)
    assert bench.engine.log == [verdict(1, "1"), verdict(2, "2")]


@pytest.mark.parametrize(
    ("sent", "seconds", "faults"),
    [
        (b"", reception.SILENT_SECONDS, []),
        (b"\0\0\0\x09abc", reception.UNFINISHED_SECONDS, ["a connection ended inside a request"]),
    ],
    ids=["silent", "unfinished"],
)
async def test_who_is_slow_to_ask_makes_room_soon(
    bench: Bench,
    house: Callable[[], Awaitable[Peer]],
    autojump_clock: MockClock,
    sent: bytes,
    seconds: float,
    faults: list[str],
) -> None:
    slow = await house()
    await slow.stream.send_all(sent)
    for number in (b"1", b"2", b"3"):
        hook = await house()
        await hook.send(call(number))

        assert await hook.receive() == reply(number)
        await hook.stream.aclose()
    assert (trio.current_time(), await slow.receive()) == (seconds, None)
    assert [one.detail for one in bench.engine.log if isinstance(one, FaultRecord)] == faults
    assert bench.server.counters["hurried"] >= 1


async def test_nobody_is_hurried_while_there_is_room(bench: Bench, autojump_clock: MockClock) -> None:
    silent, hook = bench.hook(), bench.hook()
    await hook.send(call(b"1"))
    await hook.receive()

    assert await silent.receive() is None
    assert trio.current_time() == READ_SECONDS


async def test_between_two_heavy_requests_others_are_served(bench: Bench) -> None:
    """However many heavy ones are ready: who comes waits for one of them at most."""
    for round_ in range(4):
        frame = pack(encode(call(b"%d" % round_ + b"x" * server.HEAVY_BYTES)))
        heavy = [bench.hook() for _ in range(4)]
        small = bench.hook()
        for peer in heavy:
            await peer.stream.send_all(frame[:-1])
        await wait_all_tasks_blocked()
        for peer in heavy:  # all at once: nothing runs between two of these
            os.write(peer.stream.socket.fileno(), frame[-1:])
        os.write(small.stream.socket.fileno(), pack(encode(call(b"small %d" % round_))))
        for peer in (*heavy, small):
            await peer.receive()

    order = [len(one.call) < 20 for one in bench.engine.log if isinstance(one, VerdictRecord)]
    assert [order[at : at + 5].index(True) <= 1 for at in range(0, 20, 5)] == [True] * 4


async def test_a_code_is_taken_on_the_hook_socket_and_its_record_published(bench: Bench) -> None:
    watcher, hook = bench.events(), bench.hook()
    await watcher.send(Watch(VERSION))
    await wait_all_tasks_blocked()
    await hook.send(Allow(VERSION, "K7QM-2XRD", ""), Allow(VERSION, "", ""))
    taken, refused = await hook.receive(), await hook.receive()

    record = AllowanceRecord(seq=1, rule="r", refused=1, until_ms=2, head="K7QM-2XRD")
    assert (taken, refused) == (Allowed(VERSION, "allowed", record), Allowed(VERSION, "no such code"))
    told = fault(2, "allow-refused", "no such code")
    assert [await watcher.receive() for _ in range(2)] == [Streamed(VERSION, one) for one in (record, told)]


async def test_codes_are_told_to_who_asks_for_them(bench: Bench) -> None:
    """In what is stored, in what follows and in the view of one call; and to nobody else."""
    bench.engine.handle(call(b"1"))
    asking, other, hook = bench.events(), bench.events(), bench.hook()
    await asking.send(Watch(VERSION, cursor=0, codes=True))
    await other.send(Watch(VERSION, cursor=0))
    await wait_all_tasks_blocked()
    await hook.send(call(b"2"))
    told = [await asking.receive() for _ in range(2)]
    untold = [await other.receive() for _ in range(2)]
    show = bench.events()
    await show.send(Show(VERSION, "1", codes=True), Show(VERSION, "1"))
    views = [await show.receive() for _ in range(2)]

    plain = [verdict(1, "1"), verdict(2, "2")]
    coded = [msgspec.structs.replace(one, code=f"CODE-{one.seq}") for one in plain]
    assert told == [Streamed(VERSION, one) for one in coded]
    assert untold == [Streamed(VERSION, one) for one in plain]
    assert views == [CallView(VERSION, "1", [], [one]) for one in (coded[0], plain[0])]
