"""What an unreadable payload is treated as: silence only for what is certainly no proposal."""

from __future__ import annotations

import pytest

from latch_contracts.connectors.claudecode import CONTRACT, guess_event
from latch_contracts.contract import Event, Kind, Route


def _name(payload: bytes, hint: str = "") -> str | None:
    event = guess_event(payload, hint)
    return event.name if event is not None else None


@pytest.mark.parametrize(
    ("payload", "hint", "guess"),
    [
        (b'{"hook_event_name":"PostToolUse","tool_input":{"a":', "", "PostToolUse"),
        (b'{"hook_event_name" : "Stop", "session_id":', "", "Stop"),
        (b'{"hook_event_name":"PreToolUse","tool_input":{"a":', "", None),
        (b'{"hook_event_name":"PreSkillShellCommand",', "", None),
        (b'{"hook_event_name":"PermissionRequest",', "", None),
        (b'{"hook_event_name":"ConfigChange",', "", None),
        (b"", "", None),
        (b"junk", "", None),
        (b"\xff\xfe", "", None),
        (b"{}", "", None),
        (b"", "Stop", "Stop"),
        (b"junk", "PostToolUse", "PostToolUse"),
        (b"junk", "PreToolUse", None),
        (b"junk", "Future", None),
    ],
)
def test_the_names_in_a_broken_document_decide(payload: bytes, hint: str, guess: str | None) -> None:
    assert _name(payload, hint) == guess


@pytest.mark.parametrize(
    "payload",
    [
        b'{"hook_event_name":"Stop","hook_event_name":"PreToolUse"}',
        b'{"hook_event_name":"PostToolUse","x":{"hook_event_name":"PreToolUse"},',
        b'{"hook_event_name":"PostToolUse","x":{"hook_event_name":"Stop"},',
        b'{"hook_event_name":"PostToolUse","x":{"hook_event_name":"Pre\\u0054oolUse"},',
        b'{"hook_event_name":"PostToolUse","hook_event_name":7,',
        b'{"tool_name":"Bash","tool_input":{"hook_event_name":"Stop",',
        b'{"hook_event_name":"Stop","hook_event_name":"Future",',
    ],
)
def test_a_second_name_or_an_unreadable_one_makes_a_proposal_of_it(payload: bytes) -> None:
    assert _name(payload) is None


def test_a_name_quoted_inside_a_text_is_no_name() -> None:
    assert _name(b'{"hook_event_name":"Stop","m":"{\\"hook_event_name\\":\\"PreToolUse\\"}",') == "Stop"


def test_a_hook_line_that_disagrees_with_the_payload_makes_a_proposal_of_it() -> None:
    assert _name(b'{"hook_event_name":"PreToolUse"}', "PostToolUse") is None
    assert _name(b'{"hook_event_name":"PostToolUse"}', "PreToolUse") is None
    assert _name(b'{"hook_event_name":"PostToolUse",', "PreToolUse") is None


@pytest.mark.parametrize(
    "payload",
    [
        b'{"hook_event_name":"pretooluse","tool_name":"Bash","tool_input":{}}',
        b'{"hook_event_name":"BeforeAnything","tool_name":"Bash","tool_input":{}}',
        b'{"hook_event_name":"BeforeAnything","tool_input":{}}',
        b'{"tool_name":"Bash","tool_input":{}}',
        b'{"hook_event_name":"a\\u0007","x":1}',
        b'{"hook_event_name":7}',
    ],
)
def test_an_unknown_event_that_proposes_a_tool_call_is_a_proposal(payload: bytes) -> None:
    assert _name(payload) is None


@pytest.mark.parametrize(
    "payload",
    [
        b'{"hook_event_name":"AfterParty","message":"m"}',
        b'{"hook_event_name":"AfterParty","tool_name":"Bash","tool_input":{},"tool_response":""}',
        b'{"hook_event_name":"AfterParty","tool_name":"Bash","tool_input":{},"error":""}',
    ],
)
def test_an_event_younger_than_the_contract_that_proposes_nothing_is_left_alone(payload: bytes) -> None:
    assert guess_event(payload, "") == Event("AfterParty", Route.AUDIT, Kind.AUDIT)


@pytest.mark.parametrize("event", CONTRACT.events, ids=lambda event: event.name)
def test_a_sound_document_with_a_wrong_field_is_what_it_says(event: Event) -> None:
    payload = f'{{"hook_event_name":"{event.name}","session_id":5}}'.encode()

    assert guess_event(payload, "") == (None if event.blockable else event)
