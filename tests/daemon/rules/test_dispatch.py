"""Who speaks for a rule: its expression or its pattern, and never both."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from latch_contracts.facts import Status
from latch_contracts.verdict import Disposition, Finding, Route
from latchd.guard.subject import Subject
from latchd.guard.work import MAX_STEPS, Work
from rule_cases import entries_of, given, rule

DEPLOYS = 'f.commands.exists(c, c.program == "deploytool" && "prod" in c.words)'


def partial(subject: Subject) -> Subject:
    return msgspec.structs.replace(
        subject, facts=msgspec.structs.replace(subject.facts, status=Status.PARTIAL)
    )


def spent(subject: Subject) -> Subject:
    work = Work()
    work.steps = MAX_STEPS
    return msgspec.structs.replace(subject, work=work)


def found(findings: tuple[Finding, ...]) -> list[tuple[int, str, str]]:
    return [(one.command_id, one.route.value, one.disposition.value) for one in findings]


def test_on_complete_facts_the_expression_says_yes_and_the_pattern_is_silent() -> None:
    asked = rule(expression=DEPLOYS, pattern="deploytool", programs=["deploytool"])

    assert found(asked.findings(given("ls; deploytool prod"))) == [(2, "semantic", "enforceable")]


def test_on_complete_facts_a_no_silences_the_pattern() -> None:
    asked = rule(expression=DEPLOYS, pattern="deploytool")

    assert asked.findings(given("deploytool test")) == ()


@pytest.mark.parametrize("lost", [partial, spent], ids=["incomplete facts", "a spent budget"])
def test_where_the_expression_can_not_be_asked_the_pattern_speaks(lost: Any) -> None:
    asked = rule(expression=DEPLOYS, pattern="^deploytool test")

    assert found(asked.findings(lost(given("deploytool test")))) == [(1, "fallback", "enforceable")]
    assert asked.findings(lost(given("deploytool prod"))) == ()


def test_facts_too_large_for_a_view_leave_the_rule_to_its_pattern() -> None:
    asked = rule(expression=DEPLOYS, pattern="^deploytool prod")
    padded = f"deploytool prod {'x' * 5000}"

    assert found(asked.findings(given(padded))) == [(1, "fallback", "enforceable")]


def test_a_call_padded_with_words_does_not_talk_a_rule_into_silence() -> None:
    words = " ".join(f"w{number}" for number in range(240))
    asked = rule(
        expression='f.commands.exists(c, c.acts && f.commands.exists(d, d.line.matches("prod")))',
        pattern="^deploytool",
    )
    many = "; ".join([f"deploytool prod {words}"] * 12)

    assert found(asked.findings(given(many)))[0] == (1, "fallback", "enforceable")


def test_a_rule_without_an_expression_is_its_pattern() -> None:
    asked = rule(pattern="^deploytool")

    assert found(asked.findings(given("deploytool x"))) == [(1, "fallback", "enforceable")]


def test_what_only_shows_something_is_found_and_refuses_nothing() -> None:
    asked = rule(expression='f.commands.exists(c, c.program == "rm")', pattern="^rm")

    assert found(asked.findings(given("rm --help"))) == [(1, "semantic", "detect")]
    assert found(asked.findings(given("rm --help; rm a"))) == [
        (1, "semantic", "detect"),
        (2, "semantic", "enforceable"),
    ]


def test_the_hit_names_the_segment_by_which_the_expression_holds_alone() -> None:
    asked = rule(expression=DEPLOYS, pattern="x")
    (finding,) = asked.findings(given("echo a && deploytool prod now && ls"))

    assert (finding.command_id, finding.target) == (2, "deploytool prod now")
    assert finding.reason == ("[mine.deploy] in `deploytool prod now`: this deploys. Let the person do it.")


def test_an_expression_about_several_segments_is_about_the_whole_call() -> None:
    asked = rule(
        expression='f.commands.exists(c, c.program == "build") && f.commands.exists(c, c.program == "push")',
        pattern="x",
    )

    assert found(asked.findings(given("build; push"))) == [(0, "semantic", "enforceable")]


def test_a_rule_about_paths_names_the_path() -> None:
    asked = rule(
        expression='f.paths.exists(p, p.access == "write" && p.name.endsWith(".lock"))',
        pattern=r"\.lock$",
        binds=["path"],
    )
    (finding,) = asked.findings(given("echo x > b.lock; echo y > a"))

    assert finding.target == "/home/dev/project/b.lock"


OWNED = (
    {"expression": DEPLOYS, "pattern": "^deploytool"},
    {"id": "mine.alias", "owner": "mine.deploy", "pattern": "deploytool"},
)


def test_an_alias_is_silent_wherever_its_owner_could_speak() -> None:
    owner, alias = (entry.rule for entry in entries_of(*OWNED))

    for command in ("deploytool prod", "deploytool test"):
        assert alias.findings(given(command)) == ()
    assert len(owner.findings(given("deploytool prod"))) == 1


def test_an_alias_speaks_by_its_pattern_where_its_owner_could_not() -> None:
    _, alias = (entry.rule for entry in entries_of(*OWNED))

    assert [one.route for one in alias.findings(partial(given("deploytool test")))] == [Route.FALLBACK]


def test_a_no_that_is_not_a_safe_negative_leaves_the_pattern_awake() -> None:
    asked = rule(
        expression=DEPLOYS,
        safe_negative="!f.commands.exists(c, !c.argv_complete)",
        pattern="^deploytool",
    )

    assert asked.findings(given("deploytool test")) == ()
    assert found(asked.findings(given("deploytool $WHERE"))) == [(1, "fallback", "enforceable")]


def test_each_evaluation_is_paid_for_before_it_is_made() -> None:
    asked = rule(expression=DEPLOYS, pattern="x")
    subject = given("deploytool test")
    asked.findings(subject)

    assert 0 < subject.work.steps < 100


def test_a_finding_that_refuses_nothing_is_recorded_as_one() -> None:
    asked = rule(expression='f.commands.exists(c, c.program == "rm")', pattern="^rm")
    (finding,) = asked.findings(given("rm --help"))

    assert finding.disposition is Disposition.DETECT
