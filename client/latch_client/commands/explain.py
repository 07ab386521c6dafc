"""`latchctl explain`: what a command would do, the verdict, and which rule of which group says so.

Offline, with the same facts and the same walk as the daemon; only the disk is not asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from latch_client import draw, offline
from latch_client.errors import DONE, CommandError
from latch_client.output import print_json, table, with_json
from latch_client.paint import Paint, Style, printable, wanted
from latch_client.render_records import MARKS
from latch_client.subparsers import Subparsers
from latch_contracts.facts import Command
from latch_contracts.verdict import Action, Disposition, Finding, Route, Verdict

if TYPE_CHECKING:
    from latchd.guard.subject import Subject
    from latchd.policy import Policy
    from latchd.rules.generation import Generation


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "explain",
        help="show what a command would do and why it is judged so",
        description="Draw what a command would do, and say what the guard answers and why. Nothing is run "
        "or read from disk.",
    )
    offline.with_command(parser, batch=False)
    offline.with_policy(parser)
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    policy = offline.policy_of(arguments)
    rules = offline.rules_of(arguments, policy)
    subject, verdict = judged(arguments.shell_command, offline.given(arguments), policy, rules)
    if arguments.json:
        print_json(
            {
                "command": arguments.shell_command,
                "profile": policy.profile,
                "verdict": verdict,
                "facts": subject.facts,
                "rules_evaluated": subject.work.rules,
            }
        )
    else:
        paint = Paint(coloured=wanted(sys.stdout))
        print("\n".join(lines(arguments.shell_command, subject, verdict, paint)))
    return DONE


def judged(
    command: str, places: dict[str, str], policy: Policy, rules: Generation | None = None
) -> tuple[Subject, Verdict]:
    """A shell command as it is judged, and the verdict. Raises CommandError for text that is none."""
    from latchd.guard.walk import judge
    from latchd.offline import RowError, subject_of

    try:
        subject = subject_of(places | {"command": command}, policy, rules=rules)
    except RowError as error:
        raise CommandError(str(error)) from error
    return subject, judge(subject)


def lines(command: str, subject: Subject, verdict: Verdict, paint: Paint) -> Iterator[str]:
    """The human form: the drawing, then the verdict and what led to it, then what else was noticed."""
    yield paint(printable(command), Style.STRONG)
    yield ""
    yield from draw.facts_lines(subject.facts, paint)
    yield ""
    mark, style = MARKS[verdict.action]
    yield f"{paint(f'{mark} {verdict.action.value}', style)}  {printable(verdict.rule or 'no rule objects')}"
    deciding = next((one for one in verdict.findings if one.rule == verdict.rule), None)
    rows = [] if deciding is None else list(_why(deciding, subject))
    if verdict.reason:
        rows.append(("reason", printable(verdict.reason)))
    if deciding is not None:
        rows.append(("way out", ways_out(deciding)))
    rows.append(("asked", f"{subject.work.rules} rules"))
    yield from table(rows, indent="    ")
    others = [one for one in (*verdict.findings, *verdict.notes) if one is not deciding]
    if others:
        yield ""
        yield "also noticed"
        yield from table([_noticed(one, subject) for one in others], indent="    ")


def _why(finding: Finding, subject: Subject) -> Iterator[tuple[str, str]]:
    from latchd.guard.groups import TITLES, Group

    yield "because", f"{TITLES[Group(finding.group)]}; {_answer(finding, subject.policy)}"
    command = subject.facts.command(finding.command_id)
    if command is not None:
        yield "segment", f"{command.id}: {draw.shown(draw.text_of(command))}"
    if finding.target:
        yield "target", draw.shown(finding.target)
    yield "proof", f"{finding.severity.value}, {_ROUTES[finding.route]}, {finding.disposition.value}"
    if command is not None and (facts := "; ".join(_facts(command, subject))):
        yield "facts", facts
    if (source := _source(finding, subject)) is not None:
        yield "written in", printable(source)


_ROUTES: Final = {
    Route.SEMANTIC: "proven by facts",
    Route.FALLBACK: "met by a pattern",
}


def _facts(command: Command, subject: Subject) -> Iterator[str]:
    """What is known of the segment that rules can stand on."""
    from latchd.guard.targets import where
    from latchd.rules.shapes import PLACES

    does = ", ".join(operation.value for operation in command.operations)
    details = f" ({', '.join(command.details)})" if command.details else ""
    if does or details:
        yield f"{does}{details}".strip()
    for fact in subject.facts.paths:
        if fact.command_id == command.id:
            place = PLACES[where(subject, fact)]
            yield f"{fact.access.value} {draw.shown(fact.resolved or fact.value)} in {place}"
    for contact in subject.facts.network:
        if contact.command_id == command.id:
            yield f"{contact.action.value} {draw.shown(contact.host or '(unknown)')}, {contact.scope.value}"


def _source(finding: Finding, subject: Subject) -> str | None:
    """Where the rule stands, when it is one of a pack."""
    from latchd.rules.bundled import without

    rules = subject.rules or without(subject.policy.rules.disable)
    entry = rules.entry(finding.rule)
    return None if entry is None or entry.declared is None else f"{entry.source}:{entry.line}"


def ways_out(finding: Finding) -> str:
    """What the person can do, from the narrowest to the widest; none of it is the agent's to do."""
    from latchd.guard.groups import ADJUSTABLE, NEVER_LIFTED, Group
    from latchd.guard.walk import BY_PATH, BY_PROGRAM

    group = Group(finding.group)
    if group in NEVER_LIFTED:
        return "none: the person does it in their own terminal"
    ways = ["run it yourself", "`latchctl allow CODE`, once"]
    if group in BY_PATH and finding.target.startswith("/"):
        ways.append("`allow.paths`")
    if group in BY_PROGRAM:
        ways.append("`allow.programs`")
    if group in (Group.NETWORK, Group.UPLOAD_UNKNOWN):
        ways.append("`network.allow`")
    if group in ADJUSTABLE:
        ways.append(f"`groups.{group.value}`")
    return " · ".join([*ways, "`rules.disable`"])


def _noticed(finding: Finding, subject: Subject) -> tuple[str, str, str]:
    command = subject.facts.command(finding.command_id)
    segment = "the call" if command is None else f"{command.id}: {draw.shown(draw.text_of(command))}"
    return finding.rule, segment, _answer(finding, subject.policy)


def _answer(finding: Finding, policy: Policy) -> str:
    """What is done about a finding, and who says so: the profile, or the person's config."""
    from latchd.guard.groups import Group

    group = Group(finding.group)
    action = Action.ALLOW  # what may not be enforced is allowed, by the profile or by the person's lists
    if finding.disposition is Disposition.ENFORCEABLE:
        action = policy.answer(group, finding.severity)
    if group is Group.BY_SEVERITY:
        said = finding.severity in policy.severities
        about = f"severity `{finding.severity.value}`"
    else:
        said = group in policy.groups
        about = f"group `{finding.group}`"
    who = "your config" if said else f"profile `{policy.profile.value}`"
    return f"{who} {_VERBS[action]} {about}"


_VERBS: Final = {Action.ALLOW: "allows", Action.ASK: "asks about", Action.DENY: "denies"}
