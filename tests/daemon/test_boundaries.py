"""What ends a turn or a session, and what comes late after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foreign
from engine_bench import Bench, only
from latch_contracts.records import BoundaryRecord, LifecycleRecord, OutcomeRecord, VerdictRecord
from latch_contracts.verdict import Action
from latchd.store.bounds import Bounds

DISCOVER, ELEVATE = "sudo -l", "sudo -i"
ELEVATION = "chain.privilege-discovery-then-elevation"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


def prompt(bench: Bench, turn: str, **members: Any) -> None:
    bench.send("UserPromptSubmit", prompt="x", prompt_id=turn, **members)


def prove(bench: Bench, command: str, call: str, **members: Any) -> None:
    bench.pre(command, call=call, **members)
    bench.post(command, call=call, **members)


def prune(bench: Bench, **bounds: int) -> None:
    with bench.store.database.transaction():
        bench.store.prune(Bounds(**bounds), 0)


def forget_calls(bench: Bench) -> None:
    bench.engine.close()
    foreign.execute(bench.places.database, "DELETE FROM calls WHERE state <> 'pending'")
    bench.engine = bench.open()


def test_a_turns_end_cuts_its_own_session_alone_and_keeps_what_is_proven(bench: Bench) -> None:
    prove(bench, DISCOVER, "c0")
    bench.pre(call="c1")
    bench.pre(call="c1", session_id="s2")

    cut = only(bench.send("Stop"), BoundaryRecord)

    assert (cut.pending_cut, cut.steps_closed) == (1, 0)
    assert bench.states("c1") == [("cut", False), ("pending", False)]
    assert only(bench.pre(ELEVATE, call="c2"), VerdictRecord).rule == ELEVATION


def test_the_same_end_again_is_nothing(bench: Bench) -> None:
    bench.pre()
    bench.send("Stop")

    assert bench.send("Stop").records == []
    bench.send("SessionEnd", reason="other")
    assert bench.send("SessionEnd", reason="other").records == []


def test_the_end_of_a_turn_that_another_has_replaced_comes_late_and_cuts_nothing(bench: Bench) -> None:
    prompt(bench, "p1")
    prompt(bench, "p2")
    bench.pre(prompt_id="p2")

    late = only(bench.send("Stop", prompt_id="p1"), BoundaryRecord)

    assert (late.late, late.pending_cut) == (True, 0)
    assert bench.states() == [("pending", False)]


def test_a_session_end_of_a_turn_that_another_has_replaced_closes_nothing(bench: Bench) -> None:
    prompt(bench, "p1")
    bench.send("SessionEnd", reason="other")
    prompt(bench, "p2")
    prove(bench, DISCOVER, "c1", prompt_id="p2")

    late = only(bench.send("SessionEnd", reason="other"), BoundaryRecord)

    assert (late.late, late.steps_closed) == (True, 0)
    assert only(bench.pre(ELEVATE, call="c2", prompt_id="p2"), VerdictRecord).rule == ELEVATION


def test_a_prompt_of_a_turn_that_is_over_comes_late_and_cuts_nothing(bench: Bench) -> None:
    prompt(bench, "p1")
    prompt(bench, "p2")
    bench.pre(prompt_id="p2")

    handled = bench.send("UserPromptSubmit", prompt="x", prompt_id="p1")

    assert [type(record) for record in handled.records] == [LifecycleRecord]
    assert bench.states() == [("pending", False)]


def test_a_proposal_of_a_turn_that_is_over_is_judged_and_never_pending(bench: Bench) -> None:
    prompt(bench, "p1")
    prompt(bench, "p2")

    allowed, refused = bench.pre(call="c1", prompt_id="p1"), bench.pre("rm -rf ~", call="c2", prompt_id="p1")
    bench.post(call="c1", prompt_id="p1")

    record = only(allowed, VerdictRecord)
    assert (record.action, record.state, record.note) == (
        Action.ALLOW,
        None,
        "its turn is over; it can't be promoted",
    )
    assert refused.reply.exit_code == 2
    assert (bench.states("c1"), bench.states("c2")) == ([], [])


@pytest.mark.parametrize("end", ["Stop", "SessionEnd", "prompt"])
def test_a_redelivered_proposal_from_before_the_end_stays_cut(bench: Bench, end: str) -> None:
    prompt(bench, "p1")
    bench.pre()
    if end == "prompt":
        prompt(bench, "p2")
    else:
        bench.send(end)

    again = bench.pre()
    late = only(bench.post(), OutcomeRecord)

    assert (again.records, late.step) == ([], None)
    assert bench.states() == [("cut", False)]


@pytest.mark.parametrize("end", ["SessionEnd", "prompt"])
def test_it_is_recognised_by_its_turn_when_its_row_is_pruned(bench: Bench, end: str) -> None:
    prompt(bench, "p1")
    bench.pre()
    if end == "prompt":
        prompt(bench, "p2")
    else:
        bench.send(end, reason="other")
    forget_calls(bench)

    record = only(bench.pre(), VerdictRecord)
    bench.post()

    assert record.note == "its turn is over; it can't be promoted"
    assert bench.states() == []


def test_background_agents_outlive_their_turn(bench: Bench) -> None:
    prompt(bench, "p1")
    prompt(bench, "p2")
    prove(bench, "git status", "c1", agent_id="a1")

    assert bench.states() == [("succeeded", True)]


def test_a_full_catalogue_keeps_a_barrier_that_holds_the_dropped_back_and_lets_the_rest_be(
    bench: Bench,
) -> None:
    for turn in ("p1", "p2", "p3", "p4"):
        prompt(bench, turn)
    prove(bench, DISCOVER, "c1", session_id="s2")
    prove(bench, DISCOVER, "c1", prompt_id="p4")
    bench.pre(call="c2", prompt_id="p4")
    prune(bench, turns=1)

    dropped = only(bench.pre(call="c3", prompt_id="p1"), VerdictRecord)
    fresh = only(bench.pre(call="c4", prompt_id="p4"), VerdictRecord)
    bench.post(call="c2", prompt_id="p4")
    newer = only(bench.pre(call="c5", prompt_id="q", session_id="s3"), VerdictRecord)

    assert foreign.query(bench.places.database, "SELECT kind FROM barriers") == [["turn"]]
    assert dropped.state is None
    assert (fresh.state, newer.state) == ("pending", "pending")
    assert bench.states("c2") == [("succeeded", True)]
    for session, turn in (("s1", "p4"), ("s2", "p1")):
        record = only(bench.pre(ELEVATE, call="e", session_id=session, prompt_id=turn), VerdictRecord)
        assert record.rule == ELEVATION


def test_an_evicted_session_comes_back_without_what_its_end_had_closed(bench: Bench) -> None:
    prove(bench, DISCOVER, "c1")
    bench.send("SessionEnd", reason="other")
    bench.send("SessionStart", source="startup", session_id="s2")
    prune(bench, sessions=1)

    assert only(bench.pre(ELEVATE, call="c2"), VerdictRecord).action is not Action.DENY
    prove(bench, DISCOVER, "c3")
    assert only(bench.pre(ELEVATE, call="c4"), VerdictRecord).rule == ELEVATION


def test_an_evicted_end_leaves_other_sessions_their_predecessors(bench: Bench) -> None:
    bench.send("SessionEnd", reason="other", session_id="s0")
    prove(bench, DISCOVER, "c1")
    prune(bench, sessions=1)

    assert only(bench.pre(ELEVATE, call="c2"), VerdictRecord).rule == ELEVATION


def test_a_subagents_stop_ends_nothing(bench: Bench) -> None:
    bench.pre(call="c1")
    bench.pre(call="c1", agent_id="a1")
    bench.send("SubagentStop", agent_id="a1", agent_type="x")

    assert bench.states() == [("pending", False), ("pending", False)]


def test_a_background_agents_end_under_an_earlier_turn_is_not_late(bench: Bench) -> None:
    bench.send("UserPromptSubmit", prompt="x")
    bench.pre(agent_id="a1")
    bench.send("UserPromptSubmit", prompt="y", prompt_id="p2")

    end = only(bench.send("Stop", agent_id="a1"), BoundaryRecord)

    assert (end.late, end.pending_cut) == (False, 1)
