"""The tables document themselves: every example of every entry is what its program is described as."""

from __future__ import annotations

import pytest

from daemon.shell.grammar.grammar_lines import words_of
from latch_contracts.facts import Operation
from latchd.shell.grammar import describe
from latchd.shell.grammar.description import DETAILS, brief
from latchd.shell.grammar.registry import entries, examples, program_names

EXAMPLES = tuple(examples())


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
