"""Parsing leaves nothing behind: a daemon judges a million commands."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest

from latchd.shell.facts import analyze
from latchd.shell.parse import Program, parse


def kept_of(first: Callable[[], object], then: Callable[[], object]) -> int:
    """Bytes that are still held after ``then`` and were not after ``first``."""
    gc.collect()
    tracemalloc.start()
    try:
        first()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        then()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


def test_the_text_of_a_parsed_command_is_not_kept() -> None:
    def parsed(count: int) -> None:
        for number in range(count):
            assert isinstance(parse(f"echo {number:08} | grep -c {'word ' * 400}"), Program)

    parsed(5)  # buffers and caches are made once
    kept = kept_of(lambda: parsed(5), lambda: parsed(100))

    assert kept < 20_000  # one text is 2,000 bytes: a hundred kept would be ten times that


@pytest.mark.parametrize("program", ["python3 -c '{}'", "perl -e '{}'", "psql -c '{}'"])
def test_no_program_of_an_analysed_command_is_kept(program: str) -> None:
    def analysed(word: str) -> None:
        analyze(program.format(f"{word} " * 8000), cwd="/w", home="/h")

    analysed("b")
    kept = kept_of(lambda: analyze("ls"), lambda: analysed("c"))

    assert kept < 8_000  # half of one text; its tokens are many times that
