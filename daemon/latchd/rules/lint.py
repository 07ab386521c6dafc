"""What is wrong with rules that compile: examples that don't hold, and advice that is refused itself.

The same questions are asked of built-in rules by a test, of packs by `latchctl rules validate` and, as far as
trying.py bounds it, by whoever puts them in force.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import msgspec

from latch_contracts.verdict import Action, Disposition, Finding
from latchd.guard.rule import Rule
from latchd.guard.walk import judge
from latchd.offline import RowError, subject_of
from latchd.policy import Policy
from latchd.rules.compiling import Entry
from latchd.rules.generation import Generation

_QUOTED: Final = re.compile(r"`([^`]{1,512})`")
_FOUND: Final = "is found by its own rule"
_ORDER: Final = (Action.ALLOW, Action.ASK, Action.DENY)


class Weight(enum.Enum):
    """What a fault means for rules that are about to be put in force."""

    REFUSED = "refused"  # they are not what whoever wrote them takes them for
    TOLD = "told"  # they may be right, only nothing shows it


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong; ``line`` 0 = with a built-in rule, ``rule`` "" = with a pack as a whole."""

    source: str
    line: int
    rule: str
    why: str
    weight: Weight = Weight.REFUSED

    def __str__(self) -> str:
        where = f"{self.source}:{self.line}" if self.line else self.source
        return f"{where}: `{self.rule}`: {self.why}" if self.rule else f"{where}: {self.why}"


class Example(msgspec.Struct, frozen=True):
    """One example of a rule, and what became of it; ``why`` is "" when it holds."""

    rule: str
    command: str
    wanted: str  # "found" or "not found"
    why: str


class Check(msgspec.Struct, frozen=True):
    """One question about a rule: the command that is judged for it, and what asks."""

    command: str
    asked: Callable[[], Fault | None]


def faults(rules: Generation, entry: Entry) -> Iterator[Fault]:
    """What is wrong with one rule of these. A rule that is off is looked at like any other."""
    yield from unshown(entry)
    for check in checks(rules, entry):
        if (fault := check.asked()) is not None:
            yield fault


def unshown(entry: Entry) -> Iterator[Fault]:
    """What a look at the rule tells, before anything is judged."""
    if entry.declared is not None and not entry.rule.denies:
        why = "has no `denies`, so nothing shows that it can match"
        yield Fault(entry.source, entry.line, entry.rule.id, why, Weight.TOLD)


def checks(rules: Generation, entry: Entry) -> Iterator[Check]:
    """What is to be asked of one rule, each question some judging and not asked yet."""
    rule = entry.rule

    def fault(why: str) -> Fault:
        return Fault(entry.source, entry.line, rule.id, why)

    def must_be_found(command: str) -> Fault | None:
        why = _unfound(rules, entry, command)
        return fault(f"`{command}` {why}") if why else None

    def must_pass(command: str) -> Fault | None:
        return fault(f"`{command}` {_FOUND}") if _found(rule, rules, command) else None

    def may_be_advised(command: str) -> Fault | None:
        action, found, by = _judged(rules, command)
        own = any(one.rule == rule.id for one in found)
        if action is not Action.DENY and not own:
            return None
        return fault(f"advises `{command}`, which `{rule.id if own else by}` refuses")

    for ask, commands in (
        (must_be_found, rule.denies),
        (must_pass, rule.passes),
        (may_be_advised, sorted(_advised(entry, rules))),
    ):
        for command in commands:
            yield Check(command, partial(ask, command))


def examples(rules: Generation, entry: Entry) -> Iterator[Example]:
    """Each example of a rule, judged alone and, where it must be found, by the whole walk."""
    rule = entry.rule
    for command in rule.denies:
        yield Example(rule.id, command, "found", _unfound(rules, entry, command))
    for command in rule.passes:
        found = _found(rule, rules, command)
        yield Example(rule.id, command, "not found", _FOUND if found else "")


def _unfound(rules: Generation, entry: Entry, command: str) -> str:
    """Why an example that must be found is not found as it should be; "" when it is."""
    rule = entry.rule
    if not _found(rule, rules, command):
        return "is not found by its own rule"
    wanted = Policy().answer(rule.group, rule.severity)
    if entry.enabled and _ORDER.index(_judged(rules, command)[0]) < _ORDER.index(wanted):
        return f"is not answered with {wanted.value}"
    return ""


def said(entry: Entry) -> tuple[str, ...]:
    """What is wrong and the way out, as a pack says it or as the first example is told; else ()."""
    if entry.declared is not None:
        return entry.declared.message, entry.declared.instead
    hits = (
        hit
        for command in entry.rule.denies
        for hit in entry.rule.check(subject_of({"command": command}, Policy()))
    )
    return next(((hit.says, hit.instead) for hit in hits), ())


def _found(rule: Rule, rules: Generation, command: str) -> bool:
    """Whether a rule finds something in a command that it may refuse."""
    try:
        subject = subject_of({"command": command}, Policy(), rules=rules)
    except RowError:
        return False
    return any(one.disposition is Disposition.ENFORCEABLE for one in rule.findings(subject))


def _judged(rules: Generation, command: str) -> tuple[Action, tuple[Finding, ...], str]:
    try:
        verdict = judge(subject_of({"command": command}, Policy(), rules=rules))
    except RowError:
        return Action.ALLOW, (), ""
    return verdict.action, verdict.findings, verdict.rule or ""


def _advised(entry: Entry, rules: Generation) -> set[str]:
    """The commands that stand in a rule's way out: written in a pack, or said about its examples."""
    if entry.declared is not None:
        texts = {entry.declared.instead}
    else:
        subjects = (subject_of({"command": command}, Policy(), rules=rules) for command in entry.rule.denies)
        texts = {hit.instead for subject in subjects for hit in entry.rule.check(subject)}
    return {found for text in texts for found in _QUOTED.findall(text)}
