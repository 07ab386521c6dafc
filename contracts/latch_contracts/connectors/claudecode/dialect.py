"""A verdict in the words and exit codes that Claude Code obeys, and silence everywhere else.

Measured on 2.1.332: the JSON on exit 0, and exit 2 whatever is on stdout, each refuse a call alone; together
they survive a change of either. What does not refuse: another ``hookEventName`` in the JSON, text
around the JSON, exit 1, ``continue: false``. ``systemMessage`` beside a refusal of PreToolUse is shown
to the person and is in no request to the model, with either exit code; it is in the transcript file.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from latch_contracts.connectors.connector import SILENCE, Rendered
from latch_contracts.contract import Event, Kind, parse_version
from latch_contracts.verdict import Action, Verdict

# Before this, exit 2 did not block when JSON on stdout failed that version's validation.
EXIT_2_WITH_JSON: Final = (2, 1, 214)

MAX_REASON: Final = 4000  # characters; over 50,000 Claude Code moves hook output to a file

_BLOCK: Final = 2
_SHOWN: Final = "PreToolUse"  # the event of which it is known who reads what stands beside its refusal


def silence() -> Rendered:
    """Exit 0 and nothing said: the agent goes its own way."""
    return SILENCE


def render(event: Event | None, verdict: Verdict, agent_version: str) -> Rendered:
    """The answer to one event. ``event`` None is a proposal whose name could not be read.

    An allow is silence, never the agent's own ``allow``: that one would skip the person's prompt.
    """
    if verdict.action is Action.ALLOW:
        return SILENCE
    reason = printable_reason(verdict)
    if event is None:  # nothing can be asked about a call that can't be read
        return _deny("PreToolUse", reason, agent_version)
    match event.kind:
        case Kind.PROPOSAL:
            if verdict.action is Action.ASK:
                return Rendered(0, _decision(event.name, Action.ASK, reason), b"")
            aside = _aside(verdict) if event.name == _SHOWN else ""
            return _deny(event.name, reason, agent_version, aside)
        case Kind.PERMISSION:
            if verdict.action is Action.ASK:
                return SILENCE  # the agent is about to ask the person: that is the question
            return Rendered(0, _permission(event.name, reason), b"")
        case Kind.CONFIG_CHANGE:
            return Rendered(_BLOCK, b"", _line(reason))
        case _:
            return SILENCE


def printable_reason(verdict: Verdict) -> str:
    """The verdict's reason as it can be shown: never empty, no controls but line ends and tabs."""
    shown = "".join(_printable(character) for character in verdict.reason[:MAX_REASON]).strip()
    if shown:
        return f"{shown} …" if len(verdict.reason) > MAX_REASON else shown
    return f"refused by latchd (rule {verdict.rule})" if verdict.rule else "refused by latchd"


def _printable(character: str) -> str:
    if character in "\n\t":
        return character
    controls = character < " " or "\x7f" <= character <= "\x9f"
    return "\ufffd" if controls or "\ud800" <= character <= "\udfff" else character


def _aside(verdict: Verdict) -> str:
    """What the person alone is told of a refusal, "" for one that has no way around it."""
    if not verdict.code:
        return ""
    return f"latchd: `latchctl allow {verdict.code}` in your own terminal lets this call pass once."


def _deny(event: str, reason: str, agent_version: str, aside: str = "") -> Rendered:
    version = parse_version(agent_version)
    stdout = _decision(event, Action.DENY, reason, aside)
    if version is not None and version < EXIT_2_WITH_JSON:
        return Rendered(0, stdout, b"")
    return Rendered(_BLOCK, stdout, _line(reason))


def _decision(event: str, action: Action, reason: str, aside: str = "") -> bytes:
    return _output(
        {"hookEventName": event, "permissionDecision": action.value, "permissionDecisionReason": reason},
        **({"systemMessage": aside} if aside else {}),
    )


def _permission(event: str, reason: str) -> bytes:
    # Exit 2 does not refuse here; the decision does, unless the person answered first.
    return _output({"hookEventName": event, "decision": {"behavior": "deny", "message": reason}})


def _output(specific: dict[str, Any], **more: str) -> bytes:
    return msgspec.json.encode({"hookSpecificOutput": specific, **more})


def _line(reason: str) -> bytes:
    return reason.encode("utf-8") + b"\n"
