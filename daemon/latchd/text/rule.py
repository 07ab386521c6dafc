"""What a text rule is: a pattern with its own examples, and nothing that could block.

A text rule only ever tells. What is found here is proven by the look of a text alone, so there is no
way from it to a refusal.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable
from typing import Final

import msgspec

from latch_contracts.verdict import Severity

Check = Callable[[bytes, int, int], bool]
"""Whether what the pattern found counts: the whole text, and where the found part starts and ends."""


class Group(enum.StrEnum):
    """What a text rule is about; the group of its findings."""

    SECRET = "text-secret"  # noqa: S105 (the name of a group)
    INSTRUCTION = "text-instruction"
    HIDDEN = "text-hidden"
    CALLBACK = "text-callback"
    PERSONAL = "text-personal"


class TextRule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing worth telling of in a text.

    ``hints``: words of which the text must hold one, in any case, before the pattern is tried (none: always).
    The finding's range is the pattern's first group that took part, else the whole match. ``matches``
    are texts in which the rule must find something, ``misses`` such in which it must not; one test runs
    them all.
    ``confidence`` is 0 to 1: how often we expect what is found to be what the title says.
    """

    id: str
    title: str
    group: Group
    severity: Severity
    confidence: float
    pattern: str
    hints: tuple[str, ...] = ()
    check: Check | None = None
    matches: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER: Final = UPPER.lower()
DIGITS: Final = "0123456789"
HEX: Final = DIGITS + "abcdef"
WORD: Final = UPPER + LOWER + DIGITS
BASE32: Final = UPPER + "234567"
BASE64: Final = WORD + "+/"
BASE64URL: Final = WORD + "-_"


def made(alphabet: str, length: int, seed: str = "") -> str:
    """Letters that look drawn at random and are the same every time: the body of an example token.

    Examples are put together here and not written out, so that no scanner takes this source for a leak.
    """
    drawn = hashlib.shake_128(f"{alphabet} {length} {seed}".encode()).digest(length)
    return "".join(alphabet[byte % len(alphabet)] for byte in drawn)
