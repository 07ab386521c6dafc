"""What is known of variables and of the working directory at one place of a straight line.

Only literal assignments of the same text count, and a name that anything else may change is never
known. The directory is a set of possibilities: after `cd x;` it is x, or what it was if x is missing.
"""

from __future__ import annotations

import posixpath
from typing import Final

import msgspec

from latchd.shell.lex import Piece

MAX_PLACES: Final = 4
MAX_VALUE: Final = 4096  # bytes of a variable's value that are followed


class Value(msgspec.Struct, frozen=True):
    """A variable's value: its pieces (empty tuple = the empty string) and who produced it."""

    pieces: tuple[Piece, ...] | None = None  # None = not known
    sources: tuple[int, ...] = ()  # ids of commands whose output it holds
    default: tuple[Piece, ...] | None = None  # of an unknown value: what it is if nobody else set it


class Variables(msgspec.Struct):
    """Mutable: one straight line changes it as it goes. ``places`` empty = directory not known."""

    home: str
    places: tuple[str, ...]
    volatile: frozenset[str] = frozenset()  # names that something may change at any time
    values: dict[str, Value] = {}
    folds: bool = True
    strict: bool = False  # after `set -e` a failing command ends the line
    looped: frozenset[str] = frozenset()  # volatile names that only `for` changes
    defaults: bool = False  # read ${X:-word} as the word

    def copy(self) -> Variables:
        return msgspec.structs.replace(self, values=dict(self.values), defaults=False)

    def bare(self) -> Variables:
        """The same surroundings with nothing known of variables: a body that runs at another time."""
        return Variables(self.home, (), self.volatile, {}, folds=False)

    def take(self, other: Variables) -> None:
        self.places, self.values, self.folds = other.places, other.values, other.folds
        self.strict = other.strict

    def assign(self, name: str, value: Value) -> None:
        long = value.pieces is not None and sum(len(piece.text) for piece in value.pieces) > MAX_VALUE
        if name in self.volatile or not self.folds or long:
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

    def lookup(self, name: str) -> Value | None:
        """The value assigned in this text; None if this text does not assign it."""
        return self.values.get(name)

    def meet(self, other: Variables) -> None:
        """After a branch that may or may not have run: keep what both sides agree on."""
        if self.values != other.values:
            self.values = {
                name: _common(self.values.get(name), other.values.get(name))
                for name in {**self.values, **other.values}
            }
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
