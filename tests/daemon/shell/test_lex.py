"""One word's text → its pieces, and the code that hides in it."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Issue
from latchd.shell.lex import Code, Flag, Lexed, Piece, Style, closing, lex


def read(text: str, style: Style = Style.WORD) -> Lexed:
    """The word as it is read where the tree knows nothing of it."""
    return lex(text, 0, len(text), {}, style)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("", ()),
        ("a/b.c", (Piece("a/b.c", Flag.PLAIN),)),
        ("a*", (Piece("a*", Flag.PLAIN),)),
        ("'a $b'", (Piece("a $b", Flag.SINGLE),)),
        ("''", (Piece("", Flag.SINGLE),)),
        ("\\a", (Piece("a", Flag.ESCAPED),)),
        ('"a\\$\\b"', tuple(Piece(text, Flag.DOUBLE) for text in ("", "a", "$", "\\b"))),
        ("$'a\\tb\\x41\\101'", (Piece("a\tbAA", Flag.SINGLE),)),
        ("$'a\\0b'", (Piece("a", Flag.SINGLE),)),
        ("a'b'", (Piece("a", Flag.PLAIN), Piece("b", Flag.SINGLE))),
    ],
)
def test_quotes_are_read_as_bash_reads_them(word: str, pieces: tuple[Piece, ...]) -> None:
    assert read(word) == Lexed(pieces)


@pytest.mark.parametrize(
    ("word", "piece"),
    [
        ("$a", Piece("a", Flag.VARIABLE)),
        ("${a}", Piece("a", Flag.VARIABLE)),
        ("$1", Piece("1", Flag.VARIABLE)),
        ("${12}", Piece("12", Flag.VARIABLE)),
        ("$?", Piece("", Flag.HOLE)),
        ("$@", Piece("", Flag.MANY, name="@")),
        ("${*}", Piece("", Flag.MANY, name="*")),
        ("${a:-b}", Piece("", Flag.HOLE, (Piece("b", Flag.PLAIN),), "a")),
        ("${a:=b}", Piece("", Flag.HOLE, (Piece("b", Flag.PLAIN),), "a", sets=True)),
        ("${a:+b}", Piece("", Flag.HOLE, (Piece("b", Flag.PLAIN),))),
        ("${#a}", Piece("", Flag.HOLE)),
        ("$", Piece("$", Flag.ESCAPED)),
    ],
)
def test_an_expansion_is_a_name_or_a_hole(word: str, piece: Piece) -> None:
    assert read(word) == Lexed((piece,))


@pytest.mark.parametrize(
    ("word", "piece"),
    [
        ('"$a"', Piece("a", Flag.QUOTED_VARIABLE)),
        ('"$@"', Piece("", Flag.MANY, name='"@')),
        ('"$?"', Piece("", Flag.QUOTED_HOLE)),
        ('"${a:-b}"', Piece("", Flag.QUOTED_HOLE, (Piece("b", Flag.DOUBLE),), "a")),
    ],
)
def test_between_double_quotes_an_expansion_stays_one_word(word: str, piece: Piece) -> None:
    assert read(word) == Lexed((Piece("", Flag.DOUBLE), piece))


@pytest.mark.parametrize(
    ("word", "code", "flag"),
    [
        ("$(a b)", Code(text="a b"), Flag.HOLE),
        ("`a b`", Code(text="a b"), Flag.HOLE),
        ("<(a b)", Code(text="a b", process="<"), Flag.QUOTED_HOLE),
        (">(a b)", Code(text="a b", process=">"), Flag.QUOTED_HOLE),
        ("$(a ')' \")\")", Code(text="a ')' \")\""), Flag.HOLE),
    ],
)
def test_a_substitution_that_the_tree_does_not_know_is_found_by_its_brackets(
    word: str, code: Code, flag: Flag
) -> None:
    assert read(word) == Lexed((Piece("", flag, code=code),), (code,))


@pytest.mark.parametrize("word", ["${a:-$(b)}", "${a#$(b)}", "${a/x/$(b)}", "@($(b)|c)"])
def test_code_in_an_operand_is_code_of_the_word(word: str) -> None:
    assert [code.text for code in read(word).codes] == ["b"]


@pytest.mark.parametrize("word", ["'a", '"a', "$(a", "${a", "`a", "<(a", "$(case a in b) c;; esac)", "a b"])
def test_where_a_word_does_not_end_something_may_run_that_nobody_listed(word: str) -> None:
    assert read(word).silent


@pytest.mark.parametrize("word", ["${!a}", "${a[b]}", "${a:b}", "$((a))", "$[a]", "${a@P}"])
def test_a_value_that_is_a_formula_or_a_name_is_said(word: str) -> None:
    assert read(word).evaluates


@pytest.mark.parametrize("word", ["$a", "${a}", "${a:-b}", "${a#b}", "'$((a))'", "$(a)"])
def test_a_value_that_is_only_text_is_no_formula(word: str) -> None:
    assert not read(word).evaluates


def test_quotes_mean_nothing_in_arithmetic() -> None:
    assert read("'$a'", Style.ARITHMETIC).pieces == (
        Piece("'", Flag.DOUBLE),
        Piece("a", Flag.QUOTED_VARIABLE),
        Piece("'", Flag.DOUBLE),
    )


def test_operands_nested_without_end_spend_their_budget_and_are_a_limit() -> None:
    depth = 2_000
    assert read("${a:-" * depth + "}" * depth).issue is Issue.DEPTH_LIMIT


def test_a_word_of_pieces_without_end_is_a_limit() -> None:
    assert read("\\a" * 20_000).issue is Issue.FACT_LIMIT


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("(a)", 2),
        ("((a)b)", 5),
        ("(')')", 4),
        ('(")")', 4),
        ("(\\))", 3),
        ('("$(a)")', 7),
        ("{a}", 2),
        ("(a", -1),
        ("('a)", -1),
        ("(case a in b) c;; esac)", -1),
        ("(a <<E)", -1),
    ],
)
def test_a_bracket_is_closed_by_shell_quoting_or_it_can_not_be_told(text: str, at: int) -> None:
    assert closing(text, 0, len(text)) == at
