"""`latchctl explain`: what a command would do, the verdict, and which rule of which group says so.

Offline, with the same facts and the same walk as the daemon; only the disk is not asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from latch_client import draw, offline
from latch_client.errors import DONE, CommandError
from latch_client.output import print_json, table, with_json
from latch_client.paint import Paint, Style, printable, wanted
from latch_client.render_records import MARKS
from latch_client.subparsers import Subparsers
from latch_contracts.facts import ActionFacts
from latch_contracts.verdict import Action, Disposition, Finding, Verdict

if TYPE_CHECKING:
    from latchd.policy import Policy, Profile


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
    facts, verdict = judged(arguments.shell_command, offline.given(arguments), policy)
    if arguments.json:
        print_json(
            {
                "command": arguments.shell_command,
                "profile": policy.profile,
                "verdict": verdict,
                "facts": facts,
            }
        )
    else:
        paint = Paint(coloured=wanted(sys.stdout))
        print("\n".join(lines(arguments.shell_command, facts, verdict, policy.profile, paint)))
    return DONE


def judged(command: str, places: dict[str, str], policy: Policy) -> tuple[ActionFacts, Verdict]:
    """The facts of a shell command and the guard's verdict. Raises CommandError for text that is none."""
    from latchd.guard.walk import judge
    from latchd.offline import RowError, subject_of

    try:
        subject = subject_of(places | {"command": command}, policy)
    except RowError as error:
        raise CommandError(str(error)) from error
    return subject.facts, judge(subject)


def lines(
    command: str, facts: ActionFacts, verdict: Verdict, profile: Profile, paint: Paint
) -> Iterator[str]:
    """The human form: the drawing, then the verdict, then what else was noticed."""
    yield paint(printable(command), Style.STRONG)
    yield ""
    yield from draw.facts_lines(facts, paint)
    yield ""
    mark, style = MARKS[verdict.action]
    yield f"{paint(f'{mark} {verdict.action.value}', style)}  {printable(verdict.rule or 'no rule objects')}"
    deciding = next((one for one in verdict.findings if one.rule == verdict.rule), None)
    rows = [] if deciding is None else list(_why(deciding, facts, profile))
    if verdict.reason:
        rows.append(("reason", printable(verdict.reason)))
    yield from table(rows, indent="    ") if rows else ()
    others = [one for one in verdict.findings if one is not deciding]
    if others:
        yield ""
        yield "also noticed"
        yield from table([_noticed(one, facts, profile) for one in others], indent="    ")


def _why(finding: Finding, facts: ActionFacts, profile: Profile) -> Iterator[tuple[str, str]]:
    from latchd.guard.groups import TITLES, Group

    yield "because", f"{TITLES[Group(finding.group)]}; {_answer(finding, profile)}"
    if (command := facts.command(finding.command_id)) is not None:
        yield "segment", f"{command.id}: {draw.shown(draw.text_of(command))}"
    if finding.target:
        yield "target", draw.shown(finding.target)
    yield "proof", f"{finding.severity.value}, {finding.route.value}, {finding.disposition.value}"


def _noticed(finding: Finding, facts: ActionFacts, profile: Profile) -> tuple[str, str, str]:
    command = facts.command(finding.command_id)
    segment = "the call" if command is None else f"{command.id}: {draw.shown(draw.text_of(command))}"
    return finding.rule, segment, _answer(finding, profile)


def _answer(finding: Finding, profile: Profile) -> str:
    from latchd.guard.groups import PROFILES, Group

    verbs = {Action.ALLOW: "allows", Action.ASK: "asks about", Action.DENY: "denies"}
    action = Action.ALLOW  # what may not be enforced is allowed, by the profile or by the person's lists
    if finding.disposition is Disposition.ENFORCEABLE:
        action = PROFILES[profile][Group(finding.group)]
    return f"profile `{profile.value}` {verbs[action]} group `{finding.group}`"
