"""What is known of variables and of the working directory at one place of a straight line.

Only literal assignments of the same text count, and a name that anything else may change is never
known. The directory is a set of possibilities: after `cd x;` it is x, or what it was if x is missing.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.lex import Flag, Piece

MAX_PLACES: Final = 4
MAX_VALUE: Final = 4096  # bytes of a variable's value that are followed, and of all parameters together
MAX_PARAMETERS: Final = 64
PARAMETERS: Final = "@"  # among the volatile names: something may set or shift them at any time
MAX_SPENT: Final = 65_536  # characters of values that become words on one straight line
HOLE: Final = Argument("\0", expands=True, globs=True)
UNKNOWN: Final = (Piece("", Flag.HOLE),)
# What the shell gives values of its own, whatever a text assigns.
_OWN: Final = re.compile(
    r"(BASH\w*|COMP\w*|READLINE\w*|EPOCH\w*|GROUPS|FUNCNAME|DIRSTACK|PIPESTATUS|MAPFILE|COPROC|RANDOM|SRANDOM"
    r"|SECONDS|LINENO|HISTCMD|UID|EUID|PPID|SHELLOPTS|OPTIND|OPTARG|REPLY|_)\Z",
    re.ASCII,
)


class Value(msgspec.Struct, frozen=True):
    """A variable's value: its pieces (empty tuple = the empty string) and who produced it."""

    pieces: tuple[Piece, ...] | None = None  # None = not known
    sources: tuple[int, ...] = ()  # ids of commands whose output it holds
    default: tuple[Piece, ...] | None = None  # of an unknown value: what it is if nobody else set it
    items: tuple[Argument, ...] | None = None  # of an array: the words it was given; ``pieces`` is None then


