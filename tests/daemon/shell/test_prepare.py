"""What is taken out of a text before it is parsed."""

from __future__ import annotations

import re

import pytest

from latchd.shell.prepare import BOTH, MARK, TICK, Heredoc, Prepared, prepare, separated


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("r\\\nm a", "rm a"),
        ("a \\\n  b", "a   b"),
        ('"a\\\nb"', '"ab"'),
        ("'a\\\nb'", "'a\\\nb'"),
        ("$'a\\\nb'", "$'a\\\nb'"),
        ("a \\\\\nb", "a \\\\\nb"),
        (": # c \\\nb", ": # c \\\nb"),
        ("a#b\\\nc", "a#bc"),
        ("${#x}\\\ny", "${#x}y"),
    ],
)
def test_a_continuation_goes_where_bash_drops_it_and_only_there(text: str, joined: str) -> None:
    assert prepare(text) == Prepared(joined)


@pytest.mark.parametrize(
    ("text", "left", "heredocs"),
    [
        ("a <<E\nb\nE\nc", f"a <{MARK}0{MARK}\nc", (Heredoc("b\n", True),)),
        ("a <<'E' | d\n$b\nE", f"a <{MARK}0{MARK} | d\n", (Heredoc("$b\n", False),)),
        ("a <<-E\n\tb\n\tE\nc", f"a <{MARK}0{MARK}\nc", (Heredoc("b\n", True),)),
        ('a <<"E"F\nb\nEF\nc', f"a <{MARK}0{MARK}\nc", (Heredoc("b\n", False),)),
        ("a <<E\nb\\\nE\nE\nc", f"a <{MARK}0{MARK}\nc", (Heredoc("bE\n", True),)),
        (
            "a <<E; b <<F\n1\nE\n2\nF\nc",
            f"a <{MARK}0{MARK}; b <{MARK}1{MARK}\nc",
            (Heredoc("1\n", True), Heredoc("2\n", True)),
        ),
        ("a <<E\nb", f"a <{MARK}0{MARK}\n", (Heredoc("b", True),)),
        ("a <<\\\nE\nb\nE\nc", f"a <{MARK}0{MARK}\nc", (Heredoc("b\n", True),)),
        ('a <<"\\\nE"\nb\nE\nc', f"a <{MARK}0{MARK}\nc", (Heredoc("b\n", False),)),
        ('a <<"\\$E"\nb\n$E\nc', f"a <{MARK}0{MARK}\nc", (Heredoc("b\n", False),)),
    ],
)
def test_a_here_document_is_taken_out_with_its_body(
    text: str, left: str, heredocs: tuple[Heredoc, ...]
) -> None:
    assert prepare(text) == Prepared(left, heredocs)


@pytest.mark.parametrize("text", ["$((1<<2))", "((x<<=1))", "a <<< b", "'<<E'", '"<<E"', "a # <<E"])
def test_what_only_looks_like_a_here_document_stays(text: str) -> None:
    assert prepare(text) == Prepared(text)


@pytest.mark.parametrize(
    ("text", "left", "ticks"),
    [
        ("a `b c`", "a $(b c)", ()),
        ("a `b 'c'`", f"a {TICK}0{TICK}", ("b 'c'",)),
        ("a `b \\`c\\``", f"a {TICK}0{TICK}", ("b `c`",)),
        ('a "`b \\"c\\"`"', f'a "{TICK}0{TICK}"', ('b "c"',)),
        ("a '`b`'", "a '`b`'", ()),
    ],
)
def test_backticks_become_a_mark_or_a_plain_substitution(
    text: str, left: str, ticks: tuple[str, ...]
) -> None:
    assert prepare(text) == Prepared(left, ticks=ticks)


def test_a_redirection_both_ways_is_marked() -> None:
    assert prepare("a 3<> b").text == f"a 3>|{BOTH}b"


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("$ ls", "\\$ ls"),
        ("grep a$.", "grep a\\$."),
        ("a $/ $", "a \\$/ \\$"),
        ("a | \\ b", "a | ' 'b"),
        ("a {} \\", "a {} \\\\"),
        ("a\\ b", "a\\ b"),
        ('a "$." \'$.\' "\\ b"', 'a "$." \'$.\' "\\ b"'),
        ("a $b $1 ${c} $? $'d' $((1))", "a $b $1 ${c} $? $'d' $((1))"),
    ],
)
def test_letters_that_the_parser_would_misread_get_a_spelling_it_reads(text: str, spelled: str) -> None:
    assert prepare(text) == Prepared(spelled)


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("for i do a; done", "for i; do a; done"),
        ("while a; do if b; then c; fi done", "while a; do if b; then c; fi; done"),
        ("for i do a 'fi done'; done", "for i; do a 'fi done'; done"),
    ],
)
def test_reserved_words_that_need_no_separator_get_one(text: str, apart: str) -> None:
    assert separated(text) == Prepared(apart)


@pytest.mark.parametrize(
    "text", ["a `b", "a 'b \\\n", 'a "b <<E', "a $(b <<E\n", "a=(1<<E)\nb\n", "a <<$'E\\n'\nE"]
)
def test_a_text_that_the_scan_loses_itself_in_is_not_sure(text: str) -> None:
    assert not prepare(text).sure


@pytest.mark.parametrize(
    ("opening", "body"),
    [
        ("<<E", "EE\nE \n\tE\n"),
        ("<<-E", "\ta\n \tE\n\t\tb\n"),
        ("<<'E'", "a\\\n"),
        ("<<''", "a\n"),
        ("<<E", ""),
    ],
)
@pytest.mark.parametrize("behind", ["", "b \\\n c\n"], ids=["no line joined", "a line joined behind"])
def test_a_body_ends_at_the_first_line_that_is_its_delimiter_alone(
    opening: str, body: str, behind: str
) -> None:
    delimiter = opening.strip("<-'")
    found = prepare(f"a {opening}\n{body}{delimiter}\n{behind}b").heredocs

    expected = re.sub(r"^\t+", "", body, flags=re.MULTILINE) if "-" in opening else body
    assert found == (Heredoc(expected, "'" not in opening),)
