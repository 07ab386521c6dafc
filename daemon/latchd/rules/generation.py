"""A generation: every rule that judges, in order, indexed and fingerprinted; made whole and never changed.

A call holds the generation it began with to its end; a reload makes another one beside it. Built-in rules
come first, then the packs of this release, the person's, the project's: whatever comes later can only
refuse or ask more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from latch_contracts.canonical import digest
from latchd.guard.groups import NEVER_LIFTED
from latchd.guard.needs import traits
from latchd.guard.rule import Rule
from latchd.guard.rules import AFTER_PACKS, BEFORE_PACKS, SELF_PROTECTION
from latchd.guard.subject import Subject
from latchd.release import VERSION
from latchd.rules.compiling import Entry
from latchd.rules.pack import MAX_RULES
from latchd.rules.retired import RETIRED

BUILT_IN: Final = "built-in"


class GenerationError(Exception):
    """These rules can't judge together; the text is one line. ``entry`` is the one at fault, if one is."""

    def __init__(self, why: str, entry: Entry | None = None) -> None:
        super().__init__(why if entry is None else f"{_where(entry)}: {why}")
        self.why = why
        self.entry = entry


class Catalogue(msgspec.Struct, frozen=True):
    """Rules of one participant, indexed by what they need to see."""

    rules: tuple[Rule, ...]
    always: tuple[int, ...]
    by_trait: dict[str, tuple[int, ...]]

    def worth_asking(self, seen: Iterable[str]) -> list[Rule]:
        """The rules that could find something in a call of these traits, in their order."""
        places = set(self.always)
        for trait in seen:
            places.update(self.by_trait.get(trait, ()))
        return [self.rules[at] for at in sorted(places)]


class Generation(msgspec.Struct, frozen=True):
    """``entries`` are all rules, the disabled too; the catalogues hold what is asked."""

    entries: tuple[Entry, ...]
    self_protection: Catalogue
    guard: Catalogue
    fingerprint: bytes

    def entry(self, rule: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.rule.id == rule), None)

    def worth_asking(self, catalogue: Catalogue, subject: Subject) -> list[Rule]:
        """The rules to ask about a call, each of which is then counted as work."""
        asked = catalogue.worth_asking(traits(subject))
        subject.work.rules += len(asked)
        return asked


def generation(packs: Sequence[Entry], disable: Sequence[str] = ()) -> Generation:
    """The built-in rules with these of packs, without the disabled. Raises GenerationError."""
    mine = [Entry(rule, BUILT_IN) for rule in (*SELF_PROTECTION, *BEFORE_PACKS)]
    entries = [*mine, *packs, *(Entry(rule, BUILT_IN) for rule in AFTER_PACKS)]
    if len(packs) > MAX_RULES:
        raise GenerationError(f"the packs have {len(packs)} rules, the limit is {MAX_RULES}")
    _distinct(entries)
    known = {entry.rule.id: entry for entry in entries}
    for rule in disable:
        if rule not in known:
            raise GenerationError(f"`rules.disable` holds `{rule}`, which is no rule{_retired(rule)}")
        if known[rule].rule.group in NEVER_LIFTED:
            raise GenerationError(f"`rules.disable` holds `{rule}`, which keeps the guard in place")
    off = frozenset(disable)
    entries = [
        msgspec.structs.replace(entry, enabled=entry.enabled and entry.rule.id not in off)
        for entry in entries
    ]
    asked = tuple(entry.rule for entry in entries[len(SELF_PROTECTION) :] if entry.enabled)
    return Generation(tuple(entries), catalogue(SELF_PROTECTION), catalogue(asked), _fingerprint(entries))


def with_packs(base: Generation, packs: Sequence[Entry]) -> Generation:
    """A generation with more rules at the end of its packs, nothing taken away. Raises GenerationError."""
    at = len(base.entries) - len(AFTER_PACKS)
    entries = (*base.entries[:at], *packs, *base.entries[at:])
    _distinct(entries)
    asked = tuple(entry.rule for entry in entries[len(SELF_PROTECTION) :] if entry.enabled)
    return Generation(entries, base.self_protection, catalogue(asked), _fingerprint(entries))


def catalogue(rules: tuple[Rule, ...]) -> Catalogue:
    """Index rules by the traits they need."""
    always: list[int] = []
    by_trait: dict[str, list[int]] = {}
    for at, rule in enumerate(rules):
        if rule.needs is None:
            always.append(at)
        for trait in rule.needs or ():
            by_trait.setdefault(trait, []).append(at)
    return Catalogue(rules, tuple(always), {trait: tuple(places) for trait, places in by_trait.items()})


def _distinct(entries: Iterable[Entry]) -> None:
    """An id means one thing, now and for ever: records name rules by it."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        name = entry.rule.id
        if name in seen:
            raise GenerationError(f"`{name}` is a rule of {_where(seen[name])} already", entry)
        if name in RETIRED:
            raise GenerationError(f"`{name}` was a rule once{_retired(name)}", entry)
        seen[name] = entry


def _where(entry: Entry) -> str:
    return f"{entry.source}:{entry.line}" if entry.line else entry.source


def _retired(rule: str) -> str:
    return f" ({RETIRED[rule]})" if rule in RETIRED else ""


def _fingerprint(entries: Iterable[Entry]) -> bytes:
    """32 bytes that differ whenever the rules do; built-in ones are those of the release."""
    return digest(
        [
            VERSION,
            *(
                [
                    entry.rule.id,
                    entry.rule.group.value,
                    entry.rule.severity.value,
                    entry.rule.title,
                    entry.enabled,
                    msgspec.to_builtins(entry.declared) if entry.declared else None,
                ]
                for entry in entries
            ),
        ]
    )
