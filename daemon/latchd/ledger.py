"""What the ledger does with an event, given the row that is there: pure decisions, no I/O.

A proposal may open a row (:func:`admit`); a result may close one (:func:`settle`). Both are told
everything and change nothing: the engine carries their answers out in its one transaction.
"""

from __future__ import annotations

import enum

import msgspec

from latch_contracts.outcome import Outcome, State
from latch_contracts.verdict import Action
from latchd.lifecycle import OUTCOME_SIGNALS, Signal, is_final
from latchd.store.late_results import is_known
from latchd.store.rows import CallRow
from latchd.windows import Instant, is_expired


class Admission(enum.Enum):
    """How a proposal meets the row of its id."""

    UNPAIRED = "unpaired"  # nothing to join by: judged, never a row
    OPEN = "open"  # a new id: the verdict opens its row
    REPLAY = "replay"  # the same event again: the same answer, nothing new
    CONFLICT = "conflict"  # other content under an id that is open: the id is poisoned
    REUSED = "reused"  # other content under an id that is closed: judged alone, never promoted
    LATE = "late"  # a new id under a turn that is over: judged alone, never promoted


def admit(row: CallRow | None, fingerprint: bytes, *, pairable: bool, late: bool = False) -> Admission:
    """``pairable``: contract, version and call id all allow a join. ``fingerprint`` is keyed.

    ``late``: the turn that the proposal names has ended.
    """
    if not pairable:
        return Admission.UNPAIRED
    if row is None:
        return Admission.LATE if late else Admission.OPEN
    if row.fingerprint == fingerprint:
        return Admission.REPLAY
    return Admission.REUSED if is_final(row.state) else Admission.CONFLICT


ADMISSION_NOTES = {
    Admission.CONFLICT: "its id already names another open call; neither can be promoted",
    Admission.REUSED: "its id already named another call; this one can't be promoted",
    Admission.LATE: "its turn is over; it can't be promoted",
}


class Settlement(msgspec.Struct, frozen=True):
    """What a result does. ``signal`` None = nothing; ``replay``: this very result was settled before.

    ``why`` says in words why nothing is promoted; ``alarm`` is a closed code for what should not happen.
    """

    signal: Signal | None
    why: str = ""
    alarm: str = ""
    replay: bool = False


def settle(
    row: CallRow | None,
    outcome: Outcome,
    *,
    why: str,
    result: bytes,
    input_digest: bytes,
    policy: bytes,
    now: Instant,
    window_ms: int,
) -> Settlement:
    """Judge one result against its call's row. Digests are keyed; ``why`` is the contract's own doubt.

    INVARIANT (only proof promotes): SUCCEEDED is signalled only for a pending row, inside its
    window, under the policy that judged it, for the input that was judged.
    """
    if row is None:
        return Settlement(None, "no proposal is known under this id")
    if is_known(row, result):
        return Settlement(None, replay=True)
    if row.state is State.DENIED:
        ran = outcome in (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CANCELLED, Outcome.UNKNOWN)
        return Settlement(
            None,
            "the call had been denied",
            "denied-call-executed" if ran and row.action is Action.DENY else "",
        )
    if is_final(row.state):
        return Settlement(None, f"the call was already {row.state.value}")
    if is_expired(row.opened, now, window_ms):
        return Settlement(Signal.EXPIRED, "its window had passed")
    if row.policy != policy:
        return Settlement(Signal.EXPIRED, "policy, contract or agent version changed since it was judged")
    if row.input != input_digest:
        return Settlement(Signal.UNKNOWN, "what ran is not what was judged", "rewritten-input")
    return Settlement(OUTCOME_SIGNALS[outcome], "" if outcome is Outcome.SUCCEEDED else why)
