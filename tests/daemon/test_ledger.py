"""What the ledger decides, given the row that is there."""

from __future__ import annotations

import msgspec
import pytest

from latch_contracts.outcome import Outcome, State
from latch_contracts.verdict import Action
from latchd.ledger import Admission, Settlement, admit, settle
from latchd.lifecycle import Signal
from latchd.store.rows import CallRow
from latchd.windows import Instant

A, B, C = (bytes([n]) * 32 for n in (1, 2, 3))
NOW = Instant(bytes(16), 10**9, 1_000)
ROW = CallRow(
    session=A,
    call=A,
    agent=b"",
    state=State.PENDING,
    fingerprint=A,
    input=A,
    policy=A,
    action=Action.ALLOW,
    rule="",
    operations=0,
    opened=Instant(bytes(16), 0, 0),
    opened_seq=1,
)


def state(state: State, **changes: object) -> CallRow:
    return msgspec.structs.replace(ROW, state=state, **changes)


def settled(row: CallRow | None, outcome: Outcome, **changes: object) -> Settlement:
    told = {
        "why": "the contract's doubt",
        "result": B,
        "input_digest": A,
        "policy": A,
        "now": NOW,
        "window_ms": 60_000,
    } | changes
    return settle(row, outcome, **told)  # type: ignore[arg-type]  # a test's keyword table


def test_a_new_id_opens_a_row() -> None:
    assert admit(None, A, pairable=True) is Admission.OPEN


def test_without_a_join_nothing_is_opened_whatever_is_there() -> None:
    assert admit(None, A, pairable=False) is Admission.UNPAIRED
    assert admit(ROW, B, pairable=False) is Admission.UNPAIRED


@pytest.mark.parametrize("known", State)
def test_the_same_event_again_is_a_replay_in_every_state(known: State) -> None:
    assert admit(state(known), A, pairable=True) is Admission.REPLAY


def test_other_content_under_an_open_id_conflicts() -> None:
    assert admit(ROW, B, pairable=True) is Admission.CONFLICT


@pytest.mark.parametrize("known", [one for one in State if one is not State.PENDING])
def test_other_content_under_a_closed_id_is_a_reuse(known: State) -> None:
    assert admit(state(known), B, pairable=True) is Admission.REUSED


def test_success_of_a_pending_call_is_signalled() -> None:
    assert settled(ROW, Outcome.SUCCEEDED) == Settlement(Signal.SUCCEEDED)


@pytest.mark.parametrize(
    ("outcome", "signal"),
    [
        (Outcome.FAILED, Signal.FAILED),
        (Outcome.CANCELLED, Signal.CANCELLED),
        (Outcome.DENIED, Signal.DENIED),
        (Outcome.UNKNOWN, Signal.UNKNOWN),
    ],
)
def test_any_other_outcome_is_signalled_with_its_doubt(outcome: Outcome, signal: Signal) -> None:
    assert settled(ROW, outcome) == Settlement(signal, "the contract's doubt")


def test_a_result_without_a_proposal_changes_nothing() -> None:
    assert settled(None, Outcome.SUCCEEDED) == Settlement(None, "no proposal is known under this id")


@pytest.mark.parametrize("known", [one for one in State if one not in (State.PENDING, State.DENIED)])
def test_a_late_result_changes_nothing(known: State) -> None:
    assert settled(state(known), Outcome.SUCCEEDED) == Settlement(None, f"the call was already {known.value}")


def test_the_same_result_again_is_a_replay() -> None:
    assert settled(state(State.SUCCEEDED, result=B), Outcome.SUCCEEDED) == Settlement(None, replay=True)


def test_a_result_after_the_window_expires_the_call() -> None:
    assert settled(ROW, Outcome.SUCCEEDED, window_ms=1000) == Settlement(
        Signal.EXPIRED, "its window had passed"
    )


def test_a_result_under_another_policy_expires_the_call() -> None:
    assert settled(ROW, Outcome.SUCCEEDED, policy=C).signal is Signal.EXPIRED


@pytest.mark.parametrize("outcome", Outcome)
def test_a_result_for_other_input_proves_nothing_and_alarms(outcome: Outcome) -> None:
    assert settled(ROW, outcome, input_digest=C) == Settlement(
        Signal.UNKNOWN, "what ran is not what was judged", "rewritten-input"
    )


def test_a_result_of_a_call_we_denied_alarms_and_promotes_nothing() -> None:
    assert settled(state(State.DENIED, action=Action.DENY, rule="fs.x"), Outcome.SUCCEEDED) == Settlement(
        None, "the call had been denied", "denied-call-executed"
    )


def test_a_success_after_the_agents_own_denial_of_a_question_is_no_alarm() -> None:
    assert settled(state(State.DENIED, action=Action.ASK, rule="fs.x"), Outcome.SUCCEEDED).alarm == ""


def test_the_agents_own_denial_of_a_call_we_denied_is_no_alarm() -> None:
    assert settled(state(State.DENIED, action=Action.DENY, rule="fs.x"), Outcome.DENIED).alarm == ""
