"""Gates and bounds of the parser."""

from __future__ import annotations

import itertools

import pytest

from latch_contracts.facts import Issue
from latchd.shell import parse as parse_module
from latchd.shell.parse import MAX_TEXT, Program, Refusal, from_bytes_view, parse, to_bytes_view


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("a\0", Issue.CONTROL_BYTES),
        ("a\x1b", Issue.CONTROL_BYTES),
        ("a\rb", Issue.CONTROL_BYTES),
        ("a\x02", Issue.CONTROL_BYTES),
        ("a" * (MAX_TEXT + 1), Issue.INPUT_LIMIT),
        ("a|" * 257, Issue.INPUT_LIMIT),
        ("<<E " * 257, Issue.INPUT_LIMIT),
        ("( " * 201 + ")" * 201, Issue.DEPTH_LIMIT),
        ("a " * 9_000, Issue.NODE_LIMIT),
        (")" * 64_000, Issue.TIME_LIMIT),
        (">" * 64_000, Issue.TIME_LIMIT),
        ("${" * 30_000, Issue.INPUT_LIMIT),
        ("[[ a && " * 8_000, Issue.INPUT_LIMIT),
        ("$" * 60_000, Issue.INPUT_LIMIT),
    ],
)
def test_a_text_beyond_a_gate_or_bound_is_refused_with_its_reason(text: str, issue: Issue) -> None:
    assert parse(text) == Refusal(issue)


@pytest.mark.parametrize("letter", ["é", "€", "😀"])
def test_a_budget_that_ends_within_a_letter_is_a_refusal_and_no_crash(letter: str) -> None:
    unit = (letter + ")").encode().decode("latin-1")

    assert parse(unit * (MAX_TEXT // len(unit))) == Refusal(Issue.TIME_LIMIT)


def test_what_no_count_shows_is_bounded_by_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps: what matters is that it is looked at while the parser works."""
    times = itertools.count()
    monkeypatch.setattr(parse_module, "cpu_time", lambda: float(next(times)))

    assert parse("echo a b c; " * 100) == Refusal(Issue.TIME_LIMIT)


def test_a_refused_text_leaves_nothing_behind_for_the_next() -> None:
    parse(")" * 64_000)

    program = parse("ls")

    assert isinstance(program, Program)
    assert (program.text, program.has_error, program.root.end) == ("ls", False, 2)


def test_equal_text_gives_an_equal_tree() -> None:
    assert parse("a | b && c") == parse("a | b && c")


def test_text_at_the_limit_passes() -> None:
    assert isinstance(parse("a" * MAX_TEXT), Program)


@pytest.mark.parametrize("text", ["a", "é", "日本", "a\U0001f600b"])
def test_the_bytes_view_has_a_character_per_byte_and_a_way_back(text: str) -> None:
    view = to_bytes_view(text)

    assert view is not None
    assert (len(view), from_bytes_view(view)) == (len(text.encode()), text)


def test_a_lone_surrogate_has_no_bytes_view() -> None:
    assert to_bytes_view("\udcff") is None
