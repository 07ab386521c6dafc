"""First block wins, nothing un-blocks, and a failure is a refusal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import msgspec
import pytest

from guard_cases import shell
from latch_contracts.verdict import Action, Disposition, Finding, Severity, Verdict
from latchd.guard.groups import Group
from latchd.guard.manifest import PARTICIPANTS, Participant
from latchd.guard.pace import LIMIT_US, Overrun, Pace
from latchd.guard.subject import Subject
from latchd.guard.walk import judge, without_ask
from latchd.policy import Policy, Profile, parse


def finding(rule: str, group: Group) -> Finding:
    return Finding(rule=rule, group=group, severity=Severity.HIGH, reason=f"[{rule}]: no")


def finds(*findings: Finding) -> Callable[[Subject], tuple[Finding, ...]]:
    return lambda _subject: findings


class Counting:
    """A participant that counts how often it is asked."""

    def __init__(self, *findings: Finding) -> None:
        self.asked = 0
        self.findings = findings

    def __call__(self, _subject: Subject) -> tuple[Finding, ...]:
        self.asked += 1
        return self.findings


DENIAL = finding("a.deny", Group.DESTROY)
QUESTION = finding("a.ask", Group.WRITE_OUTSIDE)


def test_first_block_wins_the_second_participant_is_never_called() -> None:
    second = Counting()

    verdict = judge(shell("ls"), (Participant("one", finds(DENIAL)), Participant("two", second)))

    assert verdict == Verdict(
        action=Action.DENY, rule="a.deny", reason="[a.deny]: no", participant="one", findings=(DENIAL,)
    )
    assert second.asked == 0


def test_a_later_participant_cannot_un_block_its_own_block_stands() -> None:
    verdict = judge(shell("ls"), (Participant("one", finds()), Participant("two", finds(DENIAL))))

    assert (verdict.action, verdict.participant) == (Action.DENY, "two")


def test_a_question_is_remembered_and_a_later_refusal_overrides_it() -> None:
    asks = Participant("one", finds(QUESTION))

    assert judge(shell("ls"), (asks, Participant("two", finds()))).action is Action.ASK
    assert judge(shell("ls"), (asks, Participant("two", finds(DENIAL)))).rule == "a.deny"


def test_a_refusal_beats_an_earlier_question_of_the_same_participant() -> None:
    verdict = judge(shell("ls"), (Participant("one", finds(QUESTION, DENIAL)),))

    assert (verdict.action, verdict.rule) == (Action.DENY, "a.deny")
    assert [found.rule for found in verdict.findings] == ["a.ask", "a.deny"]


def test_nothing_found_by_every_participant_is_an_allow_that_names_no_rule() -> None:
    assert judge(shell("ls"), PARTICIPANTS) == Verdict(action=Action.ALLOW)


def test_a_raising_participant_blocks_and_names_itself() -> None:
    def fails(_subject: Subject) -> tuple[Finding, ...]:
        raise RuntimeError("something with a secret in it")

    verdict = judge(shell("ls"), (Participant("one", fails), Participant("two", finds())))

    assert (verdict.action, verdict.rule, verdict.participant) == (Action.DENY, "participant.error", "one")
    assert "secret" not in verdict.reason


class Working:
    """A participant that does so much work, and tells it."""

    def __init__(self, us: int) -> None:
        self.us = us
        self.done = 0

    def __call__(self, _subject: Subject) -> tuple[Finding, ...]:
        self.done += self.us
        return ()

    def worked(self) -> int:
        return self.done


@pytest.mark.parametrize(("us", "action"), [(LIMIT_US, Action.ALLOW), (LIMIT_US + 1, Action.DENY)])
def test_a_participant_past_its_limit_blocks_and_names_itself(us: int, action: Action) -> None:
    work, second = Working(us), Counting()
    subject = msgspec.structs.replace(shell("ls"), pace=Pace(work.worked))

    verdict = judge(subject, (Participant("one", work), Participant("two", second)))

    assert verdict.action is action
    if action is Action.DENY:
        assert (verdict.rule, verdict.participant, second.asked) == ("participant.timeout", "one", 0)
        assert verdict.reason == (
            "[participant.timeout]: `one` took too long and was stopped. Tell the person about it."
        )


def test_each_participant_has_a_limit_of_its_own() -> None:
    work = Working(LIMIT_US)
    subject = msgspec.structs.replace(shell("ls"), pace=Pace(work.worked))

    assert judge(subject, tuple(Participant(name, work) for name in ("one", "two"))).action is Action.ALLOW


def test_a_real_participant_is_stopped_between_two_rules() -> None:
    looks = count(0, LIMIT_US // 2)
    subject = msgspec.structs.replace(shell("rm -rf /"), pace=Pace(lambda: next(looks)))

    verdict = judge(subject, PARTICIPANTS[1:])

    assert (verdict.rule, verdict.participant) == ("participant.timeout", "guard")
    assert next(looks) == 4 * (LIMIT_US // 2)  # begun, two looks in time, and the one that ended it


def test_under_observe_a_failing_participant_is_told() -> None:
    def fails(_subject: Subject) -> tuple[Finding, ...]:
        raise Overrun

    verdict = judge(shell("ls", policy=Policy(profile=Profile.OBSERVE)), (Participant("one", fails),))

    assert (verdict.action, verdict.rule) == (Action.ALLOW, None)
    assert [(found.rule, found.disposition) for found in verdict.findings] == [
        ("participant.timeout", Disposition.DETECT)
    ]


def test_observe_records_what_balanced_would_refuse() -> None:
    verdict = judge(shell("rm -rf /", policy=Policy(profile=Profile.OBSERVE)))

    assert (verdict.action, verdict.rule) == (Action.ALLOW, None)
    assert [found.rule for found in verdict.findings] == ["fs.delete-root-or-home"]


def test_the_reported_rule_is_the_earliest_rule_of_the_earliest_segment() -> None:
    verdict = judge(shell("rm -rf ~/one; rm -rf ~/two"))

    assert [found.target for found in verdict.findings] == ["/home/dev/one", "/home/dev/two"]
    assert "/home/dev/one" in verdict.reason


@pytest.mark.parametrize(
    ("fallback", "action"), [("deny", Action.DENY), ("allow", Action.ALLOW)], ids=["deny", "allow"]
)
def test_an_agent_that_can_not_ask_gets_the_fallback(fallback: str, action: Action) -> None:
    assert without_ask(judge(shell("ls"), (Participant("one", finds(QUESTION)),)), fallback).action is action


def test_a_refusal_is_no_question_the_fallback_does_not_reach_it() -> None:
    refused = judge(shell("rm -rf /"))

    assert without_ask(refused, "allow") == refused


def test_an_allowed_path_relaxes_its_own_findings_only() -> None:
    policy = parse(b'[allow]\npaths = ["/srv/scratch"]')

    assert judge(shell("rm -rf /srv/scratch/a", policy=policy)).action is Action.ALLOW
    assert judge(shell("rm -rf /srv/other", policy=policy)).rule == "fs.delete-outside"


def test_no_allow_entry_relaxes_self_protection_or_an_agents_own_secrets() -> None:
    policy = parse(
        b'[allow]\npaths = ["~/.config", "~/.claude", "~/.codex"]\nprograms = ["latchctl", "systemctl"]'
    )

    assert judge(shell("echo > ~/.config/latchd/config.toml", policy=policy)).rule == "self.files"
    assert judge(shell("cat ~/.claude/.credentials.json", policy=policy)).rule == "credential.read"
    assert judge(shell("latchctl allow 1", policy=policy)).rule == "self.command"
    assert judge(shell("systemctl --user stop latchd", policy=policy)).rule == "self.stop"


def test_an_allowed_program_may_be_a_word_that_is_known_only_when_it_runs() -> None:
    assert judge(shell("$V/bin/python x.py")).action is Action.ASK
    assert judge(shell("mycurl x", policy=parse(b'[allow]\nprograms = ["mycurl"]'))).action is Action.ALLOW


def test_a_finding_that_is_only_told_refuses_nothing_whatever_its_group() -> None:
    told = msgspec.structs.replace(DENIAL, disposition=Disposition.DETECT)

    assert judge(shell("ls"), (Participant("one", finds(told)),)) == Verdict(
        action=Action.ALLOW, findings=(told,)
    )


def test_the_persons_own_answer_for_a_group_stands() -> None:
    policy = parse(b'[groups]\nwrite-outside = "deny"')

    assert judge(shell("ls", policy=policy), (Participant("one", finds(QUESTION)),)).action is Action.DENY


def test_a_command_that_only_shows_itself_is_never_refused() -> None:
    assert (
        judge(shell("rm --help; git reset --hard --help; rsync -an --delete a/ /etc/")).action is Action.ALLOW
    )


@pytest.mark.parametrize(
    "command",
    [
        "if x; then rm -rf ~; fi",
        "x && rm -rf ~",
        "x || rm -rf ~",
        "(rm -rf ~)",
        "{ rm -rf ~; }",
        "rm -rf ~ &",
        "f() { rm -rf ~; }; f",
        "trap 'rm -rf ~' EXIT",
        "for a in b; do rm -rf ~; done",
        "echo $(rm -rf ~)",
        "cat <(rm -rf ~)",
        "sudo nice rm -rf ~",
        "bash -c 'rm -rf ~'",
        "ls | xargs -I{} rm -rf ~",
    ],
)
def test_whatever_may_run_is_judged(command: str) -> None:
    assert judge(shell(command)).rule == "fs.delete-root-or-home"


def test_what_the_profile_lets_pass_and_is_of_low_severity_is_a_note_and_no_finding() -> None:
    fetch = "curl https://host.example/a.txt"
    balanced = judge(shell(fetch))
    strict = judge(shell(fetch, policy=Policy(profile=Profile.STRICT)))

    assert (balanced.action, balanced.findings) == (Action.ALLOW, ())
    assert [note.rule for note in balanced.notes] == ["network.tool"]
    assert (strict.action, strict.rule, strict.notes) == (Action.DENY, "network.tool", ())


def test_what_is_worth_a_look_is_a_finding_though_nothing_refuses_it() -> None:
    verdict = judge(shell("git commit --no-verify -m x"))

    assert verdict.action is Action.ALLOW
    assert [(found.rule, found.disposition) for found in verdict.findings] == [
        ("git.hooks-bypass", Disposition.DETECT)
    ]
