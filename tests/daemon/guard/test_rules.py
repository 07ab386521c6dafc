"""Every rule's own examples, judged from their text on."""

from __future__ import annotations

from collections import Counter

import pytest

from latch_contracts.verdict import Action
from latchd.guard.groups import PROFILES, Group
from latchd.guard.rule import Rule
from latchd.guard.walk import judge
from latchd.offline import subject_of
from latchd.policy import Policy, Profile
from latchd.rules.bundled import released

ALL = tuple(entry.rule for entry in released().entries)
DENIED = [pytest.param(rule, command, id=f"{rule.id}: {command}") for rule in ALL for command in rule.denies]
PASSED = [pytest.param(rule, command, id=f"{rule.id}: {command}") for rule in ALL for command in rule.passes]
ORDER = (Action.ALLOW, Action.ASK, Action.DENY)


@pytest.mark.parametrize(("rule", "command"), DENIED)
def test_a_rules_example_is_found_and_gets_at_least_its_groups_action(rule: Rule, command: str) -> None:
    subject = subject_of({"command": command}, Policy())

    assert list(rule.findings(subject)) != []
    assert ORDER.index(judge(subject).action) >= ORDER.index(PROFILES[Profile.BALANCED][rule.group])


@pytest.mark.parametrize(("rule", "command"), PASSED)
def test_a_rules_counter_example_is_not_found(rule: Rule, command: str) -> None:
    assert list(rule.findings(subject_of({"command": command}, Policy()))) == []


def test_rule_ids_are_unique() -> None:
    assert [rule for rule, count in Counter(rule.id for rule in ALL).items() if count > 1] == []


def test_every_profile_has_an_action_for_every_group() -> None:
    assert {profile: set(table) for profile, table in PROFILES.items()} == {
        profile: set(Group) for profile in Profile
    }


@pytest.mark.parametrize(("rule", "command"), DENIED)
def test_a_reason_names_its_rule_and_stays_within_two_sentences(rule: Rule, command: str) -> None:
    for finding in rule.findings(subject_of({"command": command}, Policy())):
        assert finding.reason.startswith(f"[{rule.id}]")
        assert "\n" not in finding.reason
        assert "\0" not in finding.reason
        assert len(finding.reason) < 600
