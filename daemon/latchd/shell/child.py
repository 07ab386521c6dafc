"""A command inside a command, and what finding it brought to light.

Nothing here reads a wrapper; these are the values that all of them answer with.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.grammar.description import Context
from latchd.shell.grammar.places import resolve
from latchd.shell.grammar.registry import find
from latchd.shell.listing import Input
from latchd.shell.parse import code_text
from latchd.shell.variables import HOLE as HOLE
from latchd.shell.wrappers import DANGEROUS

_ONE_WORD: Final = re.compile(r"[\w./:=@%+,\0-]+\Z")
_ENDINGS: Final = frozenset({".exe", ".cmd", ".bat"})


class Child(msgspec.Struct, frozen=True):
    """A command inside a command: words, or shell text (bytes view) when ``words`` is None."""

    words: tuple[Argument, ...] | None = None
    code: str = ""
    head: int = 1  # words of the outer command that are the wrapper's own
    reach: Reach = Reach.ALWAYS
    remote: bool = False
    straight: bool = False  # runs in the very shell: eval, source, command, builtin
    reads: Input | None = None  # its stdin, when not the wrapper's own
    wraps: bool = True
    quotes: bool = False  # the words it takes over stand quoted in its code
    directories: tuple[Argument, ...] = ()  # it goes there first, one step after another
    may_stay: bool = False  # or not: versions of the wrapper differ
    parameters: tuple[Argument, ...] | None = None  # of a shell that runs its code: $0, $1, …


class Unwrapped(msgspec.Struct, frozen=True):
    children: tuple[Child, ...] = ()
    issues: tuple[Issue, ...] = ()
    runs_input: bool = False
    suspected: str = ""
    details: tuple[str, ...] = ()
    forgets: bool = False  # code that was not seen ran in this shell
    stream: int = 0  # the word that is `<(…)` and whose text is the program


NOTHING: Final = Unwrapped()


def program_name(word: str) -> str:
    """Lower-cased basename, without what Windows adds: directories with a backslash, ``.exe`` and kin."""
    name = word.rstrip("/").rpartition("/")[2].rpartition("\\")[2].lower()
    if name[-4:] not in _ENDINGS:
        return name
    return name[:-4] or name


def is_open(word: Argument) -> bool:
    """Whether a command word leaves open which program runs.

    A known program in a directory that is not known, as in `"$JAVA_HOME/bin/java"`, does not.
    """
    if not word.expands and not word.globs:
        return not word.value
    lead, _, name = word.value.rpartition("/")
    return word.globs or not lead.startswith("\0") or "\0" in name or find(program_name(name)) is None


def suspected_tail(words: Sequence[Argument]) -> str:
    """The tail of an unknown program's words that would be dangerous by itself, or nothing."""
    for index, word in enumerate(words[1:], 1):
        if word.expands or program_name(word.value) not in DANGEROUS or index + 1 >= len(words):
            continue
        return " ".join(item.value for item in words[index:])[:512]
    return ""


def gone_to(child: Child, places: tuple[str, ...], home: str) -> tuple[str, ...]:
    """The directories a child may run in, its wrapper being in one of ``places``; empty = not known."""
    before = places if child.may_stay else ()
    for directory in child.directories:
        if directory.globs or not directory.value:
            return ()
        found = [resolve(directory, Context(place, home)) for place in places or ("",)]
        if not all(found):
            return ()
        places = tuple(dict.fromkeys((*before, *found)))
    return places


def joined(words: Sequence[Argument]) -> str:
    return code_text(" ".join(word.value for word in words))


def quoted(words: Sequence[Argument]) -> str:
    return " ".join("\x01" if "\0" in word.value else shlex.quote(code_text(word.value)) for word in words)


def split_words(text: str) -> tuple[Argument, ...]:
    """Text cut into words as a program without a shell does; one hole where that can't be done."""
    if _ONE_WORD.match(text):  # most are, and shlex is slow
        return (Argument(text, expands="\0" in text, globs="\0" in text),)
    try:
        parts = shlex.split(text)
    except ValueError:
        return (HOLE,)
    return tuple(Argument(part, expands="\0" in part, globs="\0" in part) for part in parts)


def word_at(words: Sequence[Argument], index: int) -> Argument:
    return words[index] if index < len(words) else Argument("")
