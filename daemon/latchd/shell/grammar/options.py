"""Option grammars as one line of text, and the parser that reads words by them.

A grammar lists options separated by blanks, the spellings of one option joined by commas, the first long
one (else the first) being its name: ``"r,R,recursive f,force t,target-directory= color?"``. ``=`` takes a
value, ``?`` one only if attached, ``!`` one after which only operands follow, ``%`` digits that are
attached, with more letters behind them (perl's ``-l40pe``; its ``-C`` knows letters too). ``#`` accepts
``-NUMBER``, ``~`` takes any other option for a flag (for programs whose flags change nothing that matters).
A word that is not known before it runs is an operand.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument


class Style(enum.Enum):
    """How a program's option parser walks its words."""

    PERMUTE = "permute"  # GNU: options anywhere before --
    LEADING = "leading"  # POSIX: the first operand ends the options
    DASHED = "dashed"  # find, openssl, terraform: long options with one dash, no clusters


class Arity(enum.Enum):
    FLAG = "flag"
    VALUE = "value"
    OPTIONAL = "optional"
    DIGITS = "digits"
    LAST = "last"  # takes a value, and all words after it are operands: python -c CODE


class Option(msgspec.Struct, frozen=True):
    name: str
    arity: Arity


class Options(msgspec.Struct, frozen=True):
    """A parsed grammar. ``numeric`` accepts -5 as the option named ``#``; ``lenient`` any flag."""

    spellings: Mapping[str, Option]  # one letter = short, more = long; without dashes
    style: Style = Style.PERMUTE
    numeric: bool = False
    lenient: bool = False
    abbreviates: bool = True


class Given(msgspec.Struct, frozen=True):
    """One option as it was given. ``value`` None = a flag."""

    name: str
    value: Argument | None = None


class Parsed(msgspec.Struct, frozen=True):
    """What the words were. ``early`` = names given ahead of the first operand.

    ``order`` is for programs whose options count from where they stand: what an option's ``--no-`` form
    took back is still in it.
    """

    given: tuple[Given, ...]
    operands: tuple[Argument, ...]
    unknown: bool
    early: frozenset[str]
    words: tuple[Argument, ...]
    order: tuple[Given, ...] = ()  # options and operands as they came; an operand has no name

    def has(self, *names: str) -> bool:
        return any(option.name in names for option in self.given)

    def values(self, *names: str) -> tuple[Argument, ...]:
        return tuple(o.value for o in self.given if o.name in names and o.value is not None)

    def value(self, *names: str) -> Argument | None:
        """The last value given under any of the names: the last one wins in every program here."""
        found = self.values(*names)
        return found[-1] if found else None

    def text(self, *names: str) -> str:
        found = self.value(*names)
        return found.value if found is not None else ""


_DIGITS: Final = (re.compile(r"[0-9]*"), re.compile(r"[0-9IOEioADSLa]*"))
_ARITIES: Final = {"=": Arity.VALUE, "?": Arity.OPTIONAL, "!": Arity.LAST, "%": Arity.DIGITS}


def grammar(text: str, style: Style = Style.PERMUTE, *, abbreviates: bool = True) -> Options:
    """Read a grammar line. A spelling given twice is a mistake in a table: ValueError."""
    spellings: dict[str, Option] = {}
    entries = text.split()
    for entry in entries:
        if entry in ("#", "~"):
            continue
        arity = _ARITIES.get(entry[-1], Arity.FLAG)
        names = entry.rstrip("=?!%").split(",")
        title = next((name for name in names if len(name) > 1), names[0])
        for name in names:
            if name in spellings:
                raise ValueError(f"option `{name}` is given twice in a grammar")
            spellings[name] = Option(title, arity)
    return Options(spellings, style, "#" in entries, "~" in entries, abbreviates)


def piece(word: Argument, start: int, stop: int | None = None) -> Argument:
    """A part of a word's value as a word of its own; dynamic only if that part is."""
    value = word.value[start:stop]
    expands = word.expands and ("\0" in value or "\0" not in word.value)
    return Argument(value=value, quote=word.quote, expands=expands, globs=word.globs)


def below(directory: Argument, word: Argument) -> Argument:
    """A word that is relative to a directory which another word names."""
    if word.value.startswith(("/", "~")) or directory.value == "":
        return word
    return Argument(
        value=f"{directory.value.rstrip('/')}/{word.value}",
        quote=directory.quote,
        expands=directory.expands or word.expands,
        globs=word.globs,
    )


