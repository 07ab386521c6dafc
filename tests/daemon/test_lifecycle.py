"""The transition table, driven directly over every pair there is."""

from __future__ import annotations

import itertools

import pytest

from latch_contracts.outcome import Outcome, State
from latchd.lifecycle import (
    OUTCOME_SIGNALS,
    TRANSITIONS,
    Signal,
    after,
    edges,
    is_final,
    promotes,
)

PAIRS = list(itertools.product(State, Signal))


def test_every_state_is_a_key() -> None:
    assert set(TRANSITIONS) == set(State)


@pytest.mark.parametrize(("state", "signal"), PAIRS, ids=lambda value: value.value)
def test_every_pair_moves_as_the_table_says_or_not_at_all(state: State, signal: Signal) -> None:
    expected = TRANSITIONS[state].get(signal, state)

    assert after(state, signal) is expected


@pytest.mark.parametrize("state", [state for state in State if state is not State.PENDING])
def test_a_final_state_is_never_left(state: State) -> None:
    assert is_final(state)
    assert {after(state, signal) for signal in Signal} == {state}


def test_only_proof_of_success_promotes_and_only_from_pending() -> None:
    promoting = [(state, signal) for state, signal in PAIRS if promotes(state, signal)]

    assert promoting == [(State.PENDING, Signal.SUCCEEDED)]
    assert [edge for edge in edges() if edge[2] is State.SUCCEEDED] == [
        (State.PENDING, Signal.SUCCEEDED, State.SUCCEEDED)
    ]


def test_every_signal_ends_a_pending_call() -> None:
    assert set(TRANSITIONS[State.PENDING]) == set(Signal)
    assert all(is_final(target) for target in TRANSITIONS[State.PENDING].values())


def test_every_outcome_has_its_signal_and_only_success_signals_success() -> None:
    assert set(OUTCOME_SIGNALS) == set(Outcome)
    assert [outcome for outcome, signal in OUTCOME_SIGNALS.items() if signal is Signal.SUCCEEDED] == [
        Outcome.SUCCEEDED
    ]
