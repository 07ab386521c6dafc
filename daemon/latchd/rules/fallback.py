"""Where a pattern may be met: in a thing that the facts name, never in text that merely stands in the call.

INVARIANT (a mention is no use): what a program prints, searches or edits satisfies no rule about commands,
nor does a quoted text handed to a program that the rule does not name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Command, Effect, Kind, Quote
from latchd.guard.subject import Subject
from latchd.guard.targets import shown
from latchd.rules.pack import PackRule
from latchd.rules.patterns import Pattern
from latchd.rules.view import line
from latchd.shell.grammar.registry import plain_name

# Programs that carry text: what they are given is data to them.
CARRIERS: Final = frozenset(
    "echo printf print cat head tail less more bat tac nl logger wall notify-send say espeak cowsay figlet "
    "grep egrep fgrep rg ag ack zgrep pcregrep sed gsed awk gawk mawk nawk cut tr sort uniq wc tee fold fmt "
    "diff cmp comm strings jq yq find gfind fd fdfind ls test [ [[ true false : man tldr which type "
    "apropos whatis".split()
)
_SPACE: Final = re.compile(r"\s")
MAX_LINE: Final = 65_536  # characters; a shell text of more is refused as such


def bound(subject: Subject, rule: PackRule, pattern: Pattern) -> Iterator[tuple[int, str]]:
    """Each thing the pattern is met in: its command, and what to call it."""
    if "command" in rule.binds:
        for command in _spoken(subject, rule):
            if pattern.search(_text(command, rule)):
                yield command.id, words(command)
    if "pipeline" in rule.binds:
        for first, text in _pipelines(subject):
            if pattern.search(text):
                yield first.id, words(first)
    if "path" in rule.binds:
        for fact in subject.facts.paths:
            owner = subject.facts.command(fact.command_id)
            acts = owner is None or owner.effect is not Effect.PREVIEW
            if acts and any(pattern.search(text) for text in {fact.value, fact.resolved} if text):
                yield fact.command_id, shown(fact)
    if "network" in rule.binds:
        for command, peer in subject.contacts():
            spelled = f"{peer.scheme}://{peer.host}:{peer.port}" if peer.scheme else peer.host
            if peer.host and any(pattern.search(text) for text in {peer.host, spelled}):
                yield command.id, peer.host.replace("\0", "$…")[:120]


def _is_about(command: Command, rule: PackRule) -> bool:
    """Whether the rule speaks of this command's program."""
    return not rule.programs or plain_name(command.program) in rule.programs


def words(command: Command) -> str:
    """The first words of a command, as a reason names them."""
    return " ".join(command.argv[:3]).replace("\0", "$…")[:60]


def _spoken(subject: Subject, rule: PackRule) -> Iterator[Command]:
    for command in subject.acting():
        carries = command.program in CARRIERS or not command.program
        if command.kind is Kind.PROCESS and not carries and _is_about(command, rule):
            yield command


def _text(command: Command, rule: PackRule) -> str:
    if rule.programs:
        return line(command)[:MAX_LINE]
    kept = (
        plain_name(command.program),
        *(_unquoted(word.value, word.quote) for word in command.arguments[1:]),
    )
    return " ".join(kept).replace("\0", "$")[:MAX_LINE]


def _unquoted(value: str, quote: Quote) -> str:
    """A word as typed; one that was quoted because it is a text of its own is blank."""
    return "''" if quote is not Quote.NONE and _SPACE.search(value) else value


def _pipelines(subject: Subject) -> Iterator[tuple[Command, str]]:
    """Pipelines whose every step is proven to feed the next, as `a | b`."""
    flows = {(flow.from_command, flow.to_command) for flow in subject.facts.flows}
    acting = list(subject.acting())
    for number in dict.fromkeys(command.pipeline for command in acting if command.pipeline):
        steps = [command for command in acting if command.pipeline == number]
        proven = all((one.id, other.id) in flows for one, other in itertools.pairwise(steps))
        if len(steps) > 1 and proven:
            yield steps[0], " | ".join(line(step) for step in steps)[:MAX_LINE]
