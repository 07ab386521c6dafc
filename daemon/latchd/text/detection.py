"""What there is to tell of an event's texts: where, of what kind, and never what it says.

INVARIANT (text is only told): a finding of a text is detection-only, holds no byte of the text, and
changes neither a verdict nor the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import msgspec

from latch_contracts.events import Text
from latch_contracts.verdict import Disposition, Finding, Route, Severity
from latchd.text.catalogue import TEXT_RULES
from latchd.text.patterns import Pattern, Words
from latchd.text.rule import Group, TextRule

MAX_BYTES: Final = (
    256 * 1024
)  # of all texts of one event; a shell's output is cut at 30 KB by agents themselves
MAX_TEXTS: Final = 256  # each costs some microseconds, however short; a structured answer may hold thousands
MAX_FINDINGS: Final = 32
MAX_OF_ONE_RULE: Final = 8  # a file of a thousand tokens is one leak
_TRIES: Final = 256  # matches of one pattern that are looked at, most of which a check may refuse

_LOUDNESS: Final = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW)


class Noticed(msgspec.Struct, frozen=True):
    """``findings`` in the order of the texts. ``unexamined``: bytes that the bound left out."""

    findings: tuple[Finding, ...] = ()
    examined: int = 0
    unexamined: int = 0


NOTHING: Final = Noticed()


class _Part(msgspec.Struct, frozen=True):
    """A stretch of a text: ``offset`` is where it begins in it."""

    surface: str
    offset: int
    data: bytes


def detect(texts: Sequence[Text], disabled: frozenset[str] = frozenset()) -> Noticed:
    """Look through the texts of one event. ``disabled`` are rule ids that stay silent."""
    if not texts:
        return Noticed()
    parts, unexamined = _parts(texts)
    findings: list[Finding] = []
    for part in parts:
        findings += _findings(part, disabled)
    if len(findings) > MAX_FINDINGS:
        loudest = sorted(findings, key=lambda finding: _LOUDNESS.index(finding.severity))[:MAX_FINDINGS]
        findings = [finding for finding in findings if any(finding is one for one in loudest)]
    return Noticed(tuple(findings), sum(len(part.data) for part in parts), unexamined)


def _findings(part: _Part, disabled: frozenset[str]) -> Iterator[Finding]:
    taken: list[tuple[int, int]] = []  # one secret is told once, under its most telling name
    for rule, pattern in _candidates(part.data):
        if rule.id in disabled:
            continue
        for start, end in _spans(rule, pattern, part.data):
            if rule.group is Group.SECRET:
                if any(start < other and one < end for one, other in taken):
                    continue
                taken.append((start, end))
            yield Finding(
                rule=rule.id,
                group=rule.group,
                severity=rule.severity,
                reason=rule.title,
                route=Route.FALLBACK,
                disposition=Disposition.DETECT,
                surface=part.surface,
                start=part.offset + start,
                end=part.offset + end,
            )


def _spans(rule: TextRule, pattern: Pattern, data: bytes) -> Iterator[tuple[int, int]]:
    found = 0
    for tried, match in enumerate(pattern.finditer(data)):
        if tried == _TRIES or found == MAX_OF_ONE_RULE:
            return
        groups = (match.span(group) for group in range(1, pattern.groups + 1))
        start, end = next((span for span in groups if span[0] >= 0), match.span())
        if rule.check is None or rule.check(data, start, end):
            found += 1
            yield start, end


def _candidates(data: bytes) -> Iterator[tuple[TextRule, Pattern]]:
    """The rules whose hints the text holds, in catalogue order."""
    words, rules_of = _hints()
    indexes = {index for word in words.found(data) for index in rules_of[word]}
    for index in sorted(indexes.union(_UNHINTED)):
        yield TEXT_RULES[index], _pattern(index)


_UNHINTED: Final = tuple(index for index, rule in enumerate(TEXT_RULES) if not rule.hints)


@cache
def _hints() -> tuple[Words, tuple[tuple[int, ...], ...]]:
    """The automaton of all hints, and which rules each word is a hint of."""
    hinted: dict[str, list[int]] = {}
    for index, rule in enumerate(TEXT_RULES):
        for hint in rule.hints:
            hinted.setdefault(hint.lower(), []).append(index)
    return Words(tuple(hinted)), tuple(tuple(indexes) for indexes in hinted.values())


@cache
def _pattern(index: int) -> Pattern:
    return Pattern(TEXT_RULES[index].pattern)


def _parts(texts: Sequence[Text]) -> tuple[list[_Part], int]:
    """What is looked at: everything, or of each long text its head and its tail; and the bytes left out."""
    encoded = [
        (text.surface, text.text.encode("utf-8", "replace")) for text in texts[:MAX_TEXTS] if text.text
    ]
    shares = _shares([len(data) for _, data in encoded])
    parts: list[_Part] = []
    unexamined = sum(len(text.text) for text in texts[MAX_TEXTS:])  # characters, near enough to bytes here
    for (surface, data), share in zip(encoded, shares, strict=True):
        if share >= len(data):
            parts.append(_Part(surface, 0, data))
            continue
        unexamined += len(data) - share
        head = share - share // 2
        parts.append(_Part(surface, 0, data[:head]))
        parts.append(_Part(surface, len(data) - share // 2, data[len(data) - share // 2 :]))
    return parts, unexamined


def _shares(lengths: list[int]) -> list[int]:
    """How many bytes of each text are looked at: short ones whole, what is left in equal shares."""
    shares = [0] * len(lengths)
    left = MAX_BYTES
    for done, place in enumerate(sorted(range(len(lengths)), key=lengths.__getitem__)):
        shares[place] = min(lengths[place], left // (len(lengths) - done))
        left -= shares[place]
    return shares
