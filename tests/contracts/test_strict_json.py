"""Strict reading: one sound object comes back whole, and every doubt is a BadPayload that says where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.errors import BadPayload
from latch_contracts.strict_json import (
    MAX_DEPTH,
    MAX_VALUES,
    MEMBER_WEIGHT,
    as_array,
    as_object,
    loads,
)


def _nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b"{}", {}),
        (b' \r\n\t{"a": [1, 2.5, true, null, "\\u00e9\\n"]}\n', {"a": [1, 2.5, True, None, "é\n"]}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        ('{"💥":"\u2028"}'.encode(), {"💥": "\u2028"}),
        (b'{"a":"\\ud83d\\udca5"}', {"a": "💥"}),
        (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
        (b'{"n":123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        (b'{"":1}', {"": 1}),
        (_nested(MAX_DEPTH), json.loads(_nested(MAX_DEPTH))),
    ],
)
def test_a_sound_object_comes_back_whole(payload: bytes, value: dict[str, Any]) -> None:
    assert loads(payload) == value


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (b"", "`payload` is empty"),
        (b" \n", "`payload` is empty"),
        (b"null", "`payload` is not a JSON object"),
        (b'["a"]', "`payload` is not a JSON object"),
        (b"\xff{}", "`payload` is not UTF-8 at byte 0"),
        (b'{"a":"\xed\xa0\x80"}', "`payload` is not UTF-8 at byte 6"),
        (b'{"a":1', "`payload` is not JSON: expecting ',' delimiter at character 6"),
        (b'{"a":1}{"b":2}', "`payload` is not JSON: extra data at character 7"),
        (
            b"{'a':1}",
            "`payload` is not JSON: expecting property name enclosed in double quotes at character 1",
        ),
        (b'{"a":"\n"}', "`payload` is not JSON: invalid control character at at character 6"),
        (b'{"a":1,"a":1}', "`a` appears twice in one object"),
        (b'{"x":[{"b":1,"\\u0062":2}]}', "`b` appears twice in one object"),
        (b'{"a\\n":1,"a\\n":2}', "`a?` appears twice in one object"),
        (b'{"":1,"":2}', "`(empty key)` appears twice in one object"),
        (b'{"a":NaN}', "`payload` holds NaN, which is not JSON"),
        (b'{"a":-Infinity}', "`payload` holds -Infinity, which is not JSON"),
        (b'{"a":1e999}', "`payload` holds a number too large to be said back"),
        (b'{"a":' + b"9" * 5000 + b"}", "`payload` holds a number that is too long to be read"),
        (b'{"a":["\\ud800"]}', "`a` holds a lone surrogate"),
        (b'{"\\udc00":1}', "`payload` holds a lone surrogate"),
        (_nested(MAX_DEPTH + 1), f"`a` is nested more than {MAX_DEPTH} deep"),
        (b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", f"`a` is nested more than {MAX_DEPTH} deep"),
        (b"[" * 90_000, "`payload` is nested too deeply"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_every_doubt_is_told_in_one_line(payload: bytes, error: str) -> None:
    with pytest.raises(BadPayload) as caught:
        loads(payload)

    assert str(caught.value) == error


def test_a_reason_holds_only_the_printable_head_of_a_key() -> None:
    key = "k" * 100 + "\x1b"
    with pytest.raises(BadPayload) as caught:
        loads(json.dumps({key: {"x": 1}})[:-1].encode() + f',"{"k" * 100}\\u001b":1}}'.encode())

    assert caught.value.field == "k" * 64


def test_a_value_is_an_object_an_array_or_neither() -> None:
    assert [(as_object(value), as_array(value)) for value in ({"a": 1}, [1], "x", None, 1)] == [
        ({"a": 1}, None),
        (None, [1]),
        (None, None),
        (None, None),
        (None, None),
    ]


@given(payload=st.binary(max_size=60) | st.text('{}[]":,\\u0019eE+-. ntf', max_size=60).map(str.encode))
def test_no_bytes_raise_anything_but_a_bad_payload(payload: bytes) -> None:
    try:
        value = loads(payload)
    except BadPayload:
        return
    assert value == json.loads(payload.decode("utf-8").removeprefix("\ufeff"))


BOMBS = {
    "numbers": b"[" + b"1," * MAX_VALUES + b"1]",
    "arrays": b"[" + b"[]," * MAX_VALUES + b"1]",
    "deep arrays": b"[" + (b"[" * 50 + b"]" * 50 + b",") * (MAX_VALUES // 50) + b"1]",
    "objects": b"[" + b"{}," * MAX_VALUES + b"1]",
    "texts": b"[" + b'"a",' * MAX_VALUES + b"1]",
    "members": b"{" + b",".join(b'"%d":1' % number for number in range(MAX_VALUES)) + b"}",
    "doubled members": b"{" + b'"a":1,' * MAX_VALUES + b'"a":1}',
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_too_many_values_are_refused_before_they_are_made(bomb: bytes) -> None:
    with pytest.raises(BadPayload, match=f"`payload` holds more than {MAX_VALUES} values"):
        loads(b'{"v":' + bomb + b"}")


@pytest.mark.parametrize("text", ["a,[{" * MAX_VALUES, '\\",' * MAX_VALUES, "\\\\,\n" * MAX_VALUES])
def test_marks_inside_a_text_are_no_values(text: str) -> None:
    assert loads(json.dumps({"content": text}).encode()) == {"content": text}


def test_a_member_of_an_object_counts_for_more_than_a_value_of_a_list() -> None:
    most = MAX_VALUES // MEMBER_WEIGHT - 2  # the payload's own member, and its two containers
    members = {str(number): 1 for number in range(most)}

    assert loads(json.dumps({"v": members}).encode()) == {"v": members}
    with pytest.raises(BadPayload, match="a member of an object counting as 4"):
        loads(json.dumps({"v": members | {"a": 1, "b": 1}}).encode())


_PADDING = b"[" + b"1," * 3000 + b"1]"  # so many values that the other reader is asked
_ODD = st.sampled_from(
    [
        *(b"1 -0 01 -0.0 0.1 1e22 1E-400 5e-324 1.7976931348623157e308 1e309 NaN true null [] {}".split()),
        *(b"18446744073709551616", b"123456789.123456789123456789"),
        *(
            b'"\\ud83d\\ude00"',
            b'"\\udc00"',
            b'"\\\\"',
            b'"a\\":{"',
            b'"\x7f"',
            b'"\t"',
            b'"\xc3\xa9"',
            b'"\xff"',
        ),
    ]
)
_JSON = st.recursive(
    _ODD,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: b"[" + b",".join(parts) + b"]")
        | st.lists(
            st.tuples(st.sampled_from([b'"a"', b'"\\u0061"', b'"b:\\""', b'""']), inner), max_size=3
        ).map(lambda pairs: b"{" + b",".join(key + b":" + value for key, value in pairs) + b"}")
    ),
    max_leaves=12,
)


@given(value=_JSON)
def test_small_and_large_payloads_are_read_alike(value: bytes) -> None:
    """The input of a small proposal is compared with that of its large result."""
    small, large = (_told(b'{"v":' + value + rest + b"}") for rest in (b"", b',"padding":' + _PADDING))

    assert small == large


def _told(payload: bytes) -> str:
    """What is read, with its types; or what is wrong, wherever it is."""
    try:
        return repr(loads(payload)["v"])
    except BadPayload as error:
        return str(error)


@given(value=_JSON)
def test_a_key_that_comes_twice_is_never_read(value: bytes) -> None:
    """Whatever else the text holds: what the standard reader sees twice is refused."""
    doubled: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        doubled.extend({key for key, _ in found} if len(dict(found)) < len(found) else ())
        return dict(found)

    payload = b'{"v":' + value + b"}"
    try:
        json.loads(payload, object_pairs_hook=pairs)
    except ValueError:
        doubled.append("")
    if doubled:
        with pytest.raises(BadPayload):
            loads(payload)
