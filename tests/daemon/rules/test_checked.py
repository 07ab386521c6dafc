"""The tree of an expression, read from the library's own serialization."""

from __future__ import annotations

import pytest

from latchd.rules.checked import Call, Checked, Const, Ident, Select, read
from latchd.rules.engine import CompileError


def field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def expression(inner: bytes) -> bytes:
    """An Any that holds a CheckedExpr with this expression and no positions."""
    return field(1, b"t") + field(2, field(4, inner) + field(5, b""))


def test_calls_fields_and_literals_are_read_with_their_ids() -> None:
    select = b"\x10\x02" + field(5, field(1, b"\x10\x01" + field(4, field(1, b"f"))) + field(2, b"tool"))
    literal = b"\x10\x03" + field(3, field(6, b"x"))
    equal = b"\x10\x04" + field(6, field(2, b"_==_") + field(3, select) + field(3, literal))

    assert read(expression(equal)) == Checked(
        Call(4, "_==_", (Select(2, Ident(1, "f"), "tool", test_only=False), Const(3, "x"))), b""
    )


def test_negative_numbers_are_read() -> None:
    minus_one = b"\x10\x01" + field(3, b"\x18" + b"\xff" * 9 + b"\x01")

    assert read(expression(minus_one)).root == Const(1, -1)


@pytest.mark.parametrize(
    "serialized",
    [
        b"",
        b"\x0a",
        b"\x12\x05ab",
        b"\xff" * 12,
        field(2, b"\x07"),
        expression(b"\x22\x7f"),
        field(2, b"\x20\x01"),
    ],
)
def test_a_form_that_is_not_known_is_an_error_and_never_half_a_tree(serialized: bytes) -> None:
    with pytest.raises(CompileError, match="can't be read"):
        read(serialized)


def test_a_tree_deeper_than_any_expression_is_refused() -> None:
    inner = b"\x10\x01"
    for _ in range(600):
        size = len(inner)
        head = bytes([0x0A]) + _varint(size) + inner
        inner = b"\x2a" + _varint(len(head)) + head
    whole = b"\x22" + _varint(len(inner)) + inner + field(5, b"")

    with pytest.raises(CompileError, match="nested too deeply"):
        read(b"\x12" + _varint(len(whole)) + whole)


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
