"""The shim's own copies of places, wire and frames are the originals, and its parts keep their promises."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import SHARED_DATA, needs_shared_data
from latch_client import fallbacks, shim
from latch_contracts import frames, places, wire
from latch_contracts.connectors import CONNECTORS
from latch_contracts.contract import Event, Kind
from latch_contracts.verdict import Action, Verdict

CLAUDE = CONNECTORS["claudecode"]
EVENTS = CLAUDE.contract.events
SIZES = (0, 1, 31, 32, 255, 256, 65535, 65536, 70000)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(st.text(), json_values, max_size=5)


def request(payload: bytes, cwd: bytes = b"/w", event: str = "", token: bytes = b"") -> bytes:
    head, tail = shim.envelope("claudecode", event, cwd, token)
    return head + shim.binary_head(len(payload)) + payload + tail


def wanted(payload: bytes, cwd: str = "/w", event: str = "", token: str = "") -> bytes:
    return wire.encode(wire.HookRequest(wire.VERSION, "claudecode", event, "", cwd, token, payload))


def test_the_constants_are_those_of_the_contracts() -> None:
    assert (shim.VERSION, shim.MAX_FRAME) == (wire.VERSION, frames.MAX_FRAME)


@pytest.mark.parametrize("size", SIZES)
def test_a_payload_of_every_length_class_is_written_as_the_real_encoder_writes_it(size: int) -> None:
    payload = b"x" * size

    assert request(payload) == wanted(payload)


@pytest.mark.parametrize("size", SIZES)
def test_a_text_of_every_length_class_is_written_as_the_real_encoder_writes_it(size: int) -> None:
    cwd = "/" + "d" * size

    assert request(b"{}", cwd.encode()) == wanted(b"{}", cwd)


@given(st.binary(max_size=300), st.text(max_size=80), st.text(max_size=40), st.text(max_size=40))
def test_any_request_is_written_as_the_real_encoder_writes_it(
    payload: bytes, cwd: str, event: str, token: str
) -> None:
    assert request(payload, cwd.encode(), event, token.encode()) == wanted(payload, cwd, event, token)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("code", [0, 2])
def test_a_reply_of_every_length_class_is_read_back(size: int, code: int) -> None:
    reply = wire.HookReply(wire.VERSION, code, b"o" * size, b"e" * size)

    assert shim.decode_reply(wire.encode(reply)) == (code, b"o" * size, b"e" * size)


def test_a_reply_with_members_of_a_later_version_is_read() -> None:
    assert shim.decode_reply(msgspec.msgpack.encode(["reply", 1, 2, b"o", b"e", True, "new"])) == (
        2,
        b"o",
        b"e",
    )


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x95",
        b"\xc0",
        msgspec.msgpack.encode(["reply", 2, 0, b"", b""]),
        msgspec.msgpack.encode(["reply", 1, 1, b"", b""]),
        msgspec.msgpack.encode(["reply", 1, 3, b"", b""]),
        msgspec.msgpack.encode(["reply", 1, 300, b"", b""]),
        msgspec.msgpack.encode(["reply", 1, 0, b""]),
        msgspec.msgpack.encode(["reply", 1, 0, None, b""]),
        msgspec.msgpack.encode(["reply", 1, 0, b"", b""]) + b"x",
        msgspec.msgpack.encode(["status", 1, 0, b"", b""]),
        msgspec.msgpack.encode({"reply": 1}),
    ],
)
def test_what_is_no_reply_is_a_failure(message: bytes) -> None:
    with pytest.raises(shim.Failure) as caught:
        shim.decode_reply(message)

    assert caught.value.why == "bad-reply"


def test_every_reply_that_is_cut_short_is_a_failure() -> None:
    whole = wire.encode(wire.HookReply(wire.VERSION, 0, b"o" * 300, b"e"))

    for size in range(len(whole)):
        with pytest.raises(shim.Failure):
            shim.decode_reply(whole[:size])


@given(st.binary(max_size=60))
def test_no_bytes_break_the_reader(message: bytes) -> None:
    try:
        code, _, _ = shim.decode_reply(message)
    except shim.Failure:
        return
    assert code in (0, 2)


def test_a_fault_is_a_failure_in_the_daemons_words() -> None:
    with pytest.raises(shim.Failure) as caught:
        shim.decode_reply(wire.encode(wire.Fault(wire.VERSION, "token", "the token is wrong")))

    assert (caught.value.why, caught.value.detail) == ("fault", "the token is wrong")


paths = st.sampled_from(["", "/run/user/1000", "relative", "/h\u00e9", "/x\udcff", "/"])
VARIABLES = ("LATCHD_RUNTIME_DIR", "XDG_RUNTIME_DIR", "LATCHD_STATE_DIR", "XDG_STATE_HOME", "HOME")
environments = st.fixed_dictionaries({}, optional=dict.fromkeys(VARIABLES, paths))


@given(environments, st.integers(0, 70000))
def test_the_places_are_those_of_the_shared_resolver(environ: dict[str, str], uid: int) -> None:
    raw = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}

    def resolved(find: Any) -> bytes | None:
        try:
            found = find()
        except (places.PlaceError, shim.Failure):
            return None
        return os.fsencode(found)

    def private(path: str) -> bool:
        return shim.private_dir(os.fsencode(path), uid)

    assert [
        resolved(lambda: shim.runtime_dir(raw, uid)),
        resolved(lambda: shim.state_dir(raw)),
    ] == [
        resolved(lambda: places.runtime_dir(environ, uid, private)),
        resolved(lambda: places.state_dir(environ)),
    ]


def test_a_directory_is_private_when_it_is_ours_real_and_closed(tmp_path: Path) -> None:
    for name, mode in (("closed", 0o700), ("open", 0o750)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to(tmp_path / "closed")
    (tmp_path / "file").touch(0o600)

    assert {
        name: shim.private_dir(os.fsencode(tmp_path / name), os.getuid())
        for name in ("closed", "open", "link", "file", "missing")
    } == {"closed": True, "open": False, "link": False, "file": False, "missing": False}
    assert not shim.private_dir(os.fsencode(tmp_path / "closed"), os.getuid() + 1)


@given(documents, st.booleans(), st.data())
def test_the_end_of_a_payload_is_seen_with_its_last_byte_and_not_before(
    document: dict[str, Any], ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    extent = shim.Extent()

    assert [extent.feed(piece) for piece in pieces] == [False] * len(cuts) + [True]


def test_the_end_is_seen_when_the_bytes_come_one_by_one() -> None:
    text = rb' {"a\\":"}\\\"]{", "b":[{"c":"\\"}, []], "d\"": "\u007d"}'
    extent = shim.Extent()

    assert [extent.feed(text[i : i + 1]) for i in range(len(text))] == [False] * (len(text) - 1) + [True]


@pytest.mark.parametrize("text", [b"", b" ", b"12", b"nul", b'"a{}"', b'{"a', b"[[]", b'{"a":"\\"}'])
def test_what_is_no_whole_object_or_array_has_no_end(text: bytes) -> None:
    assert not shim.Extent().feed(text)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["hook.py", "claudecode"], ("claudecode", "", False, False)),
        (["hook.py", "claudecode", "PreToolUse"], ("claudecode", "PreToolUse", False, False)),
        (["hook.py", "claudecode", "--fail-open", "--autostart"], ("claudecode", "", True, True)),
        (["hook.py"], None),
        (["hook.py", ""], None),
        (["hook.py", "a", "b", "c"], None),
        (["hook.py", "claudecode", "--open"], None),
    ],
)
def test_the_words_of_the_hook_line_are_read(argv: list[str], words: tuple[Any, ...] | None) -> None:
    line = shim.parse(argv)

    assert (line and (line.connector, line.event, line.fail_open, line.autostart)) == words


def refusal(connector: str, payload: bytes, event: str = "") -> tuple[int, bytes, bytes]:
    line = shim.Line(connector, event, fail_open=False, autostart=False)
    return fallbacks.stand_in(line, payload, {b"LATCHD_STATE_DIR": b"/dev/null"}, "no-daemon", "")


@pytest.mark.parametrize("event", [*EVENTS, None], ids=lambda event: event.name if event else "unreadable")
def test_what_stands_in_for_the_daemon_is_what_the_connector_would_render(event: Event | None) -> None:
    payload = b"{" if event is None else json.dumps({"hook_event_name": event.name}).encode()
    verdict = Verdict(Action.DENY, rule="floor.no-daemon", reason=fallbacks.WHY["no-daemon"])
    rendered = CLAUDE.render(event, verdict, "")
    if event is not None and event.kind not in (Kind.PROPOSAL, Kind.PERMISSION):
        rendered = CLAUDE.silence()  # a settings change is not refused by a daemon that is not there

    assert refusal("claudecode", payload) == (rendered.exit_code, rendered.stdout, rendered.stderr)


def test_every_connector_has_a_fallback_and_no_other_has() -> None:
    assert set(fallbacks.FALLBACKS) == set(CONNECTORS)


def test_an_unknown_connector_is_refused() -> None:
    assert refusal("nobody", b'{"hook_event_name":"Stop"}')[0] == 2


fragments = st.lists(
    st.sampled_from(
        [
            b'"hook_event_name"',
            b'"hook_event_name":"PreToolUse"',
            b'"hook_event_name" : "Stop"',
            b'"hook_event_name":"PostToolUse"',
            b'"hook_event_name":"ConfigChange"',
            b'"hook_event_name":"Nothing"',
            b'"tool_input":{',
            b'"tool_name":"Bash"',
            b"{",
            b"}",
            b",",
            b":",
            b'"',
            b"\\",
            b"\xff",
        ]
    ),
    max_size=6,
).map(b"".join)


@given(fragments, st.sampled_from(["", "Stop", "PreToolUse", "PostToolUse", "Nothing"]))
def test_silence_without_the_daemon_is_never_wider_than_the_connectors_own_guess(
    payload: bytes, hint: str
) -> None:
    event = fallbacks.certain_event("claudecode", payload, hint)
    if event in ("", *fallbacks.FALLBACKS["claudecode"].proposals, "ConfigChange"):
        return
    guessed = CLAUDE.guess_event(payload, hint)

    assert guessed is not None
    assert guessed.name == event


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"junk",
        b'{"hook_event_name":"Stop","tool_input":{"hook_event_name":"Stop"}}',
        b'{"tool_input":{"hook_event_name":"Stop"},"hook_event_name":"PreToolUse"}',
        b'{"hook_event_name":17}',
        b'{"hook_event_name":"Younger"}',
    ],
)
def test_doubt_about_the_event_is_a_proposal(payload: bytes) -> None:
    assert refusal("claudecode", payload)[0] == 2


def test_a_hook_line_and_a_payload_that_disagree_are_a_proposal() -> None:
    assert refusal("claudecode", b'{"hook_event_name":"Stop"}', "PostToolUse")[0] == 2
    assert refusal("claudecode", b'{"hook_event_name":"Stop"}', "Stop") == (0, b"", b"")


@pytest.mark.parametrize("why", fallbacks.WHY)
def test_every_reason_is_one_plain_line_with_a_way_out(why: str) -> None:
    assert fallbacks.WHY[why].isascii()
    assert fallbacks.WHY[why].isprintable()
    assert "; " in fallbacks.WHY[why]
    assert fallbacks.printable(fallbacks.WHY[why]) == fallbacks.WHY[why]


def live_payloads() -> list[Path]:
    return sorted(
        path for path in (SHARED_DATA / "live-payloads" / "claude").glob("*.json") if path.stem != "index"
    )


@needs_shared_data
def test_a_real_payload_ends_where_it_ends_and_its_event_is_certain() -> None:
    payloads = live_payloads()
    seen: dict[str, tuple[bool, bool, str]] = {}
    for path in payloads:
        payload = path.read_bytes().rstrip()
        extent = shim.Extent()
        seen[path.name] = (
            extent.feed(payload[:-1]),
            extent.feed(payload[-1:]),
            fallbacks.certain_event("claudecode", payload, ""),
        )

    assert len(payloads) > 100
    assert seen == {
        path.name: (False, True, json.loads(path.read_bytes())["hook_event_name"]) for path in payloads
    }
