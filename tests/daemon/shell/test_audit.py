"""The tree's silence is not believed."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Issue
from latchd.shell.audit import doubts, without_prefixes
from latchd.shell.parse import Program, parse


def program(text: str) -> Program:
    parsed = parse(text)
    assert isinstance(parsed, Program)
    return parsed


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a 'b' \"c $d\"",
        "a <<E\n$x `b`\nE",
        "if a; then b; fi # c",
        "a=(1 2)",
        "[[ a =~ ^b$ ]]",
        "a ${b#c} $((d))",
    ],
)
def test_an_ordinary_tree_raises_no_doubt(text: str) -> None:
    assert doubts(program(text)) == []


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("a (", Issue.INVALID_SYNTAX),
        ("a $(}) b", Issue.PARSER_SILENCE),
        ("} a", Issue.PARSER_SILENCE),
        ("done", Issue.PARSER_SILENCE),
    ],
)
def test_an_uncovered_byte_or_a_stray_keyword_is_doubted(text: str, issue: Issue) -> None:
    assert issue in doubts(program(text))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("time a", "     a"),
        ("time -p a", "        a"),
        ("! ! a", "!   a"),
        ("coproc a", "       a"),
        ("coproc N { a; }", "         { a; }"),
        ("'time' a", "'time' a"),
    ],
)
def test_keywords_taken_for_programs_are_blanked(text: str, left: str) -> None:
    cleaned, _ = without_prefixes(program(text))

    assert isinstance(cleaned, Program)
    assert cleaned.text == left
