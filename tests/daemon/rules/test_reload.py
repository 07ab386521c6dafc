"""A reload under load: each call is judged by one whole generation, and none is lost."""

from __future__ import annotations

from pathlib import Path

from engine_bench import Bench, only
from latch_contracts.records import VerdictRecord
from latchd.guard.subject import Subject
from latchd.guard.walk import judge
from latchd.offline import subject_of
from latchd.policy import Policy
from latchd.rules.bundled import released
from latchd.rules.compiling import Entry
from latchd.rules.generation import Generation, with_packs
from latchd.rules.standing import RulesError, standing
from rule_cases import entries_of

ROUNDS = 200


def twins(number: int) -> list[Entry]:
    """Two rules of one generation that name it: a call that mixed generations would show two numbers."""
    return entries_of(
        {"id": f"first.g{number}", "pattern": "^deploytool", "group": "notable"},
        {"id": f"second.g{number}", "pattern": "^deploytool", "severity": "critical"},
    )


def test_each_call_sees_one_whole_generation_and_none_is_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    answered: list[tuple[str, ...]] = []
    for number in range(ROUNDS):
        if number % 2 == 0:
            bench.engine.adopt(Policy(), with_packs(released(), twins(number)))
        record = only(bench.pre("deploytool prod", f"c{number}"), VerdictRecord)
        answered.append(tuple(finding.rule for finding in record.findings))

    assert answered == [
        (f"first.g{number // 2 * 2}", f"second.g{number // 2 * 2}") for number in range(ROUNDS)
    ]


def test_a_call_under_way_while_the_rules_are_swapped_ends_with_the_rules_it_began_with() -> None:
    old, new = (with_packs(released(), twins(number)) for number in (1, 2))
    standing_now = [old]

    def begun() -> Subject:
        return subject_of({"command": "deploytool prod"}, Policy(), rules=standing_now[0])

    under_way = begun()
    standing_now[0] = new

    assert [one.rule for one in judge(under_way).findings] == ["first.g1", "second.g1"]
    assert [one.rule for one in judge(begun()).findings] == ["first.g2", "second.g2"]


def test_a_bad_candidate_between_two_calls_changes_no_answer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rules = tmp_path / "rules"
    rules.mkdir()
    good = with_packs(released(), twins(1))
    bench.engine.adopt(Policy(), good)
    before = only(bench.pre("deploytool prod", "a"), VerdictRecord)
    (rules / "bad.yaml").write_text("version: 1\ncategory: bad\nrules: [{id: bad.x}]\n")

    def read() -> Generation:
        return standing(Policy(), str(rules))

    try:
        read()
    except RulesError as error:
        told = str(error)
    else:
        raise AssertionError("the pack is not admitted")
    after = only(bench.pre("deploytool prod", "b"), VerdictRecord)

    assert told == f"{rules}/bad.yaml:3: `title` is missing in `rules[0]`"
    assert (before.rule, after.rule) == ("second.g1", "second.g1")
    assert bench.engine.rules is good


def test_a_reload_expires_what_was_judged_by_other_rules(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pre("make", "c1")
    bench.engine.adopt(Policy(), with_packs(released(), twins(1)))
    bench.post("make", "c1")

    assert [has_step for _, has_step in bench.states("c1")] == [False]