class Variables(msgspec.Struct):
    """Mutable: one straight line changes it as it goes. ``places`` empty = directory not known."""

    home: str
    places: tuple[str, ...]
    volatile: frozenset[str] = frozenset()  # names that something may change at any time
    values: dict[str, Value] = {}
    folds: bool = True
    strict: bool = False  # after `set -e` a failing command ends the line
    looped: frozenset[str] = frozenset()  # volatile names that only `for` changes
    settled: frozenset[str] = frozenset()  # names that the whole text assigns once, in plain sight
    defaults: bool = False  # read ${X:-word} as the word
    parameters: tuple[Argument, ...] | None = None  # $0, $1, …; None = not known
    spent: int = 0  # characters that values have become in words so far

    def copy(self) -> Variables:
        return msgspec.structs.replace(self, values=dict(self.values), defaults=False)

    def bare(self) -> Variables:
        """The same surroundings with nothing known of variables: a body that runs at another time."""
        return Variables(self.home, (), self.volatile, {}, folds=False)

    def lasting(self) -> dict[str, Value]:
        """What is known by now and stays so to the end of the text: a trap that is set here finds it."""
        if not self.folds:
            return {}
        known = {name: value for name, value in self.values.items() if value.pieces is not None}
        return {name: value for name, value in known.items() if name in self.settled - self.volatile}

    def take(self, other: Variables) -> None:
        self.places, self.values, self.folds = other.places, other.values, other.folds
        self.strict = other.strict
        self.parameters = other.parameters
        self.spent = other.spent

    def assign(self, name: str, value: Value) -> None:
        long = value.pieces is not None and sum(len(piece.text) for piece in value.pieces) > MAX_VALUE
        if name in self.volatile or not self.folds or long or _OWN.match(name) or _is_long(value.items):
            value = Value(None, value.sources)
        self.values[name] = value

    def forget(self, *names: str) -> None:
        for name in names:
            self.values[name] = Value()

    def forget_all(self) -> None:
        """Code that was not seen ran here."""
        self.values = {}
        self.folds = False
        self.places = ()
        self.parameters = None

    def call(self, words: tuple[Argument, ...] | None) -> None:
        """Take these words as $0, $1, … of a shell or function that begins here."""
        self.volatile -= {PARAMETERS}
        self.give(words)

    def give(self, words: tuple[Argument, ...] | None) -> None:
        """Take these words as $0, $1, … from here on; too many or too long, they are not followed."""
        self.parameters = None if PARAMETERS in self.volatile or _is_long(words) else words

    def shift(self, count: int | None) -> None:
        """Drop parameters from $1 on; None = how many can't be told."""
        words = self.parameters
        if words is None or count == 0:
            return
        if count is None or any(map(is_loose, words[1 : count + 1])) or count >= len(words):
            self.parameters = None
        else:
            self.parameters = (words[0], *words[count + 1 :])

    def may_spend(self, length: int) -> bool:
        """Whether a value of that many characters may still become words; a word costs some by itself."""
        self.spent += length
        return self.spent <= MAX_SPENT

    @property
    def splits(self) -> bool:
        """Whether an unquoted value splits at blanks as ever."""
        return "IFS" not in self.volatile

    def lookup(self, name: str) -> Value | None:
        """The value assigned in this text; None if this text does not assign it."""
        if name.isdigit():
            words = self.parameters
            return None if words is None else _at(words, int(name), 1)
        if name.endswith("]"):
            array, _, index = name[:-1].partition("[")
            value = self.values.get(array)
            if value is None or value.items is None:
                return None if value is None else Value(None, value.sources)
            return _at(value.items, int(index), 0) or Value(None, value.sources)
        return self.values.get(name)

    def words_of(self, array: str) -> tuple[Argument, ...] | None:
        """The words that `"${array[@]}"` stands for, or `"$@"` for an empty name; None = not known."""
        if array:
            return self.values[array].items if array in self.values else None
        return None if self.parameters is None else self.parameters[1:]

    def meet(self, other: Variables) -> None:
        """After a branch that may or may not have run: keep what both sides agree on."""
        if self.values != other.values:
            self.values = {
                name: _common(self.values.get(name), other.values.get(name))
                for name in {**self.values, **other.values}
            }
        if self.parameters != other.parameters:
            self.parameters = None
        self.folds = self.folds and other.folds
        if self.places and other.places:
            both = tuple(dict.fromkeys(self.places + other.places))
            self.places = both if len(both) <= MAX_PLACES else ()
        else:
            self.places = ()

    def enter(self, target: str | None) -> None:
        """A successful change of directory; None = to where can't be told."""
        if target is None or (not target.startswith("/") and not self.places):
            self.places = ()
        elif target.startswith("/"):
            self.places = (posixpath.normpath(target),)
        else:
            joined = (posixpath.normpath(posixpath.join(place, target)) for place in self.places)
            self.places = tuple(dict.fromkeys(joined))


def _common(mine: Value | None, theirs: Value | None) -> Value:
    if mine is not None and mine == theirs:
        return mine
    return Value(
        None, tuple(dict.fromkeys((mine.sources if mine else ()) + (theirs.sources if theirs else ())))
    )


def _at(words: tuple[Argument, ...], number: int, first: int) -> Value | None:
    """The word of that number where no word between the first and it may be several or none."""
    if any(map(is_loose, words[first:number])):
        return None
    if number >= len(words):
        return Value(()) if not any(map(is_loose, words[first:])) else None
    return None if words[number].globs else Value(pieces_of(words[number]))


def _is_long(words: tuple[Argument, ...] | None) -> bool:
    """Whether so many words, or so long ones, are not followed."""
    return words is not None and (
        len(words) > MAX_PARAMETERS or sum(len(word.value) for word in words) > MAX_VALUE
    )


def is_loose(word: Argument) -> bool:
    """Whether a word may become several, or none."""
    return word.globs or (word.expands and "\0" not in word.value)


def pieces_of(word: Argument) -> tuple[Piece, ...]:
    """An argument as the pieces of a value: its text, a hole for each part that is not known."""
    if word.expands and (word.globs or "\0" not in word.value):
        return UNKNOWN
    if word.globs:
        return (Piece(_bytes(word.value), Flag.GLOB),)
    pieces: list[Piece] = []
    for index, part in enumerate(word.value.split("\0")):
        pieces += UNKNOWN if index else ()
        pieces += [Piece(_bytes(part), Flag.DOUBLE)] if part else []
    return tuple(pieces)


def _bytes(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
