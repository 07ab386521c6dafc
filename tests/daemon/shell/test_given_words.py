"""An inline program's own words stand in for what reads them."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument
from latchd.shell.given_words import MAX_GIVEN, reads_more, with_words

ONE = (Argument("a'b"), Argument("c"))


@pytest.mark.parametrize(
    ("language", "program", "expected"),
    [
        ("python", "f(sys.argv[1], sys.argv[2], sys.argv[3])", "f('a\\'b', 'c', sys.argv[3])"),
        ("python", "f(sys.argv[1:])", "f(['a\\'b', 'c'])"),
        ("node", "f(process.argv[2])", "f('c')"),
        ("node", "f(process.argv.slice(1))", "f(['a\\'b', 'c'])"),
        ("perl", "f($ARGV[1]); g(shift); h(@ARGV)", "f('c'); g('a\\'b'); h('a\\'b', 'c')"),
        ("ruby", "f(ARGV[0]); g(*ARGV)", "f('a\\'b'); g('a\\'b', 'c')"),
        ("php", "f($argv[1]); f($argv[0]);", "f('a\\'b'); f($argv[0]);"),
        ("lua", "f(arg[1])", "f(arg[1])"),
    ],
)
def test_words_are_put_where_they_are_read(language: str, program: str, expected: str) -> None:
    assert with_words(language, program, ONE) == expected


def test_a_word_that_may_be_several_makes_all_behind_it_unknown() -> None:
    given = (Argument("a"), Argument("\0", expands=True, globs=True), Argument("c"))

    assert with_words("python", "f(sys.argv[1], sys.argv[3], sys.argv[1:])", given) == (
        "f('a', '\0', sys.argv[1:])"
    )


def test_words_without_end_are_not_put_in() -> None:
    program = "f(sys.argv[1])"

    assert with_words("python", program, [Argument("a" * (MAX_GIVEN + 1))]) == program
    assert with_words("python", program, ()) == program


@pytest.mark.parametrize(
    ("language", "program", "expected"),
    [
        ("python", "[f(x) for x in sys.stdin]", True),
        ("python", "f(x)", False),
        ("perl", "f($_)", True),
        ("perl", "f($x)", False),
        ("node", "process.stdin.on('data', f)", True),
        ("awk", "{print}", False),
    ],
)
def test_a_program_that_takes_in_text_says_so(language: str, program: str, expected: bool) -> None:
    assert reads_more(language, program) is expected
