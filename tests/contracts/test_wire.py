"""Both sockets' messages: what goes out comes back equal, and anything else is one of two errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts import wire
from latch_contracts.errors import BadMessage, WrongVersion
from latch_contracts.records import AllowanceRecord, GapRecord, VerdictRecord
from latch_contracts.verdict import Action

HOOK_SIDE: Final = [
    (
        wire.HookRequest(1, "claudecode", "", "2.1.332", "/home/dev", "t", b"\xff{}", probe=True),
        ["hook", 1, "claudecode", "", "2.1.332", "/home/dev", "t", b"\xff{}", True],
    ),
    (wire.Allow(1, "K7QM-2XRD", "t"), ["allow?", 1, "K7QM-2XRD", "t"]),
    (wire.StatusRequest(1), ["status?", 1]),
]
EVENT_SIDE: Final = [
    (
        wire.Watch(1, cursor=7, follow=False, kinds=["verdict"], connectors=["claudecode"], limit=3),
        ["watch", 1, 7, False, ["verdict"], ["claudecode"], [], 3, False],
    ),
    (wire.Show(1, "toolu_1", codes=True), ["show?", 1, "toolu_1", True]),
    (wire.Sessions(1), ["sessions?", 1, 50]),
    (wire.StatusRequest(1), ["status?", 1]),
]
ANSWERS: Final[list[wire.Answer]] = [
    wire.HookReply(1, 2, b"{}", b"no"),
    wire.Allowed(1, "allowed", AllowanceRecord(rule="r", refused=3, until_ms=5)),
    wire.Allowed(1, "no refused call has this code"),
    wire.Status(1, "0.1.0", 9, 1, "ok", [], "balanced", "ab", {"verdicts": 2**40}),
    wire.CallView(1, "toolu_1", [{"state": "pending"}], [VerdictRecord(action=Action.DENY, rule="r")]),
    wire.SessionList(1, [{"session": "s"}]),
    wire.Streamed(1, GapRecord(seq=4, what="subscriber", from_seq=1, to_seq=3, count=3)),
    wire.End(1, 4),
    wire.Fault(1, "busy", "try again"),
]
DECODERS: Final[list[Callable[[bytes], object]]] = [
    wire.decode_hook_side,
    wire.decode_event_side,
    wire.decode_answer,
]


@pytest.mark.parametrize(("message", "plain"), HOOK_SIDE)
def test_a_hook_side_message_is_an_array_with_its_tag_first(message: Any, plain: list[Any]) -> None:
    assert msgspec.msgpack.decode(wire.encode(message)) == plain
    assert wire.decode_hook_side(wire.encode(message)) == message


@pytest.mark.parametrize(("message", "plain"), EVENT_SIDE)
def test_an_event_side_message_is_an_array_with_its_tag_first(message: Any, plain: list[Any]) -> None:
    assert msgspec.msgpack.decode(wire.encode(message)) == plain
    assert wire.decode_event_side(wire.encode(message)) == message


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_comes_back_equal(answer: wire.Answer) -> None:
    assert wire.decode_answer(wire.encode(answer)) == answer


def test_a_shorter_message_of_an_older_peer_takes_the_defaults() -> None:
    older = msgspec.msgpack.encode(["hook", 1, "claudecode", "", "", "/", "", b"{}"])

    assert wire.decode_hook_side(older) == wire.HookRequest(1, "claudecode", "", "", "/", "", b"{}")


def test_a_longer_message_of_a_younger_peer_is_understood() -> None:
    younger = msgspec.msgpack.encode(["reply", 1, 0, b"", b"", "what comes next"])

    assert wire.decode_answer(younger) == wire.HookReply(1, 0, b"", b"")


def test_neither_socket_takes_the_others_messages() -> None:
    for message in (wire.Watch(1), wire.Show(1, "x"), wire.Sessions(1), wire.HookReply(1, 0, b"", b"")):
        with pytest.raises(BadMessage):
            wire.decode_hook_side(wire.encode(message))
    for request in (wire.HookRequest(1, "c", "", "", "", "", b""), wire.HookReply(1, 0, b"", b"")):
        with pytest.raises(BadMessage):
            wire.decode_event_side(wire.encode(request))


@pytest.mark.parametrize("version", [0, 2, -1, 2**40])
def test_another_protocol_version_is_told_apart_from_junk(version: int) -> None:
    with pytest.raises(WrongVersion, match=f"protocol version {version}, this side speaks 1"):
        wire.decode_hook_side(wire.encode(wire.StatusRequest(version)))
    with pytest.raises(WrongVersion):
        wire.decode_event_side(wire.encode(wire.Show(version, "x")))
    with pytest.raises(WrongVersion):
        wire.decode_answer(wire.encode(wire.End(version, 0)))


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode(["hook", 1]),
        msgspec.msgpack.encode(["hook", True, "c", "", "", "", "", b""]),
        msgspec.msgpack.encode(["hook", 1, "c", "", "", "", "", "text"]),
        msgspec.msgpack.encode({"type": "hook"}),
        wire.encode(wire.StatusRequest(1)) + b"\0",
        b"\x91" * 3000,
        b"\x92\xa5show?\xd9\x01\xff",
    ],
)
def test_what_is_no_message_of_this_protocol_is_one_error(junk: bytes) -> None:
    for decode in DECODERS:
        with pytest.raises(BadMessage):
            decode(junk)


@given(junk=st.binary(max_size=80))
def test_no_bytes_raise_anything_else(junk: bytes) -> None:
    for decode in DECODERS:
        try:
            decode(junk)
        except (BadMessage, WrongVersion):
            continue


@given(payload=st.binary(max_size=200), cwd=st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_payload_travels_untouched(payload: bytes, cwd: str) -> None:
    request = wire.HookRequest(1, "claudecode", "PreToolUse", "", cwd, "", payload)

    assert wire.decode_hook_side(wire.encode(request)) == request
