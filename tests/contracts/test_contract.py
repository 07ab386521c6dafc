"""The self-check of contracts finds each way to be wrong, and versions are judged as ranges say."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.contract import (
    STATE_TRANSITIONS,
    STATE_TRANSITIONS_REVISION,
    Authority,
    Compatibility,
    Contract,
    Event,
    Kind,
    Level,
    Route,
    StateTransition,
    Surface,
    Tool,
    Versions,
    faults,
    parse_version,
)

PRE: Final = Event("Pre", Route.ACTION, Kind.PROPOSAL, blockable=True)
POST: Final = Event("Post", Route.RESULT, Kind.RESULT)
END: Final = Event("End", Route.AUDIT, Kind.TURN_END, cutoff="turn")

SOUND: Final = Contract(
    connector="example",
    contract_id="example-hooks-v1",
    revision=1,
    versions=Versions(minimum=(1, 2, 0), below=(2,)),
    level=Level.PAIRED,
    authority=Authority.PAIRED_ID,
    events=(PRE, POST, END),
    tools=(Tool("Sh", Surface.SHELL, command="command"),),
    session_field="session",
    call_id_field="call",
    outcome_authority=True,
)


def _with(**changes: Any) -> Contract:
    return msgspec.structs.replace(SOUND, **changes)


def test_a_sound_contract_has_no_fault() -> None:
    assert list(faults(SOUND)) == []


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (
            _with(events=(PRE, POST, END, Event("Pre", Route.AUDIT, Kind.AUDIT))),
            "event Pre is on 2 routes",
        ),
        (
            _with(events=(PRE, POST, Event("Late", Route.AUDIT, Kind.PROPOSAL))),
            "proposal Late is not on the action or direct route",
        ),
        (
            _with(events=(PRE, POST, Event("Odd", Route.ACTION, Kind.AUDIT))),
            "Odd is on the action route and no proposal",
        ),
        (
            _with(events=(PRE, POST, Event("Ask", Route.ACTION, Kind.PERMISSION))),
            "Ask is on the action route and no proposal",
        ),
        (
            _with(events=(PRE, Event("Post", Route.AUDIT, Kind.RESULT))),
            "outcome Post is not on the result route",
        ),
        (
            _with(events=(PRE, POST, Event("No", Route.AUDIT, Kind.DENIAL))),
            "outcome No is not on the result route",
        ),
        (
            _with(events=(PRE, Event("Post", Route.RESULT, Kind.RESULT, cutoff="turn"))),
            "cutoff Post is not on the audit route",
        ),
        (
            _with(events=(PRE, POST, Event("End", Route.AUDIT, Kind.TURN_END, cutoff="day"))),
            "cutoff End is neither turn nor session",
        ),
        (
            _with(events=(PRE, POST, Event("Safe", Route.TRANSITION, Kind.AUDIT))),
            "Safe is on the transition route, which is closed",
        ),
        (
            _with(level=Level.DETECTION, outcome_authority=False),
            "Post claims an outcome that the contract has no authority for",
        ),
        (
            _with(events=(PRE, END), outcome_authority=False),
            "paired outcomes need a paired id and outcome authority",
        ),
        (
            _with(authority=Authority.SEQUENCE),
            "paired outcomes need a paired id and outcome authority",
        ),
        (
            _with(authority=Authority.NONE),
            "paired outcomes need a paired id and outcome authority",
        ),
        (_with(call_id_field=""), "a paired id needs the field that carries it"),
        (
            _with(state_transitions=(StateTransition("Safe", 1),)),
            "the state-transition list must be empty",
        ),
        (_with(tools=SOUND.tools * 2), "tool Sh is listed 2 times"),
    ],
)
def test_a_broken_contract_is_told_what_is_wrong_with_it(broken: Contract, fault: str) -> None:
    assert list(faults(broken)) == [fault]


@pytest.mark.parametrize("kind", list(Kind))
def test_no_kind_of_event_enters_the_transition_route(kind: Kind) -> None:
    broken = _with(events=(PRE, POST, Event("Safe", Route.TRANSITION, kind)))

    assert "Safe is on the transition route, which is closed" in list(faults(broken))


def test_the_list_of_state_transitions_is_versioned_and_empty() -> None:
    assert (STATE_TRANSITIONS_REVISION, STATE_TRANSITIONS) == (1, ())


def test_events_and_tools_are_found_by_their_exact_name() -> None:
    assert (SOUND.event("Pre"), SOUND.event("pre"), SOUND.event("")) == (PRE, None, None)
    assert (SOUND.tool("Sh"), SOUND.tool("sh")) == (SOUND.tools[0], None)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.332 (Claude Code)", (2, 1, 332)),
        ("v1.2", (1, 2)),
        ("agent version 3", (3,)),
        ("codex-cli 0.145.0-alpha.1", (0, 145, 0)),
        ("1.2.3+build5", (1, 2, 3)),
        ("1.2.3.4", (1, 2, 3)),
        ("1.x", (1,)),
        ("9999999999.1", None),
        ("", None),
        ("none", None),
        ("²", None),
        (".1", None),
    ],
)
def test_the_first_dotted_number_of_a_text_is_its_version(text: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("text", "compatibility"),
    [
        ("", Compatibility.UNVERSIONED),
        ("1.2.0", Compatibility.KNOWN),
        ("1.99.1 (x)", Compatibility.KNOWN),
        ("1.1.9", Compatibility.UNKNOWN),
        ("2.0.0", Compatibility.UNKNOWN),
        ("2", Compatibility.UNKNOWN),
        ("nonsense", Compatibility.UNKNOWN),
        (" ", Compatibility.UNKNOWN),
    ],
)
def test_a_version_is_known_only_inside_the_reviewed_range(text: str, compatibility: Compatibility) -> None:
    assert SOUND.compatibility(text) is compatibility


@given(text=st.text(max_size=30))
def test_no_version_text_raises(text: str) -> None:
    assert SOUND.compatibility(text) in Compatibility


def test_any_change_of_a_contract_changes_the_bytes_that_bind_a_pending_call() -> None:
    others = [
        _with(revision=2),
        _with(events=(PRE, POST)),
        _with(tools=(Tool("Sh", Surface.SHELL, command="cmd"),)),
        _with(native_ask=True),
    ]

    assert len({contract.fingerprint_source() for contract in (SOUND, *others)}) == 5
    assert SOUND.fingerprint_source() == _with().fingerprint_source()
    unsorted = _with(tools=(Tool("Sh", Surface.SHELL, benign=frozenset("abcdefgh")),))
    turned = _with(tools=(Tool("Sh", Surface.SHELL, benign=frozenset("hgfedcba")),))
    assert unsorted.fingerprint_source() == turned.fingerprint_source()
