"""Programs whose first words say what they do: docker, kubectl, aws, npm, systemctl, …

A verb table is text, one effect per line: ``verb words | other words : operations +details``. ``*`` stands
for one word or its rest (``delete-*``), a ``--name`` among the words asks for that option, ``preview`` marks
what only shows. The first line that fits wins.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from latch_contracts.facts import Access, NetAction, Operation
from latchd.shell.grammar.description import DETAILS, PREVIEW, UNKNOWN, Contact, Context, Description, Target
from latchd.shell.grammar.options import Parsed
from latchd.shell.grammar.program import Judge, aimed


class Verb(msgspec.Struct, frozen=True):
    """One way to spell an effect: words in order, and options that must be given."""

    words: tuple[str, ...]
    options: tuple[str, ...]
    effect: Description


def verb_table(text: str) -> tuple[Verb, ...]:
    """Read a verb table. A word that is no operation and no detail: ValueError."""
    found: list[Verb] = []
    for line in text.strip().splitlines():
        spellings, _, effect_text = line.partition(" :")
        effect = _effect(effect_text.split())
        for spelling in spellings.split("|"):
            words = spelling.split()
            found.append(
                Verb(
                    tuple(word for word in words if not word.startswith("--")),
                    tuple(word[2:] for word in words if word.startswith("--")),
                    effect,
                )
            )
    return tuple(found)


def _effect(words: list[str]) -> Description:
    if words == ["preview"]:
        return PREVIEW
    details = tuple(word[1:] for word in words if word.startswith("+"))
    if unknown := [detail for detail in details if detail not in DETAILS]:
        raise ValueError(f"`{unknown[0]}` is no detail")
    return Description(
        known=True,
        operations=tuple(Operation(word) for word in words if not word.startswith("+")),
        details=details,
    )


def match(verbs: tuple[Verb, ...], parsed: Parsed) -> Verb | None:
    """The first verb that fits the operands and options."""
    operands = [word.value for word in parsed.operands]
    for verb in verbs:
        if len(verb.words) > len(operands):
            continue
        if verb.options and not all(parsed.has(name) for name in verb.options):
            continue
        if all(_fits(pattern, word) for pattern, word in zip(verb.words, operands, strict=False)):
            return verb
    return None


def _fits(pattern: str, word: str) -> bool:
    return pattern == "*" or pattern == word or ("*" in pattern and fnmatchcase(word, pattern))


Extra = Callable[[Parsed, Description, Context], Description]


def by_verb(table: str, otherwise: Description = UNKNOWN, extra: Extra | None = None) -> Judge:
    """A judge that looks its operands up in a table; ``otherwise`` is for verbs that are not in it.

    These programs show help wherever ``--help`` stands. ``extra`` adds what words and options say.
    """
    verbs = verb_table(table)

    def judge(parsed: Parsed, context: Context) -> Description:
        if parsed.has("help"):
            return PREVIEW
        verb = match(verbs, parsed)
        description = verb.effect if verb is not None else otherwise
        return extra(parsed, description, context) if extra is not None else description

    return judge


HARMLESS: Final = Description(known=True)
RUNS: Final = Description(known=True, operations=(Operation.EXECUTE,))
ASKS: Final = Description(known=True, operations=(Operation.CONNECT,))


def with_files(read: str = "", written: str = "", deleted: str = "") -> Extra:
    """Adds the files that the named options hold (canonical names, blank-separated)."""

    def extra(parsed: Parsed, description: Description, _context: Context) -> Description:
        targets: list[Target] = [*description.targets]
        targets += aimed(Access.READ, parsed.values(*read.split())) if read else ()
        targets += aimed(Access.WRITE, parsed.values(*written.split())) if written else ()
        targets += aimed(Access.DELETE, parsed.values(*deleted.split())) if deleted else ()
        return msgspec.structs.replace(description, targets=tuple(targets))

    return extra


def peers(action: NetAction, parsed: Parsed, *names: str) -> tuple[Contact, ...]:
    """Contacts from options that name a host or URL."""
    return tuple(Contact(action, word) for word in parsed.values(*names))
