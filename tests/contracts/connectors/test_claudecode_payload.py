"""Reading one payload of Claude Code: what is demanded, what is let through, and what makes two the same."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.canonical import digest
from latch_contracts.connectors.claudecode import CONTRACT, guess_event, read
from latch_contracts.contract import Event, Route, Surface
from latch_contracts.errors import BadPayload, UnknownEvent
from latch_contracts.events import Call, HookEvent
from latch_contracts.outcome import Outcome

PRE: Final[dict[str, Any]] = {
    "session_id": "s-1",
    "transcript_path": "/home/dev/.claude/t.jsonl",
    "cwd": "/home/dev/project",
    "prompt_id": "p-1",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls", "description": "List"},
    "tool_use_id": "toolu_1",
}
POST: Final[dict[str, Any]] = {
    **PRE,
    "hook_event_name": "PostToolUse",
    "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
}


def _bytes(members: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**members, **changes}).encode()


def _without(members: dict[str, Any], *keys: str) -> bytes:
    return json.dumps({key: value for key, value in members.items() if key not in keys}).encode()


def _call(payload: bytes) -> Call:
    call = read(payload, "").call
    assert call is not None
    return call


def _refused(payload: bytes, hint: str = "") -> str:
    with pytest.raises(BadPayload) as caught:
        read(payload, hint)
    return str(caught.value)


def _listed(name: str) -> Event:
    event = CONTRACT.event(name)
    assert event is not None
    return event


def test_a_proposal_is_read_whole() -> None:
    event = read(_bytes(PRE, agent_id="agent-7"), "")

    assert event == HookEvent(
        connector="claudecode",
        event=_listed("PreToolUse"),
        session="s-1",
        agent="agent-7",
        turn="p-1",
        cwd="/home/dev/project",
        fingerprint=event.fingerprint,
        call=Call(
            id="toolu_1",
            tool="Bash",
            surface=Surface.SHELL,
            arguments={"command": "ls", "description": "List"},
            input_digest=digest(["Bash", {"command": "ls", "description": "List"}]),
            command="ls",
        ),
    )


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (_without(PRE, "session_id"), "`session_id` is missing"),
        (_bytes(PRE, session_id=None), "`session_id` is empty"),
        (_bytes(PRE, session_id=""), "`session_id` is empty"),
        (_bytes(PRE, session_id=7), "`session_id` is not a string"),
        (_bytes(PRE, session_id="a\x1b[2J"), "`session_id` holds control characters"),
        (_bytes(PRE, session_id="s" * 513), "`session_id` is longer than 512 bytes"),
        (_bytes(PRE, cwd=["/"]), "`cwd` is not a string"),
        (_bytes(PRE, prompt_id=1), "`prompt_id` is not a string"),
        (_bytes(PRE, agent_id={}), "`agent_id` is not a string"),
        (_bytes(PRE, agent_id=" a"), "`agent_id` begins or ends with a blank"),
        (_without(PRE, "tool_name"), "`tool_name` is missing"),
        (_bytes(PRE, tool_name=""), "`tool_name` is missing"),
        (_bytes(PRE, tool_name=3), "`tool_name` is not a string"),
        (_bytes(PRE, tool_name="Ba\nsh"), "`tool_name` holds control characters"),
        (_without(PRE, "tool_input"), "`tool_input` is missing"),
        (_bytes(PRE, tool_input=None), "`tool_input` is not an object"),
        (_bytes(PRE, tool_input="ls"), "`tool_input` is not an object"),
        (_bytes(PRE, mcp_server="github"), "`mcp_server` is not an object"),
        (_without(PRE, "tool_use_id"), "`tool_use_id` is missing"),
        (_without(POST, "tool_use_id"), "`tool_use_id` is missing"),
        (_bytes(PRE, tool_use_id=17), "`tool_use_id` is not a string"),
        (_bytes(PRE, tool_use_id={"id": "x"}), "`tool_use_id` is not a string"),
        (_without(PRE, "hook_event_name"), "`hook_event_name` is missing"),
        (_bytes(PRE, hook_event_name=["PreToolUse"]), "`hook_event_name` is not a string"),
        (_bytes(PRE, hook_event_name="PostToolBatch"), "`tool_calls` is missing"),
        (_bytes(PRE, hook_event_name="PostToolBatch", tool_calls={}), "`tool_calls` is not an array"),
        (_bytes(PRE, hook_event_name="ConfigChange", source=1), "`source` is not a string"),
        (b"", "`payload` is empty"),
        (b"[]", "`payload` is not a JSON object"),
        (b'{"session_id": "a", "session_id": "b"}', "`session_id` appears twice in one object"),
    ],
)
def test_a_field_of_the_wrong_shape_is_named(payload: bytes, error: str) -> None:
    assert _refused(payload) == error


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, "is null"),
        ("", "is empty"),
        ("i" * 513, "is longer than 512 bytes"),
        ("é" * 257, "is longer than 512 bytes"),
        ("a\x00b", "holds control characters"),
        ("a\n", "holds control characters"),
        ("a\x85", "holds control characters"),
        (" a", "begins or ends with a blank"),
        ("a\u3000", "begins or ends with a blank"),
    ],
)
@pytest.mark.parametrize("members", [PRE, POST], ids=["proposal", "result"])
def test_an_unusable_call_id_is_judged_and_joined_with_nothing(
    members: dict[str, Any], value: str | None, fault: str
) -> None:
    call = _call(_bytes(members, tool_use_id=value))

    assert (call.id, call.id_fault) == ("", fault)


@pytest.mark.parametrize("odd", ["weird id/é:1", "0", "i" * 512, "a b", "💥", "../x", "'; drop"])
def test_odd_characters_in_a_call_id_are_the_models_own_business(odd: str) -> None:
    call = _call(_bytes(PRE, tool_use_id=odd))

    assert (call.id, call.id_fault) == (odd, "")


def test_events_that_never_open_a_row_need_no_call_id() -> None:
    asked = _call(_without({**PRE, "hook_event_name": "PermissionRequest"}, "tool_use_id"))
    skill = _call(_bytes(PRE, hook_event_name="PreSkillShellCommand", tool_use_id="toolu_1:preamble-0"))

    assert (asked.id, asked.id_fault) == ("", "is not sent with this event")
    assert (skill.id, skill.id_fault) == ("toolu_1:preamble-0", "")


@pytest.mark.parametrize(
    ("cwd", "read_as"),
    [("/home/dev", "/home/dev"), ("", ""), (None, ""), ("project", ""), ("~/x", ""), ("/a\0b", "")],
)
def test_only_an_absolute_directory_counts_as_one(cwd: str | None, read_as: str) -> None:
    assert read(_bytes(PRE, cwd=cwd), "").cwd == read_as


def test_the_hook_lines_event_stands_in_for_a_missing_name_and_must_agree_with_a_given_one() -> None:
    assert read(_without(PRE, "hook_event_name"), "PreToolUse").event == _listed("PreToolUse")
    assert read(_bytes(PRE), "PreToolUse").event == _listed("PreToolUse")
    assert _refused(_bytes(PRE), "PostToolUse") == "`hook_event_name` names another event than the hook line"


@pytest.mark.parametrize("name", ["pretooluse", "PreToolUse ", "PRETOOLUSE", "pre_tool_use", "Future"])
def test_event_names_are_exact(name: str) -> None:
    with pytest.raises(UnknownEvent):
        read(_bytes(PRE, hook_event_name=name), "")


@pytest.mark.parametrize(
    ("name", "server", "read_as"),
    [
        ("mcp__github__create_issue", None, (Surface.MCP, "github", "create_issue")),
        ("mcp__a__b__c", None, (Surface.MCP, "a", "b__c")),
        ("mcp__tiny-srv__ok", None, (Surface.MCP, "tiny-srv", "ok")),
        ("mcp__prj_one_two__ok", {"name": "prj.one two"}, (Surface.MCP, "prj.one two", "ok")),
        ("mcp__a__b__c", {"name": "a__b"}, (Surface.MCP, "a__b", "c")),
        ("mcp__x", None, (Surface.MCP, "x", "")),
        ("mystery", {"name": "srv"}, (Surface.MCP, "srv", "mystery")),
        ("mcp_github_x", None, (Surface.GENERIC, "", "")),
        ("Bash", {"name": "srv"}, (Surface.SHELL, "srv", "Bash")),
    ],
)
def test_an_mcp_calls_server_is_the_one_the_agent_names(
    name: str, server: dict[str, str] | None, read_as: tuple[Surface, str, str]
) -> None:
    call = _call(_bytes(PRE, tool_name=name, mcp_server=server))

    assert (call.surface, call.mcp_server, call.mcp_tool) == read_as


def test_roles_are_lifted_and_keys_without_a_role_or_a_place_in_the_contract_are_named() -> None:
    edit = _call(_bytes(PRE, tool_name="Edit", tool_input={"file_path": "/a", "old_string": "x", "mode": 1}))
    fetch = _call(_bytes(PRE, tool_name="WebFetch", tool_input={"url": "http://h/", "prompt": "p"}))
    strange = _call(_bytes(PRE, tool_name="Strange", tool_input={"path": "/a", "command": "ls"}))
    listed = _call(_bytes(PRE, tool_input={"command": ["ls", "-l"]}))

    assert (edit.paths, edit.unknown_keys) == (("/a",), ("mode",))
    assert (fetch.urls, fetch.paths, fetch.unknown_keys) == (("http://h/",), (), ())
    assert (strange.command, strange.paths, strange.unknown_keys) == (None, (), ("command", "path"))
    assert listed.command is None


def test_a_batch_closes_every_usable_id_once() -> None:
    calls = [{"tool_use_id": "b"}, {"tool_use_id": "a"}, {"tool_use_id": "b"}, {"tool_use_id": ""}, 5]

    event = read(_bytes(PRE, hook_event_name="PostToolBatch", tool_calls=calls), "")

    assert (event.batch, event.note) == (("b", "a"), "2 of 5 calls without a usable id")
    assert event.outcome is None


def test_a_change_of_settings_names_its_source_and_file() -> None:
    event = read(_bytes(PRE, hook_event_name="ConfigChange", source="user_settings", file_path="/s.json"), "")

    assert (event.config_source, event.config_path, event.call) == ("user_settings", "/s.json", None)


def test_a_lifecycle_note_repeats_only_words_that_are_known() -> None:
    assert read(_bytes(PRE, hook_event_name="SessionStart", source="fork"), "").note == "source fork"
    assert read(_bytes(PRE, hook_event_name="SessionStart", source="my secret"), "").note == ""


@pytest.mark.parametrize("field", ["route", "kind", "state_transition", "transition", "event", "outcome"])
def test_no_field_of_a_payload_selects_the_transition_route(field: str) -> None:
    for value in ("transition", "state_transition", {"route": "transition"}):
        event = read(_bytes(POST, **{field: value}), "")
        assert (event.event, event.outcome) == (_listed("PostToolUse"), Outcome.SUCCEEDED)
    assert all(event.route is not Route.TRANSITION for event in CONTRACT.events)


def test_a_reserialised_redelivery_is_the_same_event() -> None:
    plain = _bytes(PRE, tool_input={"command": "echo é/💥", "b": [1, 2.5, None]})
    turned = dict(reversed(json.loads(plain).items()))
    turned["tool_input"] = dict(reversed(turned["tool_input"].items()))
    spaced = json.dumps(turned, indent=3, ensure_ascii=False).replace("/", "\\/").encode()

    assert read(spaced, "") == read(plain, "")


@pytest.mark.parametrize(
    "changes",
    [
        {"session_id": "s-2"},
        {"agent_id": "a"},
        {"prompt_id": "p-2"},
        {"cwd": "/tmp"},
        {"tool_name": "PowerShell"},
        {"tool_use_id": "toolu_2"},
        {"tool_input": {"command": "ls "}},
        {"hook_event_name": "PreSkillShellCommand"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_difference_in_any_declared_field_is_another_event(changes: dict[str, Any]) -> None:
    assert read(_bytes(PRE, **changes), "").fingerprint != read(_bytes(PRE), "").fingerprint


def test_what_the_contract_does_not_declare_makes_no_other_event_of_a_proposal() -> None:
    other = _bytes(PRE, permission_mode="plan", transcript_path="/x", effort={"level": "high"})

    assert read(other, "").fingerprint == read(_bytes(PRE), "").fingerprint


def test_two_results_with_different_responses_are_different_events() -> None:
    assert read(_bytes(POST, tool_response="a"), "") != read(_bytes(POST, tool_response="b"), "")
    one, other = (read(_bytes(POST, tool_response=text), "").fingerprint for text in ("a", "b"))
    assert one != other


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS: Final = st.sampled_from(
    sorted({*POST, "agent_id", "mcp_server", "tool_calls", "source", "is_interrupt"})
)
EVENT_NAMES: Final = st.sampled_from([*(event.name for event in CONTRACT.events), "Future", ""])


@given(
    changes=st.dictionaries(FIELDS, JSON, max_size=3),
    name=EVENT_NAMES,
    hint=EVENT_NAMES,
    cut=st.integers(0, 400),
)
def test_any_payload_is_an_event_or_a_named_fault_and_is_guessed_without_raising(
    changes: dict[str, Any], name: str, hint: str, cut: int
) -> None:
    payload = json.dumps({**POST, "hook_event_name": name, **changes}).encode()
    for text in (payload, payload[:cut]):
        guess = guess_event(text, hint)
        assert guess is None or not guess.blockable
        try:
            event = read(text, hint)
        except (BadPayload, UnknownEvent):
            continue
        assert event.session
        assert (event.outcome is not None) == (event.event.route is Route.RESULT)


@given(payload=st.binary(max_size=200), hint=EVENT_NAMES)
def test_any_bytes_are_a_named_fault_or_an_event(payload: bytes, hint: str) -> None:
    guess_event(payload, hint)
    try:
        read(payload, hint)
    except (BadPayload, UnknownEvent):
        return


@given(arguments=st.dictionaries(st.text(max_size=6), JSON, max_size=4))
def test_key_order_and_escapes_never_change_a_digest(arguments: dict[str, Any]) -> None:
    try:
        plain = read(json.dumps({**PRE, "tool_input": arguments}).encode(), "")
    except BadPayload:  # NaN, infinities and lone surrogates are no JSON that can be said back
        return
    turned = {**dict(reversed(PRE.items())), "tool_input": dict(reversed(arguments.items()))}

    assert read(json.dumps(turned, indent=1, ensure_ascii=False).encode(), "") == plain
