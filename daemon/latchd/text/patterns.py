"""Patterns over bytes that agents and programs wrote: linear in their length, whatever the bytes are.

The only module here that knows the engine (RE2). A pattern that it can't hold in linear time and
bounded memory is refused when it is compiled, never met while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, cast

import re2  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

# One rule's program with its automaton. A hostile text fills it, and then it is emptied and goes on;
# a hundred rules must not fill the daemon's memory.
_PATTERN_MEMORY: Final = 1 << 20
# The automaton of all hints, which grows to a few thousand states at most.
_WORDS_MEMORY: Final = 32 << 20

_engine: Final = cast("Any", re2)


class BadPattern(ValueError):
    """The text is no pattern that the engine takes; the message is the engine's own."""


class Found(Protocol):
    """One match: where a group of it stands (-1, -1 when it took no part), and its bytes."""

    def span(self, group: int = 0) -> tuple[int, int]: ...

    def group(self, group: int = 0) -> bytes | None: ...


class Pattern:
    """One compiled pattern. Case counts unless it says `(?i)`.

    It reads bytes, which keeps `[^\\n]{0,120}` small; only one that names a character by number
    (`\\x{200B}`) reads UTF-8.
    """

    def __init__(self, source: str) -> None:
        options = _options(_PATTERN_MEMORY)
        if r"\x{" not in source:
            options.encoding = _engine.Options.Encoding.LATIN1
        try:
            self._compiled = _engine.compile(source.encode("ascii"), options)
        except _engine.error as error:
            raise BadPattern(str(error)) from None
        self.groups: int = self._compiled.groups

    def finditer(self, text: bytes) -> Iterator[Found]:
        """Every match, left to right, none over another."""
        return cast("Iterator[Found]", self._compiled.finditer(text))


class Words:
    """Many literal words, looked for in one pass; upper and lower case are the same."""

    def __init__(self, words: Sequence[str]) -> None:
        options = _options(_WORDS_MEMORY)
        options.case_sensitive = False
        options.literal = True
        self._set = _engine.Set.SearchSet(options)
        for word in words:
            self._set.Add(word)
        # Found in every text: an answer without it is an automaton that ran out of its memory, and
        # then any word may be there. The engine itself answers the same for that as for nothing.
        self._canary: int = self._set.Add("")
        self._set.Compile()

    def found(self, text: bytes) -> set[int]:
        """The positions, in the sequence given, of the words that the text holds (all, in doubt)."""
        found: set[int] = set(self._set.Match(text) or range(self._canary + 1))
        if self._canary not in found:
            return set(range(self._canary))
        return found - {self._canary}


def _options(memory: int) -> Any:
    options = _engine.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
