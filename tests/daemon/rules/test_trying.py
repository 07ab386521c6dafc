"""Rules that are about to be put in force are tried on their own examples, and no longer than is bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from latchd.policy import Policy, PolicyError
from latchd.projects import Projects
from latchd.rules.bundled import released
from latchd.rules.compiling import Entry
from latchd.rules.generation import Generation, with_packs
from latchd.rules.standing import RulesError, standing, tried
from latchd.rules.trying import OWN, Most, doubted, planned, refusal, refusals
from rule_cases import RULE, entries_of

MANY = Most(commands=1000, bytes=100_000)
GOOD: dict[str, Any] = {"denies": ["deploytool prod", "deploytool"], "passes": ["make", "ls"]}
NO_EXAMPLE = "mine.yaml:1: `mine.deploy`: has no `denies`, so nothing shows that it can match"


def made(**fields: Any) -> tuple[Generation, list[Entry]]:
    own = entries_of(GOOD | fields)
    return with_packs(released(), own), own


def write(directory: Path, **fields: Any) -> Path:
    directory.mkdir(parents=True)
    pack = {"version": 1, "category": "mine", "rules": [RULE | GOOD | fields]}
    (directory / "mine.yaml").write_bytes(msgspec.json.encode(pack))
    return directory / "mine.yaml"


# What is wrong with a rule, and how it is told.
WRONG = [
    ({"denies": ["othertool"]}, "`mine.deploy`: `othertool` is not found by its own rule"),
    ({"passes": ["deploytool x"]}, "`mine.deploy`: `deploytool x` is found by its own rule"),
    (
        {"instead": "use `rm -rf /`"},
        "`mine.deploy`: advises `rm -rf /`, which `fs.delete-root-or-home` refuses",
    ),
    ({"instead": "use `deploytool x`"}, "`mine.deploy`: advises `deploytool x`, which `mine.deploy` refuses"),
]


def test_rules_that_hold_on_their_examples_are_put_in_force() -> None:
    rules, own = made()

    assert refusal(planned(rules, own, MANY)) is None


@pytest.mark.parametrize(("fields", "why"), WRONG)
def test_a_rule_that_its_examples_or_its_advice_contradict_is_refused(
    fields: dict[str, Any], why: str
) -> None:
    rules, own = made(**fields)

    assert str(refusal(planned(rules, own, MANY))) == f"mine.yaml:1: {why}"


@pytest.mark.parametrize(("fields", "why"), WRONG)
def test_the_persons_and_a_projects_packs_are_refused_alike(
    tmp_path: Path, fields: dict[str, Any], why: str
) -> None:
    mine = write(tmp_path / "mine", **fields)
    theirs = write(tmp_path / "work" / ".latchd" / "rules", **fields)

    with pytest.raises(RulesError) as mine_refused:
        tried(Policy(), str(mine.parent))
    with pytest.raises(PolicyError) as theirs_refused:
        Projects(Policy()).at(str(tmp_path / "work"))
    assert str(mine_refused.value) == f"{mine}:1: {why}"
    assert str(theirs_refused.value) == f"{theirs}:1: {why}"


def test_a_rule_that_nothing_shows_is_told_of_and_put_in_force() -> None:
    rules, own = made(denies=[])
    plan = planned(rules, own, MANY)

    assert refusal(plan) is None
    assert doubted(plan) == NO_EXAMPLE


def test_many_doubts_are_one_line() -> None:
    own = entries_of({"id": "a.x"}, {"id": "a.y"}, {"id": "a.z"})
    plan = planned(with_packs(released(), own), own, MANY)

    assert doubted(plan).endswith("match; and 2 more, see `latchctl rules validate`")


@pytest.mark.parametrize("most", [Most(commands=2, bytes=1000), Most(commands=100, bytes=25)])
def test_what_is_over_the_bound_is_not_judged_and_told(most: Most) -> None:
    rules, own = made(denies=["deploytool prod", "deploytool", "othertool"], passes=["deploytool and more"])
    plan = planned(rules, own, most)

    assert [check.command for check in plan.checks] == ["deploytool prod", "deploytool"]
    assert refusal(plan) is None
    assert doubted(plan) == (
        f"mine.yaml: {4 - len(plan.checks)} examples are more than is tried here; "
        "`latchctl rules validate` tries them all"
    )


def test_the_most_that_is_tried_at_a_start_is_a_second_or_so_of_work() -> None:
    """A pack as large as may be has many more examples than are judged."""
    own = entries_of(*({"id": f"a.r{number}", "denies": ["deploytool x"] * 64} for number in range(40)))
    rules = with_packs(released(), own)
    plan = planned(rules, own, OWN)

    assert len(plan.checks) == OWN.commands
    assert next(refusals(plan)) is None


def test_reading_alone_does_not_try_what_is_read(tmp_path: Path) -> None:
    pack = write(tmp_path / "rules", denies=["othertool"])

    assert standing(Policy(), str(pack.parent)).entry("mine.deploy") is not None
