"""What is known of variables, parameters and the directory on one straight line."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument
from latchd.shell.lex import Flag, Piece
from latchd.shell.variables import (
    HOLE,
    MAX_PARAMETERS,
    MAX_PLACES,
    MAX_SPENT,
    MAX_VALUE,
    PARAMETERS,
    UNKNOWN,
    Value,
    Variables,
    is_loose,
    pieces_of,
)


def known(text: str) -> Value:
    return Value((Piece(text, Flag.DOUBLE),))


def array(*words: str) -> Value:
    return Value(None, items=tuple(map(Argument, words)))


def line(*places: str) -> Variables:
    return Variables("/home/u", places or ("/w",))


@pytest.mark.parametrize(
    ("places", "target", "after"),
    [
        (("/w",), "a", ("/w/a",)),
        (("/w",), "/a/../b", ("/b",)),
        (("/w",), "..", ("/",)),
        (("/w/a", "/w/b"), "..", ("/w",)),
        (("/w", "/v"), "a", ("/w/a", "/v/a")),
        (("/w",), None, ()),
        ((), "a", ()),
        ((), "/a", ("/a",)),
    ],
)
def test_a_change_of_directory_goes_from_each_place_it_may_be(
    places: tuple[str, ...], target: str | None, after: tuple[str, ...]
) -> None:
    variables = Variables("/home/u", places)
    variables.enter(target)
    assert variables.places == after


@pytest.mark.parametrize(
    ("variables", "value"),
    [
        (line(), known("1")),
        (Variables("", (), volatile=frozenset({"x"})), Value()),
        (Variables("", (), folds=False), Value()),
    ],
)
def test_an_assignment_is_known_unless_something_else_may_change_the_name(
    variables: Variables, value: Value
) -> None:
    variables.assign("x", known("1"))
    assert variables.lookup("x") == value


def test_a_value_that_is_too_long_is_not_followed_but_who_made_it_is() -> None:
    variables = line()
    variables.assign("x", Value((Piece("a" * (MAX_VALUE + 1), Flag.DOUBLE),), (3,)))
    assert variables.lookup("x") == Value(None, (3,))


def test_a_name_that_this_text_does_not_assign_has_no_value_and_a_forgotten_one_an_unknown() -> None:
    variables = line()
    variables.forget("x")
    assert (variables.lookup("y"), variables.lookup("x")) == (None, Value())


def test_code_that_was_not_seen_leaves_nothing_known() -> None:
    variables = line()
    variables.assign("x", known("1"))
    variables.give((Argument("sh"),))
    variables.forget_all()
    assert variables == Variables("/home/u", (), folds=False)


@pytest.mark.parametrize(
    ("number", "value"),
    [("0", known("sh")), ("1", known("a")), ("2", known("b")), ("3", Value(())), ("10", Value(()))],
)
def test_a_parameter_is_the_word_that_was_given(number: str, value: Value) -> None:
    variables = line()
    variables.give((Argument("sh"), Argument("a"), Argument("b")))
    assert variables.lookup(number) == value


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_behind_a_word_that_may_be_several_no_parameter_is_known(number: str) -> None:
    variables = line()
    variables.give((Argument("sh"), HOLE, Argument("b")))
    assert variables.lookup(number) is None


@pytest.mark.parametrize(
    ("count", "left"),
    [
        (0, ("sh", "a", "b")),
        (1, ("sh", "b")),
        (2, ("sh",)),
        (3, None),  # bash shifts nothing then, and the next command finds it so: not followed
        (None, None),
    ],
)
def test_shift_drops_words_from_the_first_on(count: int | None, left: tuple[str, ...] | None) -> None:
    variables = line()
    variables.give((Argument("sh"), Argument("a"), Argument("b")))
    variables.shift(count)
    assert variables.parameters == (None if left is None else tuple(map(Argument, left)))


@pytest.mark.parametrize(
    "words",
    [
        (Argument("sh"), *[Argument("a")] * MAX_PARAMETERS),
        (Argument("sh"), Argument("a" * MAX_VALUE)),
    ],
    ids=["many", "long"],
)
def test_too_many_or_too_long_words_are_not_followed(words: tuple[Argument, ...]) -> None:
    variables = line()
    variables.give(words)
    assert variables.parameters is None


def test_parameters_that_a_loop_may_shift_are_followed_only_where_a_shell_begins() -> None:
    variables = Variables("", (), volatile=frozenset({PARAMETERS}))
    variables.give((Argument("sh"),))
    before = variables.parameters
    variables.call((Argument("sh"),))
    assert (before, variables.parameters) == (None, (Argument("sh"),))


def test_after_a_branch_only_what_both_sides_agree_on_is_known() -> None:
    one, other = line("/w"), line("/v")
    for variables in (one, other):
        variables.assign("same", known("1"))
    one.assign("x", Value((Piece("1", Flag.DOUBLE),), (1,)))
    other.assign("x", Value((Piece("2", Flag.DOUBLE),), (2,)))
    other.assign("y", known("3"))
    one.meet(other)
    assert (one.values, one.places) == (
        {"same": known("1"), "x": Value(None, (1, 2)), "y": Value()},
        ("/w", "/v"),
    )


def test_too_many_places_are_no_place() -> None:
    one = line(*(f"/{number}" for number in range(MAX_PLACES)))
    one.meet(line("/w"))
    assert one.places == ()


def test_what_a_branch_does_to_its_copy_stays_there() -> None:
    variables = line()
    branch = variables.copy()
    branch.assign("x", known("1"))
    branch.enter("/v")
    assert variables == line()


def test_values_become_words_until_the_budget_of_the_line_is_spent() -> None:
    variables = line()
    assert [variables.may_spend(MAX_SPENT), variables.may_spend(1)] == [True, False]


@pytest.mark.parametrize(
    ("word", "loose"),
    [
        (Argument("a"), False),
        (Argument("*", globs=True), True),
        (Argument("\0", expands=True), False),
        (Argument("~bob", expands=True), True),
        (HOLE, True),
    ],
)
def test_a_word_is_loose_if_it_may_be_several_or_none(word: Argument, loose: bool) -> None:
    assert is_loose(word) is loose


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        (Argument(""), ()),
        (Argument("é"), (Piece("\xc3\xa9", Flag.DOUBLE),)),
        (Argument("*.c", globs=True), (Piece("*.c", Flag.GLOB),)),
        (Argument("a\0b", expands=True), (Piece("a", Flag.DOUBLE), *UNKNOWN, Piece("b", Flag.DOUBLE))),
        (HOLE, UNKNOWN),
    ],
)
def test_a_word_as_a_value_has_a_hole_for_each_part_that_is_not_known(
    word: Argument, pieces: tuple[Piece, ...]
) -> None:
    assert pieces_of(word) == pieces


@pytest.mark.parametrize(
    ("value", "element", "found"),
    [
        (array("a", "b c"), "x[1]", known("b c")),
        (array("a"), "x[1]", Value(())),
        (array(), "x[0]", Value(())),
        (known("a"), "x[0]", Value()),
        (Value(None, (3,), items=(HOLE, Argument("a"))), "x[1]", Value(None, (3,))),
        (array("a"), "y[0]", None),
    ],
)
def test_an_element_is_known_by_what_its_array_was_given(
    value: Value, element: str, found: Value | None
) -> None:
    variables = line()
    variables.assign("x", value)
    assert variables.lookup(element) == found


@pytest.mark.parametrize("name", ["GROUPS", "PIPESTATUS", "RANDOM", "BASH_REMATCH", "_"])
def test_what_the_shell_sets_by_itself_is_never_known(name: str) -> None:
    variables = line()
    variables.assign(name, array("a"))
    assert (variables.words_of(name), variables.values[name]) == (None, Value())


def test_an_array_with_too_many_words_is_not_followed() -> None:
    variables = line()
    variables.assign("x", array(*["a"] * (MAX_PARAMETERS + 1)))
    assert variables.words_of("x") is None
