"""What is wrong with rules that compile: examples that don't hold, and advice that is refused itself.

The same questions are asked of built-in rules by a test, of packs by `latchctl rules validate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_ORDER: Final = (Action.ALLOW, Action.ASK, Action.DENY)


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong; ``line`` 0 = with a built-in rule, ``rule`` "" = with a pack as a whole."""

    source: str
    line: int
    rule: str
    why: str

    def __str__(self) -> str:
        where = f"{self.source}:{self.line}" if self.line else self.source
        return f"{where}: `{self.rule}`: {self.why}" if self.rule else f"{where}: {self.why}"


class Example(msgspec.Struct, frozen=True):
    """One example of a rule, and what became of it; ``why`` is "" when it holds."""

    rule: str
    command: str
    wanted: str  # "found" or "not found"
    why: str


def faults(rules: Generation, entry: Entry) -> Iterator[Fault]:
    """What is wrong with one rule of these. A rule that is off is looked at like any other."""

    def fault(why: str) -> Fault:
        return Fault(entry.source, entry.line, entry.rule.id, why)

    if entry.declared is not None and not entry.rule.denies:
        yield fault("has no `denies`, so nothing shows that it can match")
    for example in examples(rules, entry):
        if example.why:
            yield fault(f"`{example.command}` {example.why}")
    for command in sorted(_advised(entry, rules)):
        verdict = _judged(rules, command)
        own = any(found.rule == entry.rule.id for found in verdict[1])
        if verdict[0] is Action.DENY or own:
            by = entry.rule.id if own else verdict[2]
            yield fault(f"advises `{command}`, which `{by}` refuses")


def examples(rules: Generation, entry: Entry) -> Iterator[Example]:
    """Each example of a rule, judged alone and, where it must be found, by the whole walk."""
    rule = entry.rule
    wanted = Policy().answer(rule.group, rule.severity)
    for command in rule.denies:
        found = _found(rule, rules, command)
        why = ""
        if not found:
            why = "is not found by its own rule"
        elif entry.enabled and _ORDER.index(_judged(rules, command)[0]) < _ORDER.index(wanted):
            why = f"is not answered with {wanted.value}"
        yield Example(rule.id, command, "found", why)
    for command in rule.passes:
        found = _found(rule, rules, command)
        yield Example(rule.id, command, "not found", "is found by its own rule" if found else "")


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
