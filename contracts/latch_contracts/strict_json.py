"""Hook payloads, read strictly: one JSON object in UTF-8, no key twice, nothing that can't be said back.

A lenient reader takes the last of two equal keys; an agent may take the first, and then what was
judged is not what runs.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn, TypeGuard

from latch_contracts.errors import BadPayload

MAX_DEPTH: Final = 64  # real payloads stay under 12; a bomb is refused before any walk recurses
# Real payloads stay under 10,000. Reading, checking and digesting this many takes a few tenths of
# a second, and every other agent waits for it.
MAX_VALUES: Final = 100_000
_TEXT_OR_MARK: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[,\[{]', re.DOTALL)


def loads(payload: bytes) -> dict[str, Any]:
    """The payload's object. Raises BadPayload, naming the member where there is one to name."""
    _count(payload)
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
    _check(members, "", 0)
    return members


def _count(payload: bytes) -> None:
    """Refuse what holds too many values before they are made.

    Each is the first of its container or has a comma before it; marks inside texts don't count.
    """
    if payload.count(b",") + payload.count(b"[") + payload.count(b"{") < MAX_VALUES:
        return
    marks = 0
    for found in _TEXT_OR_MARK.finditer(payload):
        marks += found[0] in (b",", b"[", b"{")
        if marks >= MAX_VALUES:
            raise BadPayload("payload", f"holds more than {MAX_VALUES} values")


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


def _check(value: Any, where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BadPayload(where or "payload", f"is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise BadPayload(where or "payload", "holds a lone surrogate") from None
    elif (members := as_object(value)) is not None:
        for key, member in members.items():
            _check(key, where or "payload", depth + 1)
            _check(member, _printable(key), depth + 1)
    elif (array := as_array(value)) is not None:
        for member in array:
            _check(member, where, depth + 1)


def _printable(key: str) -> str:
    """A key as it may stand in a reason: short, one line, no controls."""
    text = "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "?" for c in key[:64])
    return text or "(empty key)"
