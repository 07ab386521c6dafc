"""A generation: whole, in order, bound by its fingerprint, and never changed."""

from __future__ import annotations

import msgspec
import pytest

from latchd.guard.rules import RULES, SELF_PROTECTION
from latchd.guard.walk import judge
from latchd.judging import Bindings
from latchd.offline import check_line, subject_of
from latchd.policy import Policy, parse
from latchd.rules import generation as module
from latchd.rules.bundled import bundled, released, without
from latchd.rules.generation import GenerationError, generation, with_packs
from rule_cases import entries_of, given

MINE = {"id": "mine.deploy", "expression": 'f.commands.exists(c, c.program == "deploytool")'}


def test_packs_stand_between_the_coded_rules_and_every_rule_is_there_once() -> None:
    ids = [entry.rule.id for entry in released().entries]

    assert len(ids) == len(set(ids))
    assert ids[: len(SELF_PROTECTION)] == [rule.id for rule in SELF_PROTECTION]
    assert {rule.id for rule in RULES} <= set(ids)
    assert ids.index("git.discard-work") < ids.index("infra.cluster-loss") < ids.index("network.tool")


def test_a_persons_pack_judges_with_the_rest() -> None:
    mine = with_packs(released(), entries_of(MINE))
    row = {"command": "deploytool prod"}

    assert check_line(row, Policy(), rules=mine)["rule"] == "mine.deploy"
    assert check_line(row, Policy())["verdict"] == "allow"
    assert check_line({"command": "rm -rf ~"}, Policy(), rules=mine)["rule"] == "fs.delete-root-or-home"


def test_an_id_that_is_there_already_is_refused_with_both_places() -> None:
    with pytest.raises(GenerationError) as caught:
        with_packs(released(), entries_of({**MINE, "id": "fs.delete-git"}))

    assert str(caught.value) == "mine.yaml:1: `fs.delete-git` is a rule of built-in already"


def test_an_id_that_was_a_rule_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETIRED", {"mine.deploy": "`fs.other` speaks for it"})

    with pytest.raises(GenerationError, match=r"was a rule once \(`fs.other` speaks for it\)"):
        generation(entries_of(MINE))


def test_a_rule_that_is_switched_off_is_not_asked_and_still_listed() -> None:
    rules = without(("infra.cluster-loss",))
    entry = rules.entry("infra.cluster-loss")

    assert entry is not None
    assert not entry.enabled
    assert check_line({"command": "kubectl delete ns a"}, Policy(), rules=rules)["verdict"] == "allow"


def test_a_config_that_switches_a_rule_off_is_obeyed_offline_too() -> None:
    policy = parse(b'[rules]\ndisable = ["infra.cluster-loss"]')

    assert check_line({"command": "kubectl delete ns a"}, policy)["verdict"] == "allow"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("self.files", "`rules.disable` holds `self.files`, which keeps the guard in place"),
        ("fs.nothing", "`rules.disable` holds `fs.nothing`, which is no rule"),
    ],
)
def test_what_keeps_the_guard_in_place_can_not_be_switched_off(rule: str, why: str) -> None:
    with pytest.raises(GenerationError) as caught:
        without((rule,))

    assert str(caught.value) == why


def test_a_rule_of_a_pack_that_says_enabled_false_is_not_asked() -> None:
    mine = with_packs(released(), entries_of({**MINE, "enabled": False}))

    assert check_line({"command": "deploytool prod"}, Policy(), rules=mine)["verdict"] == "allow"


def test_the_fingerprint_differs_whenever_a_rule_does() -> None:
    seen = {
        released().fingerprint,
        without(("db.loss",)).fingerprint,
        with_packs(released(), entries_of(MINE)).fingerprint,
        with_packs(released(), entries_of({**MINE, "enabled": False})).fingerprint,
        with_packs(released(), entries_of({**MINE, "pattern": "^other"})).fingerprint,
    }

    assert len(seen) == 5
    assert generation(bundled()).fingerprint == released().fingerprint


def test_pending_calls_are_bound_to_the_rules_they_were_judged_by() -> None:
    from latch_contracts.connectors import CONNECTORS

    contract = CONNECTORS["claudecode"].contract
    mine = with_packs(released(), entries_of(MINE))

    assert Bindings(Policy()).of(contract, "") == Bindings(Policy(), released()).of(contract, "")
    assert Bindings(Policy()).of(contract, "") != Bindings(Policy(), mine).of(contract, "")


def test_a_project_adds_rules_and_takes_none_away() -> None:
    base = without(("db.loss",))
    both = with_packs(base, entries_of(MINE))

    assert [entry for entry in both.entries if entry.rule.id != "mine.deploy"] == list(base.entries)


def test_an_ordinary_command_is_asked_about_by_few_rules() -> None:
    asked: dict[str, int] = {}
    for command in (
        "git status",
        "ls -la",
        "cat README.md",
        "npm test",
        "grep -rn foo src",
        "python3 script.py",
        "cd x && make",
        "echo hi > out.txt",
        "git commit -m x",
        "docker ps",
        "kubectl get pods",
        "cargo build",
        "mkdir -p a/b",
        "rm a.o",
        "rm -rf build",
        "sed -i s/a/b/ a.txt",
    ):
        subject = given(command)
        judge(subject)
        asked[command] = subject.work.rules

    assert {command: count for command, count in asked.items() if count > 12} == {}


def test_a_call_keeps_the_generation_it_began_with() -> None:
    mine = with_packs(released(), entries_of(MINE))
    subject = subject_of({"command": "deploytool prod"}, Policy(), rules=mine)

    assert msgspec.structs.replace(subject, policy=Policy()).rules is mine
