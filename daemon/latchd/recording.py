"""Events and verdicts as records, under the user's redaction. What is masked here was never stored.

``head`` (default): ids, tool, path or a head of the command, reasons, all masked. ``none``: keyed
digests, rule ids and states only. ``full``: commands and paths whole, still masked and one line.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from latch_contracts.events import Call, HookEvent
from latch_contracts.records import NoticeRecord
from latch_contracts.verdict import Finding, Verdict
from latchd.keys import Keys, shown
from latchd.redact import head, shown_id
from latchd.text.detection import Noticed

_REASON_BYTES: Final = 600
_FULL_BYTES: Final = 4096


class Identity(msgspec.Struct, frozen=True):
    """The keyed digests of one event: session, its agent, its call and the call id alone."""

    session: bytes
    agent: bytes
    call: bytes
    name: bytes


def identify(keys: Keys, event: HookEvent) -> Identity:
    connector, session = event.connector, event.session
    call_id = event.call.id if event.call is not None else ""
    return Identity(
        session=keys.session(connector, session),
        agent=keys.agent(connector, session, event.agent),
        call=keys.call(connector, session, event.agent, call_id) if call_id else b"",
        name=keys.call_name(connector, call_id) if call_id else b"",
    )


def common(event: HookEvent, identity: Identity, redaction: str, at_ms: int) -> dict[str, Any]:
    """The fields that every record of an event carries."""
    session_key, call_key = shown(identity.session), shown(identity.call)
    clear = redaction != "none"
    return {
        "at_ms": at_ms,
        "connector": event.connector,
        "event": event.event.name,
        "session": shown_id(event.session) if clear else session_key,
        "agent": shown_id(event.agent) if clear else shown(identity.agent),
        "call": (shown_id(event.call.id) if event.call is not None else "") if clear else call_key,
        "session_key": session_key,
        "call_key": call_key,
    }


def subject_head(call: Call, redaction: str) -> str:
    """What the call is about: its command, else its paths, else its addresses."""
    if redaction == "none":
        return ""
    text = call.command if call.command is not None else " ".join((*call.paths, *call.urls))
    return head(text, _FULL_BYTES) if redaction == "full" else head(text)


def tool_name(call: Call, redaction: str) -> str:
    """The agent's tool name; it comes from the model, so with ``none`` only the family is kept."""
    return call.surface.value if redaction == "none" else shown_id(call.tool)


def notice(
    event: HookEvent, identity: Identity, noticed: Noticed, redaction: str, at_ms: int
) -> NoticeRecord:
    """What an event's texts hold. Rules, surfaces and ranges are nobody's words: redaction takes none."""
    return NoticeRecord(
        **common(event, identity, redaction, at_ms),
        tool=tool_name(event.call, redaction) if event.call is not None else "",
        findings=noticed.findings,
        examined=noticed.examined,
        unexamined=noticed.unexamined,
    )


def reason(verdict: Verdict, redaction: str) -> str:
    return "" if redaction == "none" else head(verdict.reason, _REASON_BYTES)


def findings(verdict: Verdict, redaction: str) -> tuple[Finding, ...]:
    """Findings and notes with masked texts; with ``none`` only their rules, groups and dispositions."""
    told = (*verdict.findings, *verdict.notes)
    if redaction == "none":
        return tuple(msgspec.structs.replace(one, reason="", target="") for one in told)
    return tuple(
        msgspec.structs.replace(one, reason=head(one.reason, _REASON_BYTES), target=head(one.target))
        for one in told
    )
