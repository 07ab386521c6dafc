"""Which strings of a payload are texts, and what each is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from corpora import SHARED_DATA, needs_shared_data
from latch_contracts.connectors.claudecode.payload import read
from latch_contracts.errors import BadPayload, UnknownEvent
from latch_contracts.events import Text


def texts(event: str, **members: Any) -> tuple[Text, ...]:
    payload = {"session_id": "s", "hook_event_name": event, "tool_use_id": "c", "cwd": "/w"} | members
    return read(json.dumps(payload).encode(), "").texts


def test_a_prompt_is_a_text() -> None:
    assert texts("UserPromptSubmit", prompt="fix it") == (Text("prompt", "fix it"),)


def test_a_shells_result_is_its_command_and_what_it_printed() -> None:
    told = texts(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "make", "description": "build"},
        tool_response={"stdout": "out", "stderr": "", "interrupted": False},
    )

    assert told == (Text("command", "make"), Text("result.stdout", "out"))


def test_of_a_write_only_what_was_written_is_taken_and_once() -> None:
    written = texts(
        "PostToolUse",
        tool_name="Write",
        tool_input={"file_path": "/w/a", "content": "new"},
        tool_response={"content": "new", "originalFile": "old", "structuredPatch": [{"lines": ["+new"]}]},
    )
    edited = texts(
        "PostToolUse",
        tool_name="MultiEdit",
        tool_input={"file_path": "/w/a", "edits": [{"old_string": "old", "new_string": "new"}]},
        tool_response={"originalFile": "old"},
    )

    assert written == (Text("content", "new"),)
    assert edited == (Text("content", "new"),)


def test_what_a_file_holds_and_what_a_server_answers_are_texts() -> None:
    read_file = texts(
        "PostToolUse",
        tool_name="Read",
        tool_input={"file_path": "/w/a"},
        tool_response={"type": "text", "file": {"filePath": "/w/a", "content": "line", "numLines": 1}},
    )
    answered = texts(
        "PostToolUse",
        tool_name="mcp__srv__ask",
        tool_input={"question": "why", "deep": {"ghp_key": ["because"]}},
        tool_response=[
            {"type": "text", "text": "so"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ],
    )

    assert Text("result.file.content", "line") in read_file
    assert answered == (
        Text("input", "why"),
        Text("input", "because"),
        Text("result", "text"),
        Text("result.text", "so"),
        Text("result", "image"),
        Text("result", "image/png"),
    )


def test_a_key_that_is_not_known_names_no_surface() -> None:
    told = texts(
        "PostToolUse", tool_name="mcp__s__t", tool_input={}, tool_response={"ghp_1": {"stdout": "a"}}
    )

    assert told == (Text("result.stdout", "a"),)


def test_a_failure_says_why() -> None:
    told = texts("PostToolUseFailure", tool_name="Bash", tool_input={"command": "x"}, error="Exit code 1\nno")

    assert told == (Text("command", "x"), Text("result.error", "Exit code 1\nno"))


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "PermissionDenied", "Stop"])
def test_nothing_else_has_texts(event: str) -> None:
    assert texts(event, tool_name="Bash", tool_input={"command": "x"}, reason="y", prompt="z") == ()


@needs_shared_data
def test_every_prompt_and_result_of_the_real_payloads_has_its_texts() -> None:
    without: list[str] = []
    for path in sorted((SHARED_DATA / "live-payloads" / "claude").glob("*.json")):
        try:
            event = read(path.read_bytes(), "")
        except (BadPayload, UnknownEvent):
            continue
        if event.event.name in {"UserPromptSubmit", "PostToolUse", "PostToolUseFailure"} and not event.texts:
            without.append(path.name)

    assert without == []
