"""A whole shell script judged as the guard judges a command, and the line of each thing it finds.

A script that is too long for one analysis is judged in passages: whole statements, each with the
plain assignments and directory changes that stand before it. Pure; the disk is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Status
from latch_contracts.verdict import Action, Disposition, Finding
from latchd.guard.groups import Group
from latchd.guard.manifest import PARTICIPANTS
from latchd.guard.subject import Subject
from latchd.guard.walk import judge
from latchd.offline import subject_of
from latchd.policy import Policy
from latchd.script_lines import line_of, statements

_STATEMENTS: Final = 16  # put together as long as they fit one analysis
_PRELUDE: Final = 64  # plain lines that are carried on

_PLAIN: Final = re.compile(
    r"(?:(?:export|readonly|local|declare)\s+)?[A-Za-z_][A-Za-z0-9_]*=(?:[\w./:@%+,~-]*|'[^'\n]*'|\"[^\"\n`\\]*\")\s*"
    r"|set\s+-[a-z]*e[a-z]*(?:\s+-?o\s+pipefail)?\s*|cd\s+[\w./~\"${}-]+\s*"
)
_FUNCTION: Final = re.compile(r"\s*(?:function\s+)?[\w:.-]+\s*(?:\(\s*\))?\s*\{\s*(?:#.*)?")


class Told(msgspec.Struct, frozen=True):
    """One finding and what the policy does about it. ``line`` is 1-based, in the text that was given."""

    line: int
    finding: Finding
    action: Action


def look(
    text: str, policy: Policy, *, cwd: str, home: str, in_image: bool = False, stops: bool = False
) -> tuple[Told, ...]:
    """Everything the guard finds in a script, in the order of its lines, each thing once a line.

    ``in_image``: it runs while an image is built, and what it does to that machine harms nobody.
    ``stops``: its shell ends at the first failure.
    """
    lines = text.splitlines()
    before = ["set -e"] if stops else []
    told = _judged(lines, 0, before, policy, (cwd, home), sure=True)
    if told is None:
        told = [one for passage in _passages(lines, 0, policy, (cwd, home), before) for one in passage]
    if in_image:
        told = [_lowered(one) for one in told]
    once = {(one.line, one.finding.rule, one.finding.target): one for one in reversed(told)}
    return tuple(sorted(once.values(), key=lambda one: (one.line, one.finding.rule, one.finding.target)))


def _passages(
    lines: Sequence[str],
    offset: int,
    policy: Policy,
    places: tuple[str, str],
    before: Sequence[str],
    depth: int = 0,
) -> Iterator[list[Told]]:
    """The findings of passage after passage. ``before`` is the prelude of the first."""
    prelude = list(before)
    spans = list(statements(lines))
    for first in range(0, len(spans), _STATEMENTS):
        yield from _halved(lines, spans[first : first + _STATEMENTS], offset, prelude, policy, places, depth)


def _halved(
    lines: Sequence[str],
    spans: list[tuple[int, int]],
    offset: int,
    prelude: list[str],
    policy: Policy,
    places: tuple[str, str],
    depth: int,
) -> Iterator[list[Told]]:
    """Statements judged together where that can be understood in full, else in halves, at last one by one.

    The prelude grows by what they hand on. A long function is opened up.
    """
    start, end = spans[0][0], spans[-1][1]
    told = _judged(lines[start:end], offset + start, prelude, policy, places, sure=len(spans) > 1)
    if told is not None:
        yield told
    elif len(spans) > 1:
        middle = len(spans) // 2
        yield from _halved(lines, spans[:middle], offset, prelude, policy, places, depth)
        yield from _halved(lines, spans[middle:], offset, prelude, policy, places, depth)
        return
    elif depth < 2 and _FUNCTION.fullmatch(lines[start]) and lines[end - 1].strip() == "}":
        yield from _passages(lines[start + 1 : end - 1], offset + start + 1, policy, places, (), depth + 1)
    else:
        yield _judged(lines[start:end], offset + start, prelude, policy, places, whole=True) or []
    prelude += (line.rstrip() for line in lines[start:end] if _PLAIN.fullmatch(line))
    del prelude[:-_PRELUDE]


def _judged(
    lines: Sequence[str],
    offset: int,
    prelude: Sequence[str],
    policy: Policy,
    places: tuple[str, str],
    *,
    whole: bool = False,
    sure: bool = False,
) -> list[Told] | None:
    """What is found in these lines, after the prelude; None when they are more than one analysis takes.

    ``whole`` takes what there is of it; ``sure`` takes only what was understood in full: of a script in
    which something was not, the passages tell which.
    """
    text = "\n".join((*prelude, *lines, ""))
    cwd, home = places
    subject = subject_of({"command": text, "cwd": cwd, "home": home}, policy)
    status = subject.facts.status
    if status is Status.LIMIT_EXCEEDED and not whole:
        return None
    if sure and status not in (Status.COMPLETE, Status.NOT_APPLICABLE):
        return None
    found = list(_findings(subject))
    told_before: frozenset[tuple[str, str]] = frozenset()
    if prelude and not all(finding.command_id for finding in found):
        told_before = _of_prelude(prelude, policy, places)
    return [
        Told(offset + line + 1, finding, _action(finding, policy))
        for finding in found
        if finding.command_id or (finding.rule, finding.target) not in told_before
        if (line := line_of(subject, finding.command_id, prelude, lines)) >= 0
    ]


def _of_prelude(
    prelude: Sequence[str], policy: Policy, places: tuple[str, str]
) -> frozenset[tuple[str, str]]:
    """What the prelude by itself is found by as a text: it was told where it stands, not at what follows."""
    cwd, home = places
    subject = subject_of({"command": "\n".join((*prelude, "")), "cwd": cwd, "home": home}, policy)
    return frozenset((one.rule, one.target) for one in _findings(subject) if not one.command_id)


def _findings(subject: Subject) -> Iterator[Finding]:
    """Of every participant: the walk ends at the first that refuses, and a reader wants them all."""
    for participant in PARTICIPANTS:
        verdict = judge(subject, (participant,))
        yield from (*verdict.findings, *verdict.notes)


def _action(finding: Finding, policy: Policy) -> Action:
    if finding.disposition is Disposition.DETECT:
        return Action.ALLOW
    return policy.answer(Group(finding.group), finding.severity)


# Of an image being built, everything is its builder's own: files, accounts, services.
_OWN_TO_AN_IMAGE: Final = frozenset(
    (
        Group.DESTROY,
        Group.DELETE_INSIDE,
        Group.GIT_LOSS,
        Group.WRITE_OUTSIDE,
        Group.PROTECTED,
        Group.PERSISTENCE,
        Group.OVERWRITE_UNKNOWN,
        Group.PACKAGE,
        Group.UNUSUAL,
        Group.NOTABLE,
    )
)


def _lowered(told: Told) -> Told:
    if told.finding.group in _OWN_TO_AN_IMAGE:
        return msgspec.structs.replace(told, action=Action.ALLOW)
    return told
