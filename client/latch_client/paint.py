"""Text that is safe to put on a terminal, and colour where a person looks at one.

INVARIANT (terminal safe): whatever comes from a record, a payload or a command goes through
:func:`printable` before it is printed; colour is added after that, by us alone.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from typing import TextIO


class Style(enum.StrEnum):
    """What a piece of text means; the value is its SGR parameter."""

    GOOD = "32"
    WARN = "33"
    BAD = "1;31"
    STRONG = "1"
    DIM = "2"


class Paint:
    """Colours text, or leaves it alone."""

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured

    def __call__(self, text: str, style: Style | None) -> str:
        return f"\x1b[{style.value}m{text}\x1b[0m" if self._coloured and style is not None and text else text


def wanted(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Colour on a terminal only, never with NO_COLOR set (https://no-color.org) or TERM=dumb."""
    return stream.isatty() and not environ.get("NO_COLOR", "") and environ.get("TERM", "") != "dumb"


def printable(text: str) -> str:
    """One line: controls, direction marks, odd blanks and surrogates as backslash escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
