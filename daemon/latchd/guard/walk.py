"""The walk: floor, then each participant in order; the first refusal ends it and nothing un-blocks.

A question is remembered and a later refusal overrides it. There is no way to say "allow" here: an
allow is what is left when nobody objected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.verdict import Action, Disposition, Finding, Severity, Verdict
from latchd.guard import floor
from latchd.guard.groups import NEVER_LIFTED, Group
from latchd.guard.manifest import PARTICIPANTS, Participant
from latchd.guard.pace import Overrun
from latchd.guard.places import agent_credential
from latchd.guard.subject import Subject, expand
from latchd.policy import Profile

# The groups whose findings an entry of `allow.paths` or `allow.programs` can cover.
BY_PATH: Final = frozenset(
    (Group.DESTROY, Group.DELETE_INSIDE, Group.CREDENTIAL, Group.WRITE_OUTSIDE, Group.OVERWRITE_UNKNOWN)
)
BY_PROGRAM: Final = frozenset((Group.CANNOT_VOUCH, Group.NETWORK, Group.PACKAGE, Group.UPLOAD_UNKNOWN))
MAX_FINDINGS: Final = 32  # a record is for reading; the first ones decide

PARTICIPANT_ERROR: Final = "participant.error"
PARTICIPANT_TIMEOUT: Final = "participant.timeout"


def judge(subject: Subject, participants: Sequence[Participant] = PARTICIPANTS) -> Verdict:
    """The verdict on one proposal. Never raises: a participant that does is a refusal that names it, and so
    is one that works for longer than ``subject.pace`` lets it.
    """
    profile = subject.policy.profile
    if finding := floor.check(subject):
        return _refused(finding, "floor", (finding,), profile)
    findings: list[Finding] = []
    asked: tuple[Finding, str] | None = None
    for participant in participants:
        try:
            subject.pace.begin()
            found = participant.decide(subject)
            subject.pace.check()
        except Exception as error:
            failed = _failed(participant.name, error)
            return _refused(failed, participant.name, (*findings, failed), profile)
        weighed = [(finding, _action(subject, finding)) for finding in found]
        findings += [_disposed(finding, action) for finding, action in weighed]
        for finding, action in weighed:
            if action is Action.DENY:
                return _verdict(Action.DENY, finding, participant.name, findings, profile)
            if action is Action.ASK and asked is None:
                asked = finding, participant.name
    if asked is not None:
        return _verdict(Action.ASK, asked[0], asked[1], findings, profile)
    return _told(Verdict(action=Action.ALLOW), findings, profile)


def without_ask(verdict: Verdict, fallback: str) -> Verdict:
    """The verdict for an agent that can't ask a person: a question becomes the policy's fallback."""
    if verdict.action is not Action.ASK:
        return verdict
    if fallback == "allow":
        return Verdict(action=Action.ALLOW, findings=verdict.findings, notes=verdict.notes)
    return msgspec.structs.replace(verdict, action=Action.DENY)


def _action(subject: Subject, finding: Finding) -> Action:
    group = Group(finding.group)
    if finding.disposition is Disposition.DETECT:
        return Action.ALLOW
    if _allowed(subject, finding, group) or (finding.rule in subject.lifted and group not in NEVER_LIFTED):
        return Action.ALLOW
    return subject.policy.answer(group, finding.severity)


def _allowed(subject: Subject, finding: Finding, group: Group) -> bool:
    """Whether the person's allow list covers this finding. Only these groups can be covered at all."""
    allow = subject.policy.allow
    if group in BY_PATH and allow.paths and finding.target.startswith("/"):
        if agent_credential(finding.target, subject.home):
            return False
        for entry in allow.paths:
            root = expand(entry, subject.home)
            if root != "/" and (finding.target == root or finding.target.startswith(root + "/")):
                return True
    if group in BY_PROGRAM and allow.programs:
        command = subject.facts.command(finding.command_id)
        return command is not None and any(
            command.program == entry or (entry.endswith("/") and command.executable.startswith(entry))
            for entry in allow.programs
        )
    return False


def _disposed(finding: Finding, action: Action) -> Finding:
    if action is Action.ALLOW:
        return msgspec.structs.replace(finding, disposition=Disposition.DETECT)
    return finding


def _verdict(
    action: Action, finding: Finding, participant: str, findings: Sequence[Finding], profile: Profile
) -> Verdict:
    verdict = Verdict(action=action, rule=finding.rule, reason=finding.reason, participant=participant)
    return _told(verdict, findings, profile)


def _told(verdict: Verdict, findings: Sequence[Finding], profile: Profile) -> Verdict:
    """The verdict with its findings, and what is only worth a note apart from them."""
    notes = tuple(finding for finding in findings if _is_note(finding, profile))
    kept = tuple(finding for finding in findings if not _is_note(finding, profile))
    return msgspec.structs.replace(verdict, findings=kept[:MAX_FINDINGS], notes=notes[:MAX_FINDINGS])


def _is_note(finding: Finding, profile: Profile) -> bool:
    """Of low severity, and nothing is done about it: it says what the call is, no more."""
    told = finding.disposition is Disposition.DETECT and finding.severity is Severity.LOW
    return told and profile is not Profile.OBSERVE


def _refused(finding: Finding, participant: str, findings: Sequence[Finding], profile: Profile) -> Verdict:
    if profile is Profile.OBSERVE:
        return Verdict(
            action=Action.ALLOW, findings=tuple(_disposed(found, Action.ALLOW) for found in findings)
        )
    return _verdict(Action.DENY, finding, participant, findings, profile)


def _failed(name: str, error: Exception) -> Finding:
    rule, what = PARTICIPANT_ERROR, f"failed with {type(error).__name__}"
    if isinstance(error, Overrun):
        rule, what = PARTICIPANT_TIMEOUT, "took too long and was stopped"
    return Finding(
        rule=rule,
        group=Group.FLOOR,
        severity=Severity.CRITICAL,
        reason=f"[{rule}]: `{name}` {what}. Tell the person about it.",
        target=name,
    )
