"""Judges the scripts a call is about to run, by their bytes of now, with the rules of a direct command.

A script refuses the call only by what it is sure to do: an unconditional command, whole and literal,
in a text that is understood whole, run by a command of the call that is just as sure. What a script
only may do, or does with values known when it runs, is told and refuses nothing: build scripts are
full of it.
"""

from __future__ import annotations

import msgspec

from latch_contracts.facts import ActionFacts, Effect, Reach
from latch_contracts.verdict import Action, Disposition, Finding, Verdict
from latchd import disk
from latchd.artifacts import Script, candidates
from latchd.chains.projection import Projection, project
from latchd.files import probe_list
from latchd.guard.groups import Group
from latchd.guard.subject import Subject
from latchd.guard.walk import MAX_FINDINGS, PARTICIPANT_ERROR, PARTICIPANT_TIMEOUT, judge
from latchd.guard.work import Work
from latchd.policy import Policy
from latchd.shell.facts import analyze


def with_scripts(verdict: Verdict, projection: Projection, subject: Subject) -> tuple[Verdict, Projection]:
    """The verdict and the chain steps of a call, with those of the scripts it runs.

    A call that is refused already is not looked into. A participant that fails on a script refuses, too.
    """
    event, facts, policy = subject.event, subject.facts, subject.policy
    if verdict.action is Action.DENY:
        return verdict, projection
    for candidate in candidates(facts):
        script = disk.script(candidate)
        if script.skipped:
            continue
        inner = analyze(script.text, cwd=event.cwd, home=facts.home)
        command = facts.command(candidate.command_id)
        sure = facts.enforcement_eligible and command is not None and command.reach is Reach.ALWAYS
        projection = projection.with_script(project(inner), sure=sure)
        for finding in _findings(subject, script, inner):
            refuses = _is_failure(finding) or (sure and _is_sure(finding, inner, policy))
            verdict = _told(verdict, finding, script.path, refuses=refuses)
    return verdict, projection


def _findings(subject: Subject, script: Script, inner: ActionFacts) -> tuple[Finding, ...]:
    """What the rules find in the script, as if its text were the call's command."""
    call = msgspec.structs.replace(subject.event.the_call, command=script.text)
    files = disk.views(probe_list(call, inner, subject.policy.write_roots))
    event = msgspec.structs.replace(subject.event, call=call)
    given = msgspec.structs.replace(subject, event=event, facts=inner, files=files, work=Work())
    return judge(given).findings


def _is_failure(finding: Finding) -> bool:
    """Whether a participant could not say what it finds, where that refuses."""
    failed = finding.rule in (PARTICIPANT_ERROR, PARTICIPANT_TIMEOUT)
    return failed and finding.disposition is Disposition.ENFORCEABLE


def _is_sure(finding: Finding, inner: ActionFacts, policy: Policy) -> bool:
    """Whether the script does this whatever happens, and the profile refuses it."""
    command = inner.command(finding.command_id)
    return (
        inner.authoritative
        and command is not None
        and command.effect is Effect.EXECUTE
        and command.reach is Reach.ALWAYS
        and command.argv_complete
        and finding.disposition is Disposition.ENFORCEABLE
        and policy.answer(Group(finding.group), finding.severity) is Action.DENY
    )


def _told(verdict: Verdict, finding: Finding, path: str, *, refuses: bool) -> Verdict:
    """The verdict with one more finding, which names the script; the first that refuses decides."""
    place, _, what = finding.reason.partition(": ")
    participant = finding.target if _is_failure(finding) else "guard"
    finding = msgspec.structs.replace(
        finding,
        reason=f"{place} of the script `{path}`: {what}",
        command_id=0,
        disposition=Disposition.ENFORCEABLE if refuses else Disposition.DETECT,
    )
    findings = (*verdict.findings, finding)[:MAX_FINDINGS]
    if refuses and verdict.action is not Action.DENY:
        return Verdict(Action.DENY, finding.rule, finding.reason, participant, findings)
    return msgspec.structs.replace(verdict, findings=findings)
