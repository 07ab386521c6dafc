"""A result that comes when its call is over: it promotes nothing, is told once, and never again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from engine_bench import OK, Bench, only
from latch_contracts.records import OutcomeRecord, Record
from latchd.policy import parse
from latchd.store import late_results

WINDOW_MS: Final = 30 * 60_000


def expire_by_a_sweep(bench: Bench) -> None:
    bench.pre()
    bench.clock.advance_ms(WINDOW_MS)
    bench.engine.expire()


def expire_by_a_result(bench: Bench) -> None:
    bench.pre()
    bench.clock.advance_ms(WINDOW_MS)
    bench.post(tool_response=OK | {"stdout": "too late"})


def strand(bench: Bench) -> None:
    bench.pre()
    bench.config = b'protected = ["zz"]'
    bench.engine.adopt(parse(bench.config))
    bench.post(tool_response=OK | {"stdout": "under another policy"})


def poison(bench: Bench) -> None:
    bench.pre()
    bench.pre("git log")


def prove(bench: Bench) -> None:
    bench.pre()
    bench.post(tool_response=OK | {"stdout": "the first"})


def cut_by_a_new_turn(bench: Bench) -> None:
    bench.pre()
    bench.send("UserPromptSubmit", prompt="go on")
    bench.send("UserPromptSubmit", prompt="go on", prompt_id="p2")


def after(event: str, **members: Any) -> Callable[[Bench], None]:
    def run(bench: Bench) -> None:
        bench.pre()
        bench.send(event, **members)

    return run


def fail(bench: Bench) -> None:
    bench.pre()
    bench.fail()


# How a call came to its end, and the state it is in then.
ENDS: Final[dict[str, tuple[Callable[[Bench], None], str]]] = {
    "succeeded": (prove, "succeeded"),
    "failed": (fail, "failed"),
    "expired by the scheduler": (expire_by_a_sweep, "expired"),
    "expired when its first result came": (expire_by_a_result, "expired"),
    "stranded by another policy": (strand, "expired"),
    "cut by the turn's end": (after("Stop"), "cut"),
    "cut by the next turn": (cut_by_a_new_turn, "cut"),
    "cut by the session's end": (after("SessionEnd", reason="other"), "cut"),
    "closed by its batch": (after("PostToolBatch", tool_calls=[{"tool_use_id": "c1"}]), "unknown"),
    "poisoned": (poison, "poisoned"),
    "refused by us": (lambda bench: (bench.pre("rm -rf ~"), None)[1], "denied"),
}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


@pytest.mark.parametrize(("end", "state"), ENDS.values(), ids=ENDS)
def test_it_promotes_nothing_and_is_told_once_also_after_a_restart(
    bench: Bench, end: Callable[[Bench], None], state: str
) -> None:
    end(bench)
    before = bench.states()

    late = only(bench.post(), OutcomeRecord)
    known: list[list[Record]] = [bench.post().records]
    bench.restart()
    known.append(bench.post().records)
    other = only(bench.post(tool_response=OK | {"stdout": "another content"}), OutcomeRecord)
    bench.restart()
    known += [bench.post().records, bench.post(tool_response=OK | {"stdout": "another content"}).records]

    assert [one for one, _ in before] == [state]
    assert bench.states() == before
    assert known == [[], [], [], []]
    assert [(one.before, one.after, one.step) for one in (late, other)] == [(state, state, None)] * 2
    assert late.alarm == ("denied-call-executed" if state == "denied" else "")


def test_the_result_that_ended_a_call_stays_known_behind_late_ones(bench: Bench) -> None:
    bench.pre()
    bench.post()
    bench.fail()

    assert [bench.post().records, bench.fail().records] == [[], []]


def test_more_late_results_than_are_remembered_are_told_each_time_and_promote_nothing(bench: Bench) -> None:
    bench.pre()
    bench.fail()
    for number in range(late_results.MOST):
        bench.post(tool_response=OK | {"stdout": str(number)})

    first, last = (
        bench.post(tool_response=OK | {"stdout": str(number)}) for number in (0, late_results.MOST - 1)
    )

    assert first.records == []
    assert only(last, OutcomeRecord).step is None
    assert bench.states() == [("failed", False)]


def test_a_result_of_a_call_that_nobody_knows_is_told_each_time(bench: Bench) -> None:
    assert [only(bench.post(), OutcomeRecord).step for _ in range(2)] == [None, None]
    assert bench.states() == []


def test_a_redelivered_proposal_has_no_longer_window(bench: Bench) -> None:
    bench.pre()
    bench.clock.advance_ms(WINDOW_MS - 1)
    bench.pre()
    bench.clock.advance_ms(1)

    assert only(bench.post(), OutcomeRecord).step is None
    assert bench.states() == [("expired", False)]


@pytest.mark.parametrize(("end", "state"), ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("command", ["git status", "git diff"])
def test_nothing_is_opened_anew_under_an_id_that_is_spent(
    bench: Bench, end: Callable[[Bench], None], state: str, command: str
) -> None:
    end(bench)
    bench.pre(command)
    bench.post(command)

    assert bench.states() == [(state, state == "succeeded")]


@pytest.mark.parametrize("command", ["git status", "git diff"])
def test_an_open_call_whose_window_is_over_gives_its_id_to_no_other(bench: Bench, command: str) -> None:
    bench.pre()
    bench.clock.advance_ms(WINDOW_MS)
    bench.pre(command)
    bench.post(command)

    assert bench.states() == [("expired" if command == "git status" else "poisoned", False)]
