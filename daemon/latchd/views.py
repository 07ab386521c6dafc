"""What the event socket tells of the state: one call joined, and the sessions there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from latch_contracts.connectors import CONNECTORS
from latch_contracts.facts import Operation
from latch_contracts.wire import VERSION, CallView, SessionView
from latchd.chains.catalogue import CHAINS, MOST_EVENTS, Step
from latchd.chains.matching import Past, progress
from latchd.keys import Keys, shown
from latchd.redact import shown_id
from latchd.store import listing, taints
from latchd.store.rows import CallRow, SessionRow
from latchd.store.store import Store
from latchd.windows import Instant, age_ms

_SESSIONS = 1000  # the most that one answer holds; 0 asks for as many
_OPERATIONS = tuple(Operation)
_LONGEST_ID: Final = 512  # bytes; no connector joins by a longer one
# Ids come from models: one may be used without end, and an answer has to fit into a frame.
_SHOWN: Final = 256
_SORTED: Final = 4096  # calls of a session that are worth sorting to find its newest


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
    rows = [row for name in names for row in listing.calls_named(store.database, name, _SHOWN)]
    records = [record for name in names for record in store.records_named(name, _SHOWN)]
    records = sorted(records, key=lambda record: record.seq)[-_SHOWN:]
    return CallView(VERSION, call_id, [_state(store, row) for row in rows], records)


def sessions(store: Store, limit: int) -> list[dict[str, Any]]:
    """The latest sessions with their counts; ``session_key`` joins them to records."""
    limit = min(limit, _SESSIONS) if limit > 0 else _SESSIONS
    return [_session(row, counts) for row, counts in listing.sessions(store.database, limit)]


def session(store: Store, keys: Keys, name: str, limit: int, now: Instant) -> SessionView:
    """One session, by its id as the agent gave it or by what its key begins with."""
    found = _sessions_of(store, keys, name)
    if len(found) != 1:
        return SessionView(VERSION, len(found))
    row, counts = found[0]
    many = sum(counts.values()) > _SORTED
    calls = listing.calls_of(store.database, row, max(1, min(limit, _SHOWN)), many=many)
    return SessionView(
        VERSION,
        1,
        _session(row, counts),
        [_state(store, call) | {"age_ms": age_ms(call.opened, now)} for call in calls],
        list(_progress(store, row, now)),
        taints.count(store.database, row.session),
    )


def _sessions_of(store: Store, keys: Keys, name: str) -> list[tuple[SessionRow, dict[str, int]]]:
    if not name or len(name.encode("utf-8", "replace")) > _LONGEST_ID:
        return []
    for connector in CONNECTORS:
        if found := listing.sessions_like(store.database, keys.session(connector, name), None):
            return found
    if len(name) > 64 or not set(name) <= set("0123456789abcdef"):
        return []
    return listing.sessions_like(
        store.database,
        bytes.fromhex(name[: len(name) // 2 * 2]),
        int(name[-1], 16) if len(name) % 2 else None,
    )


def _session(row: SessionRow, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "session_key": shown(row.session),
        "connector": row.connector,
        "first_ms": row.first_ms,
        "last_ms": row.last_ms,
        "last_seq": row.last_seq,
        "closed_seq": row.closed_seq,
        "counts": counts,
        # whose first step it has proven in its open window, whatever the step's age
        "chains": [chain.id for chain in CHAINS if Step(row.begun) & chain.first],
    }


def _progress(store: Store, row: SessionRow, now: Instant) -> Iterator[dict[str, Any]]:
    """The chains that a call of now could complete, judged as the session's latest step was."""
    events = store.chain_events(row.session, None, MOST_EVENTS)
    events = [event for event in events if event.policy == events[-1].policy]
    history = [Past(one.seq, Step(one.detection), Step(one.enforcement), one.at) for one in events]
    for begun in progress(history, now):
        yield {
            "chain": begun.chain.id,
            "step": begun.past.seq,
            "exact": begun.exact,
            "age_ms": age_ms(begun.past.at, now),
            "window_ms": begun.chain.window_ms,
            "events_left": begun.events_left,
        }


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
