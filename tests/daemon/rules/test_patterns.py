"""RE2: linear or refused."""

from __future__ import annotations

import pytest

from latchd.rules.patterns import PatternError, compiled, fault


def test_a_pattern_is_met_anywhere_in_the_text() -> None:
    assert compiled(r"b+").search("abbc")
    assert not compiled(r"^b").search("abbc")
    assert compiled(r"ä\x00").search("xä\0")


@pytest.mark.parametrize("source", ["(", r"(a)\1", "(?=a)", "(?:(?:a{1,900}){1,900}){1,900}", "[z-a]"])
def test_what_can_not_be_matched_in_linear_time_or_room_is_refused_in_one_line(source: str) -> None:
    with pytest.raises(PatternError):
        compiled(source)

    assert fault(source) != ""
    assert "\n" not in fault(source)


def test_a_pattern_that_ruins_others_is_plain_work_here() -> None:
    assert not compiled(r"^(a+)+$").search("a" * 50_000 + "!")
