"""What Claude Code's results prove: nothing but a plain end of a plain call is success."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from latch_contracts.connectors.claudecode import read
from latch_contracts.outcome import Outcome

RESPONSE: Final = {"stdout": "x", "stderr": "", "interrupted": False, "isImage": False}


def _outcome(
    event: str = "PostToolUse", tool: str = "Bash", arguments: dict[str, Any] | None = None, **members: Any
) -> tuple[Outcome | None, str]:
    payload = {
        "session_id": "s",
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": {"command": "x"} if arguments is None else arguments,
        "tool_use_id": "t",
        **members,
    }
    read_event = read(json.dumps(payload).encode(), "")
    return read_event.outcome, read_event.outcome_why


def test_a_finished_call_succeeded() -> None:
    assert _outcome(tool_response=RESPONSE) == (Outcome.SUCCEEDED, "")


def test_an_exit_that_the_agent_tolerates_is_still_a_success() -> None:
    response = {**RESPONSE, "returnCodeInterpretation": "No matches found"}

    assert _outcome(tool_response=response) == (Outcome.SUCCEEDED, "")


@pytest.mark.parametrize(
    "response",
    [
        {"backgroundTaskId": "b1"},
        {"backgroundTaskId": ""},
        {"backgroundedByUser": True},
        {"interrupted": True},
        {"interrupted": 0},
        {"interrupted": "false"},
        {"timedOutAfterMs": 1000},
        {"timedOutAfterMs": 0},
        {"status": "async_launched"},
        {"isAsync": True},
        {"isError": True},
        {"success": False},
        {"error": "no cell"},
    ],
    ids=str,
)
def test_a_response_that_speaks_against_the_end_leaves_it_unknown(response: dict[str, Any]) -> None:
    outcome, why = _outcome(tool_response={**RESPONSE, **response})

    assert (outcome, why.split(":")[0]) == (Outcome.UNKNOWN, f"`{next(iter(response))}`")


@pytest.mark.parametrize(
    "members", [{}, {"tool_response": None}, {"tool_result": RESPONSE}, {"response": RESPONSE}]
)
def test_a_result_without_its_response_is_unknown(members: dict[str, Any]) -> None:
    assert _outcome(**members) == (Outcome.UNKNOWN, "`tool_response` is missing")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "x", "run_in_background": True}),
        ("Bash", {"command": "x", "run_in_background": "true"}),
        ("PowerShell", {"command": "x", "run_in_background": True}),
        ("Monitor", {"command": "x"}),
        ("Agent", {"prompt": "p", "run_in_background": True}),
        ("Task", {"prompt": "p", "run_in_background": True}),
    ],
)
def test_a_launch_is_no_success(tool: str, arguments: dict[str, Any]) -> None:
    assert _outcome(tool=tool, arguments=arguments, tool_response=RESPONSE)[0] is Outcome.UNKNOWN


def test_a_foreground_agent_succeeds_when_it_completed_and_not_before() -> None:
    arguments = {"prompt": "p", "run_in_background": False}

    assert [
        _outcome(tool="Agent", arguments=arguments, tool_response={"status": status})[0]
        for status in ("completed", "running", "remote_launched", 1)
    ] == [Outcome.SUCCEEDED, Outcome.UNKNOWN, Outcome.UNKNOWN, Outcome.UNKNOWN]


@pytest.mark.parametrize("response", [[{"type": "text", "text": "ok"}], '{"n":1}', [], ""])
def test_an_mcp_result_is_a_list_or_a_text(response: Any) -> None:
    assert _outcome(tool="mcp__a__b", tool_response=response) == (Outcome.SUCCEEDED, "")


def test_a_failure_is_a_failure_and_an_interrupted_one_was_cancelled() -> None:
    interrupts: list[dict[str, Any]] = [
        {},
        {"is_interrupt": False},
        {"is_interrupt": True},
        {"is_interrupt": "true"},
    ]

    assert [_outcome("PostToolUseFailure", error="Exit code 3", **members) for members in interrupts] == [
        (Outcome.FAILED, "the agent reports a failure"),
        (Outcome.FAILED, "the agent reports a failure"),
        (Outcome.CANCELLED, "it was interrupted"),
        (Outcome.FAILED, "the agent reports a failure"),
    ]


def test_a_failure_never_becomes_a_success_by_a_response_in_it() -> None:
    assert _outcome("PostToolUseFailure", tool_response=RESPONSE)[0] is Outcome.FAILED


def test_the_classifiers_denial_is_a_denial_whatever_it_says() -> None:
    assert _outcome("PermissionDenied", reason="succeeded") == (
        Outcome.DENIED,
        "the agent's own classifier refused it",
    )
