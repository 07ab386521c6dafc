"""Who decides, in load order: exactly these two. A third one is a decision of its own, not an entry here.

Analysis of text, rules and gates are libraries below the participants; none of them registers anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from latch_contracts.verdict import Finding, Route
from latchd.guard.embedded import embedded
from latchd.guard.groups import Group
from latchd.guard.rule import Rule
from latchd.guard.rules import RULES, SELF_PROTECTION
from latchd.guard.subject import Subject

NAMES: Final = ("self-protection", "guard")


class Participant(msgspec.Struct, frozen=True):
    """A named decider. ``decide`` gives its findings in order; what they lead to is the walk's to say."""

    name: str
    decide: Callable[[Subject], tuple[Finding, ...]]


def _deciding(rules: tuple[Rule, ...]) -> Callable[[Subject], tuple[Finding, ...]]:
    def decide(subject: Subject) -> tuple[Finding, ...]:
        return (*_found(rules, subject), *_inside(rules, subject))

    return decide


def _found(rules: tuple[Rule, ...], subject: Subject) -> Iterator[Finding]:
    return (finding for rule in rules for finding in rule.findings(subject))


# What can't be read or told in an inner program is no more than that: the outer one was read.
_OUTER_ONLY: Final = frozenset((Group.CANNOT_VOUCH, Group.CANNOT_VOUCH_DESTRUCTIVE))


def _inside(rules: tuple[Rule, ...], subject: Subject) -> Iterator[Finding]:
    """What the same rules find in programs that stand in the text, as findings of what runs these."""
    for command_id, inner in embedded(subject):
        judged = tuple(rule for rule in rules if rule.group not in _OUTER_ONLY)
        for finding in _found(judged, inner):
            yield msgspec.structs.replace(finding, command_id=command_id, route=Route.FALLBACK)


PARTICIPANTS: Final = (
    Participant(name="self-protection", decide=_deciding(SELF_PROTECTION)),
    Participant(name="guard", decide=_deciding(RULES)),
)


def fault(participants: tuple[Participant, ...]) -> str:
    """Why these are not the participants there must be, in that order; "" when they are."""
    names = tuple(participant.name for participant in participants)
    if names == NAMES:
        return ""
    return f"participants are {', '.join(names) or 'none'}; they must be {', '.join(NAMES)}"