def literal(value: str) -> Argument:
    """A word that the program itself implies, such as its default output file."""
    return Argument(value=value)


def parse(options: Options, words: Sequence[Argument]) -> Parsed:
    """Sort words into options and operands. Unknown options are skipped and marked."""
    reader = _Reader(options, words)
    while reader.at < len(words):
        reader.step()
    return Parsed(
        tuple(reader.given),
        tuple(reader.operands),
        reader.unknown,
        frozenset(reader.early),
        tuple(words),
        tuple(reader.order),
    )


class _Reader:
    """The walk over the words; ``at`` is the next word."""

    def __init__(self, options: Options, words: Sequence[Argument]) -> None:
        self.options = options
        self.words = words
        self.at = 0
        self.given: list[Given] = []
        self.operands: list[Argument] = []
        self.order: list[Given] = []
        self.early: set[str] = set()
        self.unknown = False

    def step(self) -> None:
        word = self.words[self.at]
        self.at += 1
        value = word.value
        if value == "--" and not word.expands:
            self._end()
        elif len(value) < 2 or value[0] != "-" or value[1] == "\0":
            self._operand(word)
            self.unknown = self.unknown or value[:2] == "-\0"
            if self.options.style is Style.LEADING:
                self._end()
        elif value[1] == "-" or self.options.style is Style.DASHED:
            self._long(word, 2 if value[1] == "-" else 1)
        elif self.options.numeric and value[1:].isdigit():
            self._take("#", piece(word, 1))
        else:
            self._cluster(word)

    def _long(self, word: Argument, start: int) -> None:
        name, equals, _ = word.value[start:].partition("=")
        option = self._find(name)
        if option is None and name.startswith("no-"):
            negated = self._find(name[3:])
            if negated is not None:  # takes back what was given so far
                self.given = [given for given in self.given if given.name != negated.name]
                self.early.discard(negated.name)
                return
        if option is None:
            self.unknown = self.unknown or not self.options.lenient
        elif equals:
            self._take(option.name, piece(word, start + len(name) + 1))
        elif option.arity in (Arity.VALUE, Arity.LAST):
            self._take(option.name, self._next())
        else:
            self._take(option.name, None)
        if option is not None and option.arity is Arity.LAST:
            self._end()

    def _find(self, name: str) -> Option | None:
        """The long option of that name or of a prefix that means only one."""
        spellings = self.options.spellings
        exact = spellings.get(name)
        if exact is not None and (len(name) > 1 or self.options.style is Style.DASHED):
            return exact
        if not self.options.abbreviates or len(name) < 2:
            return None
        found = {option for spelling, option in spellings.items() if spelling.startswith(name)}
        return found.pop() if len(found) == 1 else None

    def _cluster(self, word: Argument) -> None:
        value = word.value
        skip = 0
        for place in range(1, len(value)):
            if place < skip:
                continue
            option = self.options.spellings.get(value[place])
            if option is None:
                self.unknown = self.unknown or not self.options.lenient
            elif option.arity is Arity.FLAG:
                self._take(option.name, None)
            elif option.arity is Arity.DIGITS:
                match = _DIGITS[value[place] == "C"].match(value, place + 1)
                skip = match.end() if match else place + 1
                self._take(option.name, piece(word, place + 1, skip))
            else:
                attached = place + 1 < len(value)
                if attached:
                    self._take(option.name, piece(word, place + 1))
                else:
                    self._take(option.name, None if option.arity is Arity.OPTIONAL else self._next())
                if option.arity is Arity.LAST:
                    self._end()
                return

    def _end(self) -> None:
        for word in self.words[self.at :]:
            self._operand(word)
        self.at = len(self.words)

    def _operand(self, word: Argument) -> None:
        self.operands.append(word)
        self.order.append(Given("", word))

    def _next(self) -> Argument | None:
        if self.at >= len(self.words):
            self.unknown = True
            return None
        self.at += 1
        return self.words[self.at - 1]

    def _take(self, name: str, value: Argument | None) -> None:
        self.given.append(Given(name, value))
        self.order.append(Given(name, value))
        if not self.operands:
            self.early.add(name)
