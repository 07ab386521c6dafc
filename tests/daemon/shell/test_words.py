"""Source words → arguments."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument, Quote
from latchd.shell.parse import Program, parse, to_bytes_view
from latchd.shell.variables import Variables
from latchd.shell.words import read_word


def arguments(word: str) -> tuple[Argument, ...]:
    program = parse(to_bytes_view(f": {word}") or "")
    assert isinstance(program, Program)
    return read_word(
        program.text, 2, len(program.text), program.spans, Variables("/home/u", ("/w",))
    ).arguments


@pytest.mark.parametrize(
    ("word", "value", "quote"),
    [
        ("a", "a", Quote.NONE),
        ("'a b'", "a b", Quote.SINGLE),
        ('"a b"', "a b", Quote.DOUBLE),
        ("a'b'\"c\"", "abc", Quote.MIXED),
        ("\\$a", "$a", Quote.NONE),
        ('"\\$\\a"', "$\\a", Quote.DOUBLE),
        ("$'a\\n\\x62\\u00e9'", "a\nbé", Quote.SINGLE),
        ('$"a"', "a", Quote.DOUBLE),
        ("''", "", Quote.SINGLE),
        ("é", "é", Quote.NONE),
        ("~/a", "/home/u/a", Quote.MIXED),
        ("$HOME/a", "/home/u/a", Quote.MIXED),
        ('"$PWD"', "/w", Quote.DOUBLE),
        ("'~'", "~", Quote.SINGLE),
        ("a{b", "a{b", Quote.NONE),
        ("{}", "{}", Quote.NONE),
    ],
)
def test_a_literal_word_is_one_argument_without_its_quotes(word: str, value: str, quote: Quote) -> None:
    assert arguments(word) == (Argument(value, quote),)


@pytest.mark.parametrize(
    ("word", "argument"),
    [
        ('"$x"', Argument("\0", Quote.NONE, expands=True)),
        ("/a/$(b)/c", Argument("/a/\0/c", Quote.NONE, expands=True, globs=True)),
        ('"/a/$1"', Argument("/a/\0", Quote.DOUBLE, expands=True)),
        ('"$@"', Argument("\0", Quote.DOUBLE, expands=True, globs=True)),
        ("~bob/a", Argument("~bob/a", Quote.NONE, expands=True)),
        ("*.c", Argument("*.c", Quote.NONE, globs=True)),
        ("'*.c'", Argument("*.c", Quote.SINGLE)),
        ('"$(mktemp -d)/a"', Argument("/tmp/\0/a", Quote.DOUBLE, expands=True)),
    ],
)
def test_what_only_the_shell_knows_is_one_hole(word: str, argument: Argument) -> None:
    (found,) = arguments(word)

    assert (found.value, found.expands, found.globs) == (argument.value, argument.expands, argument.globs)


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("{a,b}", ["a", "b"]),
        ("x{a,}y", ["xay", "xy"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{03..01}", ["03", "02", "01"]),
        ("{a..c}", ["a", "b", "c"]),
        ("{a,'b,c'}", ["a", "b,c"]),
        ("{a,$x}", ["a", "\0"]),
        ("{-r,-f}", ["-r", "-f"]),
    ],
)
def test_braces_multiply_a_word(word: str, values: list[str]) -> None:
    assert [item.value for item in arguments(word)] == values


def test_braces_beyond_the_limit_are_said_to_overflow() -> None:
    word = read_word("{1..999}", 0, 8, {}, Variables("", ()))

    assert (len(word.arguments), word.overflow) == (64, True)
