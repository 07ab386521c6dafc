"""The expression that will run, as a tree: read from what the type checker hands out, macros expanded.

The library shows no syntax tree, but it serializes one (cel.expr.CheckedExpr, in protobuf's wire form).
Reading that says what the evaluator will really do; a second parser of ours could disagree with it.
Field numbers are those of cel/expr/syntax.proto and checked.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from latchd.rules.engine import CompileError


class Const(msgspec.Struct, frozen=True):
    at: int
    value: bool | int | str | None  # None = of a kind that no rule may use


class Ident(msgspec.Struct, frozen=True):
    at: int
    name: str


class Select(msgspec.Struct, frozen=True):
    at: int
    operand: Node
    field: str
    test_only: bool


class Call(msgspec.Struct, frozen=True):
    """``args`` begin with the receiver of a member call."""

    at: int
    function: str
    args: tuple[Node, ...]


class ListOf(msgspec.Struct, frozen=True):
    at: int
    elements: tuple[Node, ...]


class Fold(msgspec.Struct, frozen=True):
    """A comprehension; which macro it came from is told by its parts."""

    at: int
    variable: str
    range: Node
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


class Made(msgspec.Struct, frozen=True):
    """A map or message; no rule may make one."""

    at: int


Node = Const | Ident | Select | Call | ListOf | Fold | Made

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS: Final = {_FIXED64: 8, _FIXED32: 4}
_FUSE: Final = 200  # deeper than the parser lets any expression be; the limits proper are in subset.py


class Checked(msgspec.Struct, frozen=True):
    """``at`` of a node is its id; ``info`` holds where nodes stand, which only a fault needs to know."""

    root: Node
    info: bytes

    def offset(self, at: int) -> int:
        """The character of the source where a node stands; 0 when that is not told."""
        positions = _members(self.info).get(4, ())
        return dict(map(_position, positions)).get(at, 0)


def read(serialized: bytes) -> Checked:
    """Raises CompileError when the form is not the one known here: another release of the library."""
    try:
        checked = _members(_one(_members(serialized), 2))
        return Checked(_node(_one(checked, 4), 0), _one(checked, 5))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise CompileError(1, 1, f"the checked expression can't be read ({type(error).__name__})") from error


def _position(entry: bytes | int) -> tuple[int, int]:
    members = _members(entry)
    return _number(members, 1), _number(members, 2)


def _node(data: bytes, depth: int) -> Node:
    if depth > _FUSE:
        raise CompileError(1, 1, "the expression is nested too deeply")
    members = _members(data)
    at = _number(members, 2)

    def child(of: Mapping[int, list[bytes | int]], number: int) -> Node:
        return _node(_one(of, number), depth + 1)

    if 3 in members:
        return Const(at, _constant(_members(_one(members, 3))))
    if 4 in members:
        return Ident(at, _text(_members(_one(members, 4)), 1))
    if 5 in members:
        select = _members(_one(members, 5))
        return Select(at, child(select, 1), _text(select, 2), bool(_number(select, 3)))
    if 6 in members:
        call = _members(_one(members, 6))
        receiver = (child(call, 1),) if 1 in call else ()
        args = tuple(_node(_bytes(arg), depth + 1) for arg in call.get(3, ()))
        return Call(at, _text(call, 2), receiver + args)
    if 7 in members:
        elements = _members(_one(members, 7)).get(1, ())
        return ListOf(at, tuple(_node(_bytes(element), depth + 1) for element in elements))
    if 9 in members:
        fold = _members(_one(members, 9))
        return Fold(
            at,
            variable=_text(fold, 1),
            range=child(fold, 2),
            accumulator=_text(fold, 3),
            start=child(fold, 4),
            condition=child(fold, 5),
            step=child(fold, 6),
            result=child(fold, 7),
        )
    return Made(at)


def _constant(members: Mapping[int, list[bytes | int]]) -> bool | int | str | None:
    if 2 in members:
        return bool(_number(members, 2))
    if 3 in members:
        value = _number(members, 3)
        return value - (1 << 64) if value >> 63 else value
    return _text(members, 6) if 6 in members else None


def _one(members: Mapping[int, list[bytes | int]], number: int) -> bytes:
    return _bytes(members[number][-1])


def _bytes(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise TypeError(value)
    return value


def _number(members: Mapping[int, list[bytes | int]], number: int) -> int:
    value = members.get(number, [0])[-1]
    if isinstance(value, bytes):
        raise TypeError(value)
    return value


def _text(members: Mapping[int, list[bytes | int]], number: int) -> str:
    return _bytes(members.get(number, [b""])[-1]).decode("utf-8")


def _members(data: bytes | int) -> dict[int, list[bytes | int]]:
    """The fields of a message by number; one loop: a short expression has hundreds of messages."""
    data = _bytes(data)
    found: dict[int, list[bytes | int]] = {}
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag > 0x7F:
            tag, at = _varint(data, at - 1)
        kind = tag & 7
        value: bytes | int
        if kind in (_VARINT, _BYTES):
            value = data[at]
            at += 1
            if value > 0x7F:
                value, at = _varint(data, at - 1)
            width = 0 if kind == _VARINT else value
        elif (width := _WIDTHS.get(kind, -1)) < 0:
            raise ValueError(kind)
        else:
            value = 0
        if kind != _VARINT:
            if at + width > end:
                raise ValueError(kind)
            value = data[at : at + width]
            at += width
        number = tag >> 3
        if number in found:
            found[number].append(value)
        else:
            found[number] = [value]
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError(shift)
