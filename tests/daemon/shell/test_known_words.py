"""What is known of a word of which a part is not: a program's name, where a path begins, who prints it."""

from __future__ import annotations

import pytest

from guard_cases import HOME, PROJECT
from latch_contracts.facts import Access, ActionFacts
from latchd.shell.facts import analyze


def facts(text: str) -> ActionFacts:
    return analyze(text, cwd=PROJECT, home=HOME)


def programs(text: str) -> list[str]:
    return [command.program for command in facts(text).commands]


def removed(text: str) -> list[str]:
    return [path.value for path in facts(text).paths if path.access is Access.DELETE]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("$(which python3) -V", "python3"),
        ('"$(command -v node)" a.js', "node"),
        ("`type -p rm` -rf x", "rm"),
        ("$(which git 2>/dev/null) status", "git"),
        ("$(which ../git) status", ""),
        ("$(which git; ./x) status", ""),
        ("$(./which git) status", ""),
        ('"$JAVA_HOME/bin/java" -version', "java"),
        ("$JAVA_HOME/bin/java -version", "java"),
        ("$X/java -version", ""),  # may be several words
        ('"$X/own-tool" a', ""),  # nobody knows what that does
        ("JAVA_HOME=$(cat f); $JAVA_HOME/bin/java", "cat"),
        ('"$X/$Y"', ""),
    ],
)
def test_a_program_is_known_by_its_name_where_only_its_directory_is_not(text: str, first: str) -> None:
    assert programs(text)[0] == first


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('W=/tmp/work-$$; rm -rf "$W"', ["/tmp/work-\0"]),
        ('O=build/$ARCH; rm -rf "$O/x"', ["build/\0/x"]),
        ('O=$ARCH/build; rm -rf "$O"', ["\0"]),
        ('O="a b/$X"; rm -rf "$O"', ["\0"]),
    ],
)
def test_a_value_keeps_the_directory_that_it_begins_with(text: str, values: list[str]) -> None:
    assert removed(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("T=/tmp/a; trap 'rm -rf \"$T\"' EXIT", ["/tmp/a"]),
        ('T=/tmp/a; clean() { rm -rf "$T"; }; trap clean EXIT', ["/tmp/a"]),
        ("T=/tmp/a; trap 'rm -rf \"$T\"' EXIT; T=/srv", ["\0"]),
        ("T=/tmp/a; trap 'rm -rf \"$T\"' EXIT; read T", ["\0"]),
        ('T=/tmp/a; trap \'rm -rf "$T"\' EXIT; eval "$X"', ["\0"]),
        ("T=/tmp/a; trap 'rm -rf \"$T\"' EXIT; for T in /srv; do :; done", ["\0"]),
        ("T=/tmp/a; trap 'rm -rf \"$T\"' EXIT; f() { T=/srv; }; f", ["\0"]),
        ("trap 'rm -rf \"$T\"' EXIT; T=/tmp/a", ["\0"]),
    ],
)
def test_a_trap_finds_a_variable_that_nothing_else_sets(text: str, values: list[str]) -> None:
    assert removed(text) == values


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("$(cat a)", [(1, 2)]),
        ("$(cat a) $(cat b)", [(1, 3), (2, 3), (1, 4), (2, 4)]),  # a round for each
        ('$(cat a) "$X"', []),  # not all of it comes from there
        ("$(cat a) /srv", []),
    ],
)
def test_the_words_of_a_loop_come_from_what_prints_them(words: str, printed: list[tuple[int, int]]) -> None:
    found = facts(f'for f in {words}; do rm "$f"; done').flows

    assert [
        (flow.from_command, flow.to_command) for flow in found if flow.from_command and flow.to_command
    ] == (printed)
