"""The tables document themselves: every example of every entry is what its program is described as."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

from daemon.shell.grammar.grammar_lines import words_of
from latch_contracts.facts import Operation
from latchd.shell.grammar import describe
from latchd.shell.grammar.description import DETAILS, brief
from latchd.shell.grammar.program import Program
from latchd.shell.grammar.registry import TABLES, entries, examples, program_names

EXAMPLES = tuple(examples())
_NAMED = re.compile(r"Operation\.([A-Z_]+)\b")
# A line of a verb table: `verb | verb : delete write +detail`.
_VERBS = re.compile(r"^[^#\n]* :((?: [a-z_]+)*)(?: \+.*)?$", re.MULTILINE)


def operations_named(table: ModuleType) -> set[Operation]:
    """The operations that a table's source can give: named in code, or in a verb table."""
    source = inspect.getsource(table)
    words = {word for match in _VERBS.finditer(source) for word in match.group(1).split()}
    named = {Operation[name] for name in _NAMED.findall(source)}
    return named | {operation for operation in Operation if operation.value in words}


def examples_of(table: ModuleType) -> list[str]:
    """The example lines of one table, subcommands included."""
    lines: list[str] = []
    waiting: list[Program] = list(table.PROGRAMS)
    while waiting:
        entry = waiting.pop()
        lines += entry.examples
        waiting += {id(child): child for child in entry.children.values()}.values()
    return lines


@pytest.mark.parametrize(("line", "expected"), EXAMPLES, ids=[line for line, _ in EXAMPLES])
def test_an_example_is_described_as_its_table_says(line: str, expected: str) -> None:
    assert brief(describe(*words_of(line))) == expected


def test_every_program_has_an_example() -> None:
    assert [entry.names[0] for entry in entries() if not entry.examples and not entry.children] == []


def test_every_detail_is_a_word_of_the_closed_set() -> None:
    used = {word[1:] for _, text in EXAMPLES for word in text.split() if word.startswith("+")}

    assert used - set(DETAILS) == set()


def test_the_tables_know_several_hundred_programs_people_use() -> None:
    everyday = set("rm cp mv cat grep find sed awk git curl ssh docker kubectl npm pip make tar psql".split())

    assert everyday <= program_names()
    assert len(program_names()) >= 200


def test_no_description_names_an_operation_twice() -> None:
    for line, _ in EXAMPLES:
        operations: tuple[Operation, ...] = describe(*words_of(line)).operations
        assert len(operations) == len(set(operations)), line


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.rpartition(".")[2])
def test_each_operation_that_a_table_can_give_is_shown_by_an_example(table: ModuleType) -> None:
    shown = {operation for line in examples_of(table) for operation in describe(*words_of(line)).operations}

    assert sorted(operations_named(table) - shown) == []


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.rpartition(".")[2])
def test_each_table_shows_a_command_that_does_nothing_of_note(table: ModuleType) -> None:
    quiet = [line for line in examples_of(table) if not describe(*words_of(line)).operations]

    assert quiet
