"""What a payload that could not be read must be treated as, from the event names that are visible in it.

Silence is for what is certainly no proposal: one known name that nothing can be refused on, and no
sign of another. Everything else is treated as a proposal, and so is refused.
"""

from __future__ import annotations

import re
from typing import Any, Final

from latch_contracts import strict_json
from latch_contracts.connectors.claudecode.contract import CONTRACT
from latch_contracts.connectors.claudecode.payload import id_fault
from latch_contracts.contract import Event, Kind, Route
from latch_contracts.errors import BadPayload

_KEY: Final = b'"hook_event_name"'
_CLAIM: Final = re.compile(rb'"hook_event_name"\s*:\s*"([A-Za-z]{1,64})"')

_TOOL_KINDS: Final = frozenset({Kind.RESULT, Kind.DENIAL, Kind.BATCH})


def guess_event(payload: bytes, event_hint: str) -> Event | None:
    """The event that an unreadable payload certainly is, or None: treat it as a proposal. Never raises."""
    try:
        members = strict_json.loads(payload)
    except BadPayload:
        return _of_bytes(payload, event_hint)
    return _of_object(members, event_hint)


def _of_object(members: dict[str, Any], event_hint: str) -> Event | None:
    """A sound document whose fields are wrong, or whose event is of another time."""
    told = members.get("hook_event_name") or event_hint
    if not isinstance(told, str) or (event_hint and told != event_hint) or id_fault(told):
        return None
    event = CONTRACT.event(told)
    if event is not None:
        return None if event.blockable else event
    if _proposes(members):
        return None
    return Event(told, Route.AUDIT, Kind.AUDIT)  # an event younger than the contract: not ours to answer


def _proposes(members: dict[str, Any]) -> bool:
    """Names a tool and tells nothing of its end."""
    return not members.keys().isdisjoint({"tool_name", "tool_input"}) and members.keys().isdisjoint(
        {"tool_response", "error"}
    )


def _of_bytes(payload: bytes, event_hint: str) -> Event | None:
    """A broken document: the names that stand in it, wherever they do, must all say the same."""
    claims = {claim.decode("ascii") for claim in _CLAIM.findall(payload)}
    if payload.count(_KEY) != len(_CLAIM.findall(payload)):
        return None  # a name is there that can't be read
    if event_hint:
        claims.add(event_hint)
    if len(claims) != 1:
        return None
    event = CONTRACT.event(claims.pop())
    if event is None or event.blockable:
        return None
    if not event_hint and event.kind not in _TOOL_KINDS and b'"tool_input"' in payload:
        return None  # it says Stop and proposes a call: the name may be one inside the call's arguments
    return event
