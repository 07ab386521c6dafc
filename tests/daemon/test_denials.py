"""A refusal is given again as it was, whatever becomes of its row, its session, the rules or the mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import foreign
from engine_bench import Bench, only
from latch_contracts.records import DenialRecord, VerdictRecord
from latch_contracts.verdict import Action
from latchd.hook_calls import Handled
from latchd.policy import parse
from latchd.store.bounds import Bounds

DESTROY = "rm -rf ~"
DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


def evict(bench: Bench, *tables: str) -> None:
    """What bounds would take, taken at once."""
    bench.engine.close()
    foreign.execute(bench.places.database, *(f"DELETE FROM {table}" for table in tables))
    bench.engine = bench.open()


def deliveries(bench: Bench) -> list[int]:
    rows = foreign.query(bench.places.database, "SELECT deliveries FROM denials ORDER BY seq")
    return [int(row[0]) for row in rows]


def observe(bench: Bench) -> None:
    bench.engine.adopt(parse(b'profile = "observe"'))


CHANGES: dict[str, Callable[[Bench], object]] = {
    "restart": lambda bench: bench.restart(),
    "another rule set": lambda bench: bench.engine.adopt(parse(b'protected = ["zz"]')),
    "the mode that only observes": observe,
    "the turn's end": lambda bench: bench.send("Stop"),
    "the session's end": lambda bench: bench.send("SessionEnd", reason="other"),
    "eviction of the call": lambda bench: evict(bench, "calls"),
    "eviction of call and session": lambda bench: evict(bench, "calls", "sessions", "turns"),
    "six days": lambda bench: bench.clock.advance_ms(6 * DAY_MS),
    "a clock set back": lambda bench: bench.clock.step_wall_ms(-400 * DAY_MS),
    "a clock set forward": lambda bench: bench.clock.step_wall_ms(400 * DAY_MS),
    "a sweep": lambda bench: bench.engine.expire(),
}


def words(handled: Handled) -> tuple[int, bytes]:
    """What the agent is told. The code for the person goes with its own time, so stdout may differ."""
    return handled.reply.exit_code, handled.reply.stderr


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_same_refusal_again_whatever_happened_between(
    bench: Bench, change: Callable[[Bench], object]
) -> None:
    first = bench.pre(DESTROY)
    change(bench)

    again = bench.pre(DESTROY)

    assert (words(again), again.records) == (words(first), [])
    assert deliveries(bench) == [2]


def test_all_of_it_at_once(bench: Bench) -> None:
    first = bench.pre(DESTROY)
    bench.send("SessionEnd", reason="other")
    evict(bench, "calls", "sessions")
    observe(bench)

    assert words(bench.pre(DESTROY)) == words(first)
    assert bench.states() == []


def test_words_that_are_no_longer_kept_are_replaced_and_the_rule_stays(bench: Bench) -> None:
    bench.pre(DESTROY)
    evict(bench, "calls", "records")
    observe(bench)

    again = bench.pre(DESTROY)

    assert again.reply.exit_code == 2
    assert again.reply.stderr == (
        b"[fs.delete-root-or-home]: this very call was answered before, and the answer stands.\n"
    )


def test_each_delivery_is_counted_and_only_the_first_is_recorded(bench: Bench) -> None:
    handled = [bench.pre(DESTROY) for _ in range(8)]

    assert [len(one.records) for one in handled] == [2, 0, 0, 0, 0, 0, 0, 0]
    assert len({one.reply for one in handled}) == 1
    assert deliveries(bench) == [8]


def test_a_refusal_under_anothers_id_is_given_again_too(bench: Bench) -> None:
    bench.pre("git status")
    bench.post("git status")
    first = bench.pre(DESTROY)
    observe(bench)

    assert words(bench.pre(DESTROY)) == words(first)
    assert bench.states() == [("succeeded", True)]


def test_a_refusal_that_meets_an_open_call_of_other_content_still_poisons_it(bench: Bench) -> None:
    bench.pre(DESTROY)
    evict(bench, "calls")
    bench.pre("git status")

    handled = bench.pre(DESTROY)

    assert (handled.reply.exit_code, bench.states()) == (2, [("poisoned", False)])
    assert "neither can be promoted" in only(handled, VerdictRecord).note


def test_a_refused_call_never_becomes_a_step_though_its_row_is_gone(bench: Bench) -> None:
    bench.pre(DESTROY)
    evict(bench, "calls")
    bench.pre(DESTROY)
    bench.post(DESTROY)

    assert bench.states() == []
    assert foreign.query(bench.places.database, "SELECT count(*) FROM steps") == [[0]]


def test_other_content_another_session_and_another_agent_are_other_calls(bench: Bench) -> None:
    bench.pre(DESTROY)
    observe(bench)

    assert bench.pre("rm -rf /").reply.exit_code == 0
    assert bench.pre(DESTROY, session_id="s2").reply.exit_code == 0
    assert bench.pre(DESTROY, agent_id="a1").reply.exit_code == 0


def test_after_its_time_the_rules_of_then_judge_it(bench: Bench) -> None:
    bench.pre(DESTROY)
    evict(bench, "calls")
    observe(bench)
    bench.clock.advance_ms(7 * DAY_MS)

    assert bench.pre(DESTROY).reply.exit_code == 0


def test_what_was_only_observed_is_refused_once_the_mode_acts_and_from_then_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, b'profile = "observe"')
    bench.pre(DESTROY)
    bench.engine.adopt(parse(b""))
    refused, again = bench.pre(DESTROY), bench.pre(DESTROY)
    observe(bench)
    still = bench.pre(DESTROY)
    bench.engine.close()

    assert [type(record) for record in refused.records] == [VerdictRecord, DenialRecord]
    assert (again.records, still.records) == ([], [])
    assert [one.reply.exit_code for one in (refused, again, still)] == [2, 2, 2]


def test_a_refusal_that_can_not_be_counted_is_still_given(bench: Bench) -> None:
    first = bench.pre(DESTROY)
    evict(bench, "calls")
    with foreign.holding(bench.places.database):
        again = bench.pre(DESTROY)

    assert again.reply.exit_code == first.reply.exit_code == 2


def test_a_chains_refusal_is_given_again_when_its_predecessor_and_its_row_are_gone(bench: Bench) -> None:
    bench.pre("sudo -l", call="c0")
    bench.post("sudo -l", call="c0")
    first = bench.pre("sudo -i")
    evict(bench, "calls", "chain_events", "steps")

    assert words(bench.pre("sudo -i")) == words(first)


def test_refusals_are_bounded_and_the_oldest_give_way(bench: Bench) -> None:
    for number in range(5):
        bench.pre(DESTROY, call=f"c{number}")
    store = bench.store
    with store.database.transaction():
        store.prune(Bounds(denials=2), 0)

    rows = foreign.query(bench.places.database, "SELECT seq FROM denials ORDER BY seq")
    assert rows == [[7], [9]]


def test_a_probe_leaves_no_refusal_behind(bench: Bench) -> None:
    bench.pre(DESTROY, probe=True)
    observe(bench)

    assert bench.pre(DESTROY).reply.exit_code == 0
    assert only(bench.pre(DESTROY, call="c2"), VerdictRecord).action is Action.ALLOW
