"""One digest per value: SHA-256 over a form that forgets key order, blanks and escapes, and nothing else.

An integer is never equal to a float, a text never to bytes: what an agent may read differently has
another digest.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from latch_contracts.strict_json import as_array, as_object

_encoder: Final = msgspec.msgpack.Encoder(order="sorted")

_BIG_INTEGER: Final = 1  # extension type; MessagePack's own integers end at 64 bits, JSON's nowhere
_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**64 - 1


def digest(value: Any) -> bytes:
    """The 32 bytes that stand for a value of None, a boolean, number, text, bytes, list or mapping.

    Raises ValueError for a text that can't be said in UTF-8 (strict_json refuses those first).
    """
    try:
        encoded = _encoder.encode(value)
    except OverflowError:
        encoded = _encoder.encode(_without_big_integers(value))
    return hashlib.sha256(encoded).digest()


def _without_big_integers(value: Any) -> Any:
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return msgspec.msgpack.Ext(_BIG_INTEGER, b"%x" % value)
    if (members := as_object(value)) is not None:
        return {key: _without_big_integers(member) for key, member in members.items()}
    if (array := as_array(value)) is not None:
        return [_without_big_integers(member) for member in array]
    return value
