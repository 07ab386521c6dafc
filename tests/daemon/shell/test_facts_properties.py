"""What holds for the facts of any text: arbitrary ones, noise of shell tokens, whole programs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shellfuzz.corpus import TOKENS
from shellfuzz.hostile import singles, written
from shellfuzz.invariants import broken
from shellfuzz.programs import seeded

_HOSTILE = [*singles(), *written()]


@given(st.text(max_size=200))
def test_every_promise_holds_for_any_text(text: str) -> None:
    assert broken(text) == []


@given(st.lists(st.sampled_from((*TOKENS, " ", "\n", "a", "mk")), max_size=40))
def test_every_promise_holds_for_shell_tokens_in_any_order(tokens: list[str]) -> None:
    assert broken("".join(tokens)) == []
    assert broken(" ".join(tokens)) == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 40))
def test_every_promise_holds_for_generated_programs(seed: int) -> None:
    assert broken(seeded(seed)) == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 40), st.integers(0, 4000))
def test_every_promise_holds_for_programs_that_are_cut_anywhere(seed: int, length: int) -> None:
    assert broken(seeded(seed)[:length]) == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(8))
def test_every_promise_holds_for_the_largest_texts_of_one_token(start: int) -> None:
    assert [(name, found) for name, text in _HOSTILE[start::8] if (found := broken(text, again=False))] == []
