"""Parsing leaves nothing behind: a daemon judges a million commands."""

from __future__ import annotations

import gc
import tracemalloc

from latchd.shell.parse import Program, parse


def test_the_text_of_a_parsed_command_is_not_kept() -> None:
    def parsed(count: int) -> None:
        for number in range(count):
            assert isinstance(parse(f"echo {number:08} | grep -c {'word ' * 400}"), Program)

    parsed(5)  # buffers and caches are made once
    gc.collect()
    tracemalloc.start()
    try:
        parsed(5)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        parsed(100)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000  # one text is 2,000 bytes: a hundred kept would be ten times that
