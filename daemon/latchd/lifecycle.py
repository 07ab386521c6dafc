"""The life of one call: what a proposal becomes, and on what evidence.

Everything that changes a call's state is in TRANSITIONS. No other module compares states to decide
what comes next; a pair that is not in the table changes nothing.

Theory: a call's row is opened as PENDING when its proposal was let through, or as DENIED when it
was refused. From PENDING it moves once, to a final state, and stays there: final rows are kept as
tombstones, so that a redelivered proposal or a late result meets them instead of a blank slate.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Final

from latch_contracts.outcome import Outcome, State


class Signal(enum.StrEnum):
    """What can happen to a row that exists."""

    SUCCEEDED = "succeeded"  # trusted proof of success with the exact id
    FAILED = "failed"
    CANCELLED = "cancelled"
    DENIED = "denied"  # the agent itself refused the call, typed
    UNKNOWN = "unknown"  # a result that proves nothing, or a batch that closed without one
    EXPIRED = "expired"  # the pending window ran out
    CUT = "cut"  # its turn or session ended
    CONFLICT = "conflict"  # the id came again with other content


# INVARIANT (only proof promotes): SUCCEEDED is reached from PENDING by SUCCEEDED and in no other way.
# INVARIANT (final is final): every state but PENDING has an empty row.
TRANSITIONS: Final[Mapping[State, Mapping[Signal, State]]] = {
    State.PENDING: {
        Signal.SUCCEEDED: State.SUCCEEDED,
        Signal.FAILED: State.FAILED,
        Signal.CANCELLED: State.CANCELLED,
        Signal.DENIED: State.DENIED,
        Signal.UNKNOWN: State.UNKNOWN,
        Signal.EXPIRED: State.EXPIRED,
        Signal.CUT: State.CUT,
        Signal.CONFLICT: State.POISONED,
    },
    State.SUCCEEDED: {},
    State.FAILED: {},
    State.CANCELLED: {},
    State.DENIED: {},
    State.UNKNOWN: {},
    State.EXPIRED: {},
    State.CUT: {},
    State.POISONED: {},
}

OUTCOME_SIGNALS: Final[Mapping[Outcome, Signal]] = {
    Outcome.SUCCEEDED: Signal.SUCCEEDED,
    Outcome.FAILED: Signal.FAILED,
    Outcome.CANCELLED: Signal.CANCELLED,
    Outcome.DENIED: Signal.DENIED,
    Outcome.UNKNOWN: Signal.UNKNOWN,
}


def after(state: State, signal: Signal) -> State:
    """The state that follows; the same one where the table has no such pair."""
    return TRANSITIONS[state].get(signal, state)


def promotes(state: State, signal: Signal) -> bool:
    """Whether this very transition makes a step."""
    return state is not State.SUCCEEDED and after(state, signal) is State.SUCCEEDED


def is_final(state: State) -> bool:
    return not TRANSITIONS[state]


def edges() -> Iterator[tuple[State, Signal, State]]:
    """Every transition there is, in table order; the diagram in docs/ is drawn from it."""
    for state, row in TRANSITIONS.items():
        for signal, target in row.items():
            yield state, signal, target
