"""A digest forgets how a value was written and nothing of what it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.canonical import digest

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    | st.binary(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\0é", max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


def test_the_digest_of_a_value_stays_what_it_is() -> None:
    assert digest(["Bash", {"command": "ls", "a": [1, 2.5, None, True]}]).hex() == (
        digest(["Bash", {"a": [1, 2.5, None, True], "command": "ls"}]).hex()
    )
    assert digest({"b": 1, "a": "é"}).hex() == (
        "528eedf979fb58fa5d73ca9282392cdb03ceedf923fa3f760e5d7320875c935f"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, False),
        (1, True),
        (0.0, -0.0),
        ("", None),
        ("", []),
        ([], {}),
        ("1", 1),
        ("a", b"a"),
        ([1, 2], [2, 1]),
        ([[1], 2], [[1, 2]]),
        ({"a": None}, {}),
        (2**64, -(2**64)),
        (2**64, "10000000000000000"),
        (2**64, b"10000000000000000"),
        (2**64, float(2**64)),
        ("é", "e\u0301"),
    ],
)
def test_values_that_could_be_read_differently_have_different_digests(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


@given(value=VALUES)
def test_a_digest_is_32_bytes_and_the_same_each_time(value: Any) -> None:
    assert digest(value) == digest(value)
    assert len(digest(value)) == 32


@given(members=st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=5))
def test_the_order_of_keys_is_forgotten_at_every_depth(members: dict[str, Any]) -> None:
    turned = dict(reversed(members.items()))

    assert digest({"outer": [members]}) == digest({"outer": [turned]})


def test_a_text_that_can_not_be_said_is_an_error() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        digest("\ud800")
