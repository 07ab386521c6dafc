"""What the event socket tells of the state: one call joined, and the sessions there are."""

from __future__ import annotations

from typing import Any, Final

from latch_contracts.connectors import CONNECTORS
from latch_contracts.facts import Operation
from latch_contracts.wire import VERSION, CallView
from latchd.chains.catalogue import CHAINS, MOST_EVENTS, Step
from latchd.keys import Keys, shown
from latchd.redact import shown_id
from latchd.store.store import CallRow, Store

_SESSIONS = 1000  # the most that one answer holds; 0 asks for as many
_OPERATIONS = tuple(Operation)
_LONGEST_ID: Final = 512  # bytes; no connector joins by a longer one
# Ids come from models: one may be used without end, and an answer has to fit into a frame.
_SHOWN: Final = 256


def operation_mask(operations: frozenset[Operation]) -> int:
    """The operations as bits, in the order the vocabulary lists them; it is only ever appended to."""
    return sum(1 << index for index, operation in enumerate(_OPERATIONS) if operation in operations)


def operations_of(mask: int) -> list[str]:
    return [operation.value for index, operation in enumerate(_OPERATIONS) if mask >> index & 1]


def show(store: Store, keys: Keys, call_id: str) -> CallView:
    """The rows and the newest records under this call id, whatever agent and session; empty when none."""
    if len(call_id.encode("utf-8")) > _LONGEST_ID:
        return CallView(VERSION, shown_id(call_id), [], [])
    names = [keys.call_name(connector, call_id) for connector in CONNECTORS]
    rows = [row for name in names for row in store.calls_named(name, _SHOWN)]
    records = [record for name in names for record in store.records_named(name, _SHOWN)]
    records = sorted(records, key=lambda record: record.seq)[-_SHOWN:]
    return CallView(VERSION, call_id, [_state(store, row) for row in rows], records)


def sessions(store: Store, limit: int) -> list[dict[str, Any]]:
    """The latest sessions with their counts; ``session_key`` joins them to records."""
    return [
        {
            "session_key": shown(row.session),
            "connector": row.connector,
            "first_ms": row.first_ms,
            "last_ms": row.last_ms,
            "last_seq": row.last_seq,
            "closed_seq": row.closed_seq,
            "counts": counts,
            "chains": _begun(store, row.session),
        }
        for row, counts in store.sessions(min(limit, _SESSIONS) if limit > 0 else _SESSIONS)
    ]


def _begun(store: Store, session: bytes) -> list[str]:
    """The chains whose first step the session has proven in its open window, whatever its age."""
    seen = Step(0)
    for event in store.chain_events(session, None, MOST_EVENTS):
        seen |= Step(event.detection)
    return [chain.id for chain in CHAINS if seen & chain.first]


def _state(store: Store, row: CallRow) -> dict[str, Any]:
    return {
        "session_key": shown(row.session),
        "call_key": shown(row.call),
        "state": row.state.value,
        "action": row.action.value,
        "rule": row.rule,
        "operations": operations_of(row.operations),
        "opened_seq": row.opened_seq,
        "opened_ms": row.opened.wall_ms,
        "closed_seq": row.closed_seq,
        "step": store.step_of(row.session, row.call),
    }
