"""Where each value of a JSON text stands, so that a part can be cut out or put in and the rest stays.

Only for text that a strict reader has already taken for JSON: this scanner does not judge, it measures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import msgspec

_BLANK: Final = re.compile(r"[ \t\r\n\ufeff]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


class Span(msgspec.Struct, frozen=True):
    """One value: ``text[start:end]``. ``opening`` is ``{``, ``[`` or "" for a value without members."""

    start: int
    end: int
    opening: str = ""
    members: tuple[Member, ...] = ()

    def member(self, key: str) -> Member | None:
        return next((member for member in self.members if member.key == key), None)


class Member(msgspec.Struct, frozen=True):
    """One member of an object or array, from ``start`` (its key's, in an object) to its value's end.

    ``key`` is "" in an array.
    """

    start: int
    key: str
    value: Span

    @property
    def end(self) -> int:
        return self.value.end


class Edit(msgspec.Struct, frozen=True):
    """Put ``text`` in the place of ``[start:end]``."""

    start: int
    end: int
    text: str = ""


def scan(text: str) -> Span:
    """The document's one value. The text must be sound JSON."""
    return _value(text, _skip(text, 0))


def apply(text: str, edits: Iterator[Edit] | list[Edit]) -> str:
    """The text with all edits done; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _value(text: str, at: int) -> Span:
    opening = text[at]
    if opening in "{[":
        return _container(text, at, opening)
    match = _STRING.match(text, at) if opening == '"' else _SCALAR.match(text, at)
    assert match is not None, "the text is no sound JSON"  # noqa: S101 — callers parse it first
    return Span(at, match.end())


def _container(text: str, start: int, opening: str) -> Span:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        first, key = at, ""
        if opening == "{":
            name = _value(text, at)
            key = json.loads(text[name.start : name.end])
            at = _skip(text, _skip(text, name.end) + 1)  # the colon
        value = _value(text, at)
        members.append(Member(first, key, value))
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Span(start, at + 1, opening, tuple(members))


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return at if match is None else match.end()
