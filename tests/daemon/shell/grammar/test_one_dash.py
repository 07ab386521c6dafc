"""Programs whose long options have one dash: none of their words is a cluster of letters."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument
from latchd.shell.grammar import Context, describe
from latchd.shell.grammar.registry import ONE_DASH, program_names


@pytest.mark.parametrize("program", sorted(ONE_DASH & program_names()))
@pytest.mark.parametrize("letter", "fiodbcsk")
def test_no_part_of_a_long_option_is_a_value(program: str, letter: str) -> None:
    word = f"-{letter}qzx=k"
    description = describe(program, [Argument("x"), Argument(word)], Context("/w", "/h"))
    words = [target.word.value for target in description.targets]

    assert [found for found in words if found != word and found.endswith("qzx=k")] == []
    assert [found for found in words if found in ("k", "qzx")] == []


def test_other_programs_keep_their_clusters() -> None:
    description = describe("tar", [Argument("-xfa.tar")], Context("/w", "/h"))

    assert "a.tar" in [target.word.value for target in description.targets]
