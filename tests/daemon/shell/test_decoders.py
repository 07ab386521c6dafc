"""Filters over literal text: exact, or not known."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument
from latchd.shell.decoders import decoded


def through(text: str, *words: str) -> str | None:
    return decoded(words[0], tuple(Argument(word, expands="\0" in word) for word in words), text)


@pytest.mark.parametrize(
    ("text", "words", "output"),
    [
        ("YSBi\n", ("base64", "-d"), "a b"),
        ("YSBi", ("base64", "--decode"), "a b"),
        ("MEQGE===\n", ("base32", "-d"), "a b"),
        ("612062\n", ("xxd", "-r", "-p"), "a b"),
        ("YSBi\n", ("openssl", "enc", "-base64", "-d"), "a b"),
        ("b a\ndc\n", ("rev",), "a b\ncd\n"),
        ("n o", ("tr", "a-z", "n-za-m"), "a b"),
        ("axbx", ("tr", "-d", "x"), "ab"),
        ("abc", ("tr", "abc", "x"), "xxx"),
    ],
)
def test_a_filter_used_in_a_known_way_gives_its_output(
    text: str, words: tuple[str, ...], output: str
) -> None:
    assert through(text, *words) == output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("YSBi", ("base64",)),
        ("YSBi!", ("base64", "-d")),
        ("YSBi", ("base64", "-d", "file")),
        ("YSB\x01", ("base64", "-d")),
        ("YSBi", ("base64", "-\0")),
        ("zz", ("xxd", "-r", "-p")),
        ("a", ("tr", "[:lower:]", "b")),
        ("a", ("tr", "-cd", "b")),
        ("é", ("rev",)),
        ("a", ("gunzip",)),
        ("a", ("sed", "s/a/b/")),
    ],
)
def test_any_other_use_is_not_known(text: str, words: tuple[str, ...]) -> None:
    assert through(text, *words) is None
