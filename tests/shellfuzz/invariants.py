"""What holds for the facts of any text at all. One function says what does not."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import ActionFacts, Command, Effect, Issue, Kind, Status
from latchd.shell.facts import MAX_ISSUES, MAX_NETWORK, MAX_PATHS, analyze
from latchd.shell.flows import MAX_FLOWS
from latchd.shell.listing import LIMITS, MAX_COMMANDS

MAX_REDIRECTS: Final = 256
MAX_ARGUMENTS: Final = 1024
_INVALID: Final = frozenset({Issue.INVALID_SYNTAX, Issue.INVALID_UTF8, Issue.CONTROL_BYTES})


def broken(
    text: str, *, cwd: str = "/home/dev/project", home: str = "/home/dev", again: bool = True
) -> list[str]:
    """The promises that the facts of ``text`` break, in words; nothing when all hold.

    Without ``again`` the text is not analysed a second time: half the cost.
    """
    facts = analyze(text, cwd=cwd, home=home)
    found = [*_status(facts, text), *_sizes(facts), *_references(facts)]
    for command in facts.commands:
        found += _command(facts, command)
    if again and analyze(text, cwd=cwd, home=home) != facts:
        found.append("the same text gave other facts")
    if again and msgspec.msgpack.decode(msgspec.msgpack.encode(facts), type=ActionFacts) != facts:
        found.append("the facts don't survive the wire")
    return found


def _status(facts: ActionFacts, text: str) -> list[str]:
    issues = set(facts.issues)
    blank = not text.strip(" \t\n")
    right = {
        Status.NOT_APPLICABLE: blank and not issues,
        Status.COMPLETE: not blank and not issues,
        Status.LIMIT_EXCEEDED: bool(issues & LIMITS),
        Status.INVALID: bool(issues & _INVALID) and not issues & LIMITS,
        Status.PARTIAL: bool(issues) and not issues & LIMITS and not issues & _INVALID,
    }
    found: list[str] = []
    if Issue.INTERNAL_PARSER_FAILURE in issues:
        found.append("the analyser raised")
    elif not right.get(facts.status, False):
        found.append(f"status {facts.status} with issues {sorted(issues)}")
    if len(issues) != len(facts.issues):
        found.append("an issue is said twice")
    if facts.enforcement_eligible and not (
        facts.status is Status.COMPLETE
        and facts.commands
        and all(command.effect is Effect.EXECUTE for command in facts.commands)
    ):
        found.append("evidence that is not complete or does not act")
    return found


def _sizes(facts: ActionFacts) -> list[str]:
    counts = (
        ("issues", len(facts.issues), MAX_ISSUES),
        ("commands", len(facts.commands), MAX_COMMANDS),
        ("paths", len(facts.paths), MAX_PATHS),
        ("network", len(facts.network), MAX_NETWORK),
        ("flows", len(facts.flows), MAX_FLOWS),
        ("redirects", max((len(item.redirects) for item in facts.commands), default=0), MAX_REDIRECTS),
        ("arguments", max((len(item.argv) for item in facts.commands), default=0), MAX_ARGUMENTS),
    )
    return [f"{count} {name}, more than {limit}" for name, count, limit in counts if count > limit]


def _references(facts: ActionFacts) -> list[str]:
    found: list[str] = []
    last = len(facts.commands)
    if [command.id for command in facts.commands] != list(range(1, last + 1)):
        found.append("ids are not the commands' places")
    pointed = [
        *(command.parent for command in facts.commands),
        *(path.command_id for path in facts.paths),
        *(contact.command_id for contact in facts.network),
        *(end for flow in facts.flows for end in (flow.from_command, flow.to_command)),
    ]
    if not all(0 <= number <= last for number in pointed):
        found.append("a fact points at no command")
    if any(command.parent >= command.id for command in facts.commands):
        found.append("a parent stands after its child")
    return found


def _command(facts: ActionFacts, command: Command) -> list[str]:
    found: list[str] = []
    if command.argv != tuple(word.value for word in command.arguments):
        found.append("argv and arguments differ")
    if command.argv_complete != (not any(word.expands for word in command.arguments)):
        found.append("argv_complete does not tell whether a word expands")
    if any("\0" in word.value and not word.expands for word in command.arguments):
        found.append("a dynamic part is not marked")
    if facts.status is Status.COMPLETE and command.kind is Kind.PROCESS and not command.program:
        found.append("complete without a program")
    if command.kind is Kind.PROCESS and command.argv and command.executable != command.argv[0]:
        found.append("the executable is not the first word")
    if not command.program and command.kind is Kind.PROCESS and command.effect is not Effect.UNCERTAIN:
        found.append("an unknown program is sure of its effect")
    return found
