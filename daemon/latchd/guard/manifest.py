"""Who decides, in load order: exactly these two. A third one is a decision of its own, not an entry here.

Analysis of text, rules and gates are libraries below the participants; none of them registers anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from latch_contracts.verdict import Finding, Route
from latchd.guard.embedded import embedded
from latchd.guard.groups import Group
from latchd.guard.rule import Rule
from latchd.guard.subject import Subject
from latchd.rules.bundled import without
from latchd.rules.generation import Catalogue, Generation

NAMES: Final = ("self-protection", "guard")


class Participant(msgspec.Struct, frozen=True):
    """A named decider. ``decide`` gives its findings in order; what they lead to is the walk's to say."""

    name: str
    decide: Callable[[Subject], tuple[Finding, ...]]


def _protecting(subject: Subject) -> tuple[Finding, ...]:
    rules = _rules(subject)
    return _decided(rules, rules.self_protection, subject)


def _guarding(subject: Subject) -> tuple[Finding, ...]:
    rules = _rules(subject)
    return _decided(rules, rules.guard, subject)


def _rules(subject: Subject) -> Generation:
    return subject.rules if subject.rules is not None else without(subject.policy.rules.disable)


def _decided(rules: Generation, catalogue: Catalogue, subject: Subject) -> tuple[Finding, ...]:
    found = _found(rules.worth_asking(catalogue, subject), subject)
    return (*found, *_inside(rules, catalogue, subject))


def _found(rules: Iterable[Rule], subject: Subject) -> Iterator[Finding]:
    for rule in rules:
        subject.pace.check()
        yield from rule.findings(subject)


# What can't be read or told in an inner program is no more than that: the outer one was read.
_OUTER_ONLY: Final = frozenset((Group.CANNOT_VOUCH, Group.CANNOT_VOUCH_DESTRUCTIVE))


def _is_of_the_call(rule: Rule, subject: Subject) -> bool:
    """Whether the rule tells a danger that can be read: the command line in a tool's argument is the call."""
    return not subject.is_shell and not rule.id.startswith("vouch.")


def _inside(rules: Generation, catalogue: Catalogue, subject: Subject) -> Iterator[Finding]:
    """What the same rules find in programs that stand in the text, as findings of what runs these."""
    for command_id, inner in embedded(subject):
        asked = rules.worth_asking(catalogue, inner)
        told = (rule for rule in asked if rule.group not in _OUTER_ONLY or _is_of_the_call(rule, subject))
        for finding in _found(told, inner):
            yield msgspec.structs.replace(finding, command_id=command_id, route=Route.FALLBACK)


PARTICIPANTS: Final = (
    Participant(name="self-protection", decide=_protecting),
    Participant(name="guard", decide=_guarding),
)


def fault(participants: tuple[Participant, ...]) -> str:
    """Why these are not the participants there must be, in that order; "" when they are."""
    names = tuple(participant.name for participant in participants)
    if names == NAMES:
        return ""
    return f"participants are {', '.join(names) or 'none'}; they must be {', '.join(NAMES)}"
