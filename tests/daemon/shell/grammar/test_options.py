"""The option parser reads words as getopt does, and says so when it can't."""

from __future__ import annotations

import pytest

from daemon.shell.grammar.grammar_lines import words_of
from latchd.shell.grammar.options import Options, Style, grammar, parse

RM = grammar("r,R,recursive f,force i interactive? t,target-directory= v,verbose # color?")


Read = tuple[list[tuple[str, str | None]], list[str], bool]  # given, operands, unknown


def read(options: Options, line: str) -> Read:
    _, words, _ = words_of(f"x {line}")
    parsed = parse(options, words)
    given = [(option.name, option.value.value if option.value else None) for option in parsed.given]
    return given, [word.value for word in parsed.operands], parsed.unknown


CASES: list[tuple[str, Read]] = [
    ("-rf a", ([("recursive", None), ("force", None)], ["a"], False)),
    ("a -R b", ([("recursive", None)], ["a", "b"], False)),
    ("-t d a", ([("target-directory", "d")], ["a"], False)),
    ("-vtd a", ([("verbose", None), ("target-directory", "d")], ["a"], False)),
    ("--target-directory=d a", ([("target-directory", "d")], ["a"], False)),
    ("--target-directory d a", ([("target-directory", "d")], ["a"], False)),
    ("--targ d a", ([("target-directory", "d")], ["a"], False)),
    ("--color a", ([("color", None)], ["a"], False)),
    ("--color=x a", ([("color", "x")], ["a"], False)),
    ("-- -r", ([], ["-r"], False)),
    ("- a", ([], ["-", "a"], False)),
    ("-12 a", ([("#", "12")], ["a"], False)),
    ("-q a", ([], ["a"], True)),
    ("--nonsense a", ([], ["a"], True)),
    ("-t", ([("target-directory", None)], [], True)),
    ("$X a", ([], ["\0", "a"], False)),
    ("-$X a", ([], ["-\0", "a"], True)),
]


@pytest.mark.parametrize(("line", "expected"), CASES)
def test_words_are_sorted_into_options_and_operands(line: str, expected: Read) -> None:
    assert read(RM, line) == expected


def test_a_posix_parser_stops_at_the_first_operand() -> None:
    assert read(grammar("n", Style.LEADING), "-n a -n") == ([("n", None)], ["a", "-n"], False)


def test_after_an_option_that_ends_the_options_everything_is_an_operand() -> None:
    assert read(grammar("c! v", Style.LEADING), "-v -c code -v") == (
        [("v", None), ("c", "code")],
        ["-v"],
        False,
    )


def test_single_dash_programs_have_long_options_and_no_clusters() -> None:
    options = grammar("in= noout", Style.DASHED)

    assert read(options, "-in a -noout b") == ([("in", "a"), ("noout", None)], ["b"], False)


def test_an_abbreviation_of_two_options_is_unknown() -> None:
    assert read(grammar("force follow"), "--fo a") == ([], ["a"], True)


def test_a_spelling_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="`r` is given twice"):
        grammar("r,recursive r")
