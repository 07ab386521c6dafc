"""A piece of shell text inside a file, and which line of the file each of its lines is.

What a template language puts in before the shell reads it becomes `${LATCH_UNKNOWN}`: a variable that
nothing sets, which the analysis treats as a part that is known only when it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

MAX_BYTES: Final = 1 << 20  # of one file; scripts people read are far smaller

UNKNOWN: Final = "${LATCH_UNKNOWN}"


class Unreadable(Exception):
    """The file is not of its kind; the text says why, in one line."""


class Snippet(msgspec.Struct, frozen=True):
    """``lines[n]`` is the file's line (1-based) that the nth line of ``text`` stands on.

    ``cwd`` is where it runs below the repository's root. ``in_image``: while an image is built.
    ``stops``: its shell was started to end at the first failure (`-e`).
    """

    text: str
    lines: tuple[int, ...]
    cwd: str = ""
    in_image: bool = False
    stops: bool = False

    def line(self, number: int) -> int:
        """The file's line for a 1-based line of the text."""
        return self.lines[min(max(number, 1), len(self.lines)) - 1]


def block(text: str, first: int, *, cwd: str = "", in_image: bool = False) -> Snippet:
    """A text whose lines follow each other in the file, from ``first`` on."""
    count = max(1, len(text.splitlines()))
    return Snippet(text, tuple(range(first, first + count)), cwd, in_image)


def with_unknowns(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with each span as an unknown part. Inside single quotes these are ended for it."""
    out: list[str] = []
    done = 0
    quote = ""
    for start, end in spans:
        kept = text[done:start]
        quote = _quote(kept, quote)
        out += (kept, f"'\"{UNKNOWN}\"'" if quote == "'" else UNKNOWN)
        done = end
    return "".join((*out, text[done:]))


def _quote(text: str, quote: str) -> str:
    """Which quote is open after the text, when ``quote`` was before it. A comment opens none."""
    skip = False
    comment = False
    before = " "
    for char in text:
        if skip:
            skip = False
        elif comment:
            comment = char != "\n"
        elif char == "\\" and quote != "'":
            skip = True
        elif char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif not quote and char == "#" and before.isspace():
            comment = True
        before = char
    return quote


def joined(parts: Sequence[tuple[str, Sequence[int]]], *, cwd: str = "", stops: bool = False) -> Snippet:
    """Texts that one shell runs one after the other."""
    lines = [line for text, numbers in parts for line in _of(text, numbers)]
    text = "\n".join(text.rstrip("\n") for text, _ in parts) + "\n"
    return Snippet(text, tuple(lines) or (1,), cwd, stops=stops)


def _of(text: str, numbers: Sequence[int]) -> Iterator[int]:
    for place in range(len(text.rstrip("\n").split("\n"))):
        yield numbers[min(place, len(numbers) - 1)]
