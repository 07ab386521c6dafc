"""Hook payloads, read strictly: one JSON object in UTF-8, no key twice, nothing that can't be said back.

A lenient reader takes the last of two equal keys; an agent may take the first, and then what was
judged is not what runs.

Nearly every payload is sound, so soundness is what is looked at first, by counting alone: as many
members were made as the text has colons, and containers are no deeper than they may be. Only a text
that fails this is read again by the code that says what is wrong with it.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn, TypeGuard

import msgspec

from latch_contracts.errors import BadPayload

MAX_DEPTH: Final = 64  # real payloads stay under 12; a bomb is refused before any walk recurses
# Real payloads stay under 10,000. Reading and digesting this many takes up to a tenth of a second
# (measured over eight kinds of bomb), and every other agent waits for it. A member of an object costs
# four times what a value of a list does: its key is kept, compared and sorted.
MAX_VALUES: Final = 100_000
MEMBER_WEIGHT: Final = 4
# Over this weight msgspec is not asked: it needs 10 µs for a number with a large exponent, ten times
# what `json` does, and a payload may hold nothing else.
_ORDINARY: Final = 2048


def loads(payload: bytes) -> dict[str, Any]:
    """The payload's object. Raises BadPayload, naming the member where there is one to name."""
    outside = _outside_texts(payload)
    colons = outside.count(b":")
    containers = outside.count(b"[") + outside.count(b"{")
    weight = outside.count(b",") + containers + (MEMBER_WEIGHT - 1) * colons
    if weight >= MAX_VALUES:  # before they are made
        why = f"holds more than {MAX_VALUES} values, a member of an object counting as {MEMBER_WEIGHT}"
        raise BadPayload("payload", why)
    members = _quickly(payload) if weight < _ORDINARY else _leniently(payload)
    if members is not None and _is_sound(members, colons, containers):
        return members
    return _carefully(payload)


def as_object(value: object) -> dict[str, Any] | None:
    """The parsed value when it is an object, else None."""
    return value if _is_object(value) else None


def as_array(value: object) -> list[Any] | None:
    """The parsed value when it is an array, else None."""
    return value if _is_array(value) else None


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _outside_texts(payload: bytes) -> bytes:
    """What stands outside of JSON texts, up to the first thing that no JSON has; after it, anything.

    A backslash stands in texts alone, so taking the pairs of them out first leaves those that
    escape a quote, whatever stands around them.
    """
    if b"\\" in payload:
        payload = payload.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(payload.split(b'"')[::2])


def _quickly(payload: bytes) -> dict[str, Any] | None:
    """The object as msgspec reads it, which refuses all that is no JSON or can't be said back."""
    try:
        return as_object(msgspec.json.decode(payload))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _leniently(payload: bytes) -> dict[str, Any] | None:
    """The object as `json` reads it; what that lets pass is None here, or seen by `_is_sound`."""
    if b"\\ud" in payload or b"\\uD" in payload:  # a surrogate, and maybe a lone one
        return None
    try:
        return as_object(json.loads(payload.decode("utf-8"), parse_constant=_constant, parse_float=_float))
    except (ValueError, RecursionError, BadPayload):
        return None


def _is_sound(members: dict[str, Any], colons: int, containers: int) -> bool:
    """Whether no key came twice and nothing is too deep, level by level."""
    found = 0
    level: list[Any] = [members]
    for _ in range(min(containers, MAX_DEPTH)):
        below: list[Any] = []
        for container in level:
            if _is_object(container):
                found += len(container)
                below += container.values()
            else:
                below += container
        level = [value for value in below if isinstance(value, dict | list)]
        if not level:
            return found == colons
    # The deepest that may be, and they have room for nothing.
    return not any(level) and found == colons


def _carefully(payload: bytes) -> dict[str, Any]:
    """The object, each member checked; what is wrong is said of the place where it is."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadPayload("payload", f"is not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise BadPayload("payload", "is empty")
    try:
        value = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        raise BadPayload("payload", f"is not JSON: {error.msg.lower()} at character {error.pos}") from None
    except RecursionError:
        raise BadPayload("payload", "is nested too deeply") from None
    except ValueError:  # an integer with more digits than int() takes; its text would tell of sys settings
        raise BadPayload("payload", "holds a number that is too long to be read") from None
    members = as_object(value)
    if members is None:
        raise BadPayload("payload", "is not a JSON object")
    _check(members, None, 0)
    return members


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadPayload(_printable(key), "appears twice in one object")
            seen.add(key)
    return members


def _constant(name: str) -> NoReturn:
    raise BadPayload("payload", f"holds {name}, which is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadPayload("payload", "holds a number too large to be said back")
    return value


def _check(value: Any, where: str | None, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BadPayload(_named(where), f"is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise BadPayload(_named(where), "holds a lone surrogate") from None
    elif (members := as_object(value)) is not None:
        for key, member in members.items():
            _check(key, where, depth + 1)
            _check(member, key, depth + 1)
    elif (array := as_array(value)) is not None:
        for member in array:
            _check(member, where, depth + 1)


def _named(where: str | None) -> str:
    return "payload" if where is None else _printable(where)


def _printable(key: str) -> str:
    """A key as it may stand in a reason: short, one line, no controls."""
    text = "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "?" for c in key[:64])
    return text or "(empty key)"
