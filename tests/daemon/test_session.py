"""One connection without its socket: what comes in as requests, what is refused, and in which order."""

from __future__ import annotations

import pytest

from latch_contracts.frames import MAX_FRAME, pack
from latch_contracts.records import FaultRecord
from latch_contracts.wire import (
    VERSION,
    End,
    EventSide,
    Fault,
    HookReply,
    HookRequest,
    HookSide,
    Sessions,
    Show,
    StatusRequest,
    Streamed,
    Watch,
    decode_answer,
    encode,
)
from latchd.session import (
    EVENT_SIDE,
    HOOK_SIDE,
    Refusal,
    Session,
    SessionError,
    Signal,
    State,
    Table,
    event_session,
    hook_session,
)

REPLY = HookReply(VERSION, 0, b"out", b"err")
FAULTS = Fault(
    VERSION, "wrong-version", "protocol version 9, this side speaks 1; upgrade latchd and its hooks together"
)


def hook(payload: bytes = b"{}", version: int = VERSION) -> HookRequest:
    return HookRequest(version, "claudecode", "", "", "/", "", payload)


def framed(*messages: HookSide | EventSide) -> bytes:
    return b"".join(pack(encode(message)) for message in messages)


HOOK_REQUESTS: list[HookSide] = [hook(), hook(b"x" * 70_000), StatusRequest(VERSION)]
EVENT_REQUESTS: list[EventSide] = [Show(VERSION, "c"), Sessions(VERSION, 3), StatusRequest(VERSION)]


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_requests_come_out_the_same_however_their_bytes_are_cut(size: int) -> None:
    session = hook_session()
    wire = framed(*HOOK_REQUESTS)
    found: list[object] = []
    for start in range(0, len(wire), size):
        session.receive(wire[start : start + size])
        while (request := session.next()) is not None:
            found.append(request)
            session.answer(REPLY)

    assert found == HOOK_REQUESTS
    assert session.is_between_requests


def test_the_next_request_waits_until_the_last_is_answered() -> None:
    session = event_session()
    session.receive(framed(*EVENT_REQUESTS))

    assert (session.next(), session.next()) == (EVENT_REQUESTS[0], None)
    session.answer(End(VERSION, 0))
    assert session.next() == EVENT_REQUESTS[1]


def test_an_answer_is_one_frame() -> None:
    session = hook_session()
    session.receive(framed(hook()))
    session.next()

    assert decode_answer(session.answer(REPLY)[4:]) == REPLY


@pytest.mark.parametrize(
    ("wire", "refusal"),
    [
        (b"\0\0\0\0", Refusal("bad-frame", "a frame can't be empty")),
        (
            (MAX_FRAME + 1).to_bytes(4, "big"),
            Refusal("bad-frame", f"frame of {MAX_FRAME + 1} bytes is over the limit of {MAX_FRAME}"),
        ),
        (b"GET ", Refusal("bad-frame", f"frame of {0x47455420} bytes is over the limit of {MAX_FRAME}")),
        (pack(b"\xc1secret"), Refusal("bad-message", "a frame held no message that this socket takes")),
        (framed(Watch(VERSION)), Refusal("bad-message", "a frame held no message that this socket takes")),
        (
            framed(hook(version=9)),
            Refusal("wrong-version", "protocol version 9, this side speaks 1", pack(encode(FAULTS))),
        ),
    ],
    ids=["empty", "too long", "http", "no message", "of the other socket", "version"],
)
def test_what_is_no_request_ends_the_connection(wire: bytes, refusal: Refusal) -> None:
    session = hook_session()
    session.receive(wire)

    assert (session.next(), session.state) == (refusal, State.CLOSED)
    session.receive(framed(hook()))
    assert session.next() is None


def test_good_requests_before_garbage_are_still_served() -> None:
    session = hook_session()
    session.receive(framed(hook()) + bytes(4))

    assert session.next() == hook()
    session.answer(REPLY)
    assert session.next() == Refusal("bad-frame", "a frame can't be empty")


def test_the_farewell_to_another_version_is_no_hook_reply() -> None:
    session = hook_session()
    session.receive(framed(hook(version=9)))
    refusal = session.next()

    assert isinstance(refusal, Refusal)
    assert decode_answer(refusal.farewell[4:]) == FAULTS


def test_a_hook_call_has_no_place_on_the_event_socket() -> None:
    session = event_session()
    session.receive(framed(hook()))

    assert session.next() == Refusal("bad-message", "a frame held no message that this socket takes")


def test_a_watch_streams_until_its_end() -> None:
    session = event_session()
    session.receive(framed(Watch(VERSION)))

    assert session.next() == Watch(VERSION)
    record = Streamed(VERSION, FaultRecord(seq=1, code="x"))
    assert [decode_answer(frame[4:]) for frame in (session.record(record), session.end(End(VERSION, 1)))] == [
        record,
        End(VERSION, 1),
    ]
    assert session.state is State.CLOSED


def test_a_watcher_that_speaks_is_refused() -> None:
    session = event_session()
    session.receive(framed(Watch(VERSION)))
    session.next()
    session.receive(b"\0")

    assert session.next() == Refusal("bad-message", "a request came while records were streaming")


def test_a_request_cut_short_is_told_from_a_quiet_end() -> None:
    quiet, cut = hook_session(), hook_session()
    cut.receive(framed(hook())[:9])

    assert (quiet.gone(), cut.gone()) == (None, Refusal("cut-short", "a connection ended inside a request"))
    assert (quiet.state, cut.state) == (State.CLOSED, State.CLOSED)


@pytest.mark.parametrize("table", [HOOK_SIDE, EVENT_SIDE], ids=["hook", "events"])
def test_every_state_is_in_the_table_and_closed_is_left_by_nothing(table: Table) -> None:
    assert set(table) == set(State)
    assert table[State.CLOSED] == {}
    assert all(
        State.CLOSED in row.values() for state, row in table.items() if row and state is not State.CLOSED
    )


SENDING = [Signal.ANSWER, Signal.RECORD, Signal.END]


@pytest.mark.parametrize(("state", "signal"), [(state, signal) for state in State for signal in SENDING])
def test_what_the_table_has_no_place_for_changes_nothing(state: State, signal: Signal) -> None:
    session: Session[EventSide] = event_session()
    session.state = state
    send = dict(zip(SENDING, (session.answer, session.record, session.end), strict=True))[signal]
    if signal in EVENT_SIDE[state]:
        send(End(VERSION, 1))
        assert session.state is EVENT_SIDE[state][signal]
    else:
        with pytest.raises(SessionError, match=f"`{signal}` has no place in state `{state}`"):
            send(End(VERSION, 1))
        assert session.state is state


def test_hook_connections_never_stream() -> None:
    assert [row for row in HOOK_SIDE.values() if State.STREAMING in row.values()] == []
