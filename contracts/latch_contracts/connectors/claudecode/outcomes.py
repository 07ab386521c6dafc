"""What one of Claude Code's result events proves: success only when nothing in it speaks against it.

The event's kind decides, then DOUBTS and the launch keys take away what it can't know. A Bash
result has no exit code: PostToolUse is exit 0, or an exit that Claude Code itself tolerates
(``returnCodeInterpretation``: grep without a match, diff with differences). The tolerated one
counts as success, because the command did run to its end, and forgetting a step is the worse error.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from latch_contracts.contract import Surface, Tool
from latch_contracts.events import Call
from latch_contracts.outcome import Outcome
from latch_contracts.strict_json import as_object


class Doubt(msgspec.Struct, frozen=True):
    """A member of ``tool_response`` that, with any value but the settled ones, leaves success unproven."""

    key: str
    settled: tuple[object, ...]
    why: str


DOUBTS: Final = (
    Doubt("backgroundTaskId", (None,), "it went on in the background"),
    Doubt("backgroundedByUser", (None, False), "it was sent to the background"),
    Doubt("interrupted", (None, False), "it was interrupted"),
    Doubt("timedOutAfterMs", (None,), "it timed out"),
    Doubt("isAsync", (None, False), "it was only launched"),
    Doubt("isError", (None, False), "its own result says error"),
    Doubt("success", (None, True), "its own result says no success"),
    Doubt("error", (None, ""), "its own result holds an error"),  # NotebookEdit sends "" when all is well
)

_LAUNCHED: Final = "async_launched"


def outcome(event: str, call: Call, tool: Tool | None, members: dict[str, Any]) -> tuple[Outcome, str]:
    """The outcome of a result event, and why, in words without any value of the payload."""
    match event:
        case "PermissionDenied":
            return Outcome.DENIED, "the agent's own classifier refused it"
        case "PostToolUseFailure":
            if members.get("is_interrupt") is True:
                return Outcome.CANCELLED, "it was interrupted"
            return Outcome.FAILED, "the agent reports a failure"
        case "PostToolUse":
            if doubt := _doubt(call, tool, members):
                return Outcome.UNKNOWN, doubt
            return Outcome.SUCCEEDED, ""
        case _:
            return Outcome.UNKNOWN, "no proof is known for this event"


def _doubt(call: Call, tool: Tool | None, members: dict[str, Any]) -> str:
    if members.get("tool_response") is None:
        return "`tool_response` is missing"
    if tool is not None:
        if tool.always_launch:
            return f"a {tool.name} is only started"
        for key in sorted(tool.launch):
            if not _is_one_of(call.arguments.get(key), (None, False)):
                return f"`{key}` only starts it"
    response = as_object(members["tool_response"])
    if response is None:  # MCP: a list of contents, or a JSON text of the structured one
        return ""
    for doubt in DOUBTS:
        if not _is_one_of(response.get(doubt.key), doubt.settled):
            return f"`{doubt.key}`: {doubt.why}"
    status = response.get("status")
    if status == _LAUNCHED:
        return "`status`: it was only launched"
    if call.surface is Surface.DELEGATE and not _is_one_of(status, (None, "completed")):
        return "`status`: the agent it started has not completed"
    return ""


def _is_one_of(value: object, settled: tuple[object, ...]) -> bool:
    """Equality by type too: the number 0 is no ``false``."""
    return any(type(value) is type(one) and value == one for one in settled)
