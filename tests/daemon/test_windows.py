"""Ages and windows: no clock step makes a pending call younger."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from latchd.windows import NS_PER_MS, Instant, age_ms, is_expired, remaining_ms

BOOT, OTHER = bytes(16), bytes([1]) * 16
WINDOW = 30 * 60_000


def at(ms: int, boot: bytes = BOOT, wall: int | None = None) -> Instant:
    return Instant(boot, ms * NS_PER_MS, 1_000_000 + (ms if wall is None else wall))


def test_age_within_one_boot_is_the_boot_clocks() -> None:
    assert age_ms(at(0), at(5, wall=-99_999)) == 5


def test_age_across_boots_is_the_wall_clocks() -> None:
    assert age_ms(at(900_000), at(1, OTHER, wall=900_007)) == 7


def test_a_negative_age_is_no_age() -> None:
    assert age_ms(at(9), at(8)) is None
    assert age_ms(at(9), at(0, OTHER, wall=0)) is None


def test_a_window_ends_exactly_when_it_is_over() -> None:
    assert not is_expired(at(0), at(WINDOW - 1), WINDOW)
    assert is_expired(at(0), at(WINDOW), WINDOW)
    assert remaining_ms(at(0), at(WINDOW - 1), WINDOW) == 1
    assert remaining_ms(at(0), at(WINDOW + 5), WINDOW) == 0


def test_an_unbelievable_age_counts_as_expired() -> None:
    assert is_expired(at(9), at(8), WINDOW)
    assert remaining_ms(at(9), at(8), WINDOW) == 0


@given(step=st.integers(-(10**9), 10**9), ms=st.integers(0, 2 * WINDOW))
def test_stepping_the_wall_clock_changes_no_age_within_one_boot(step: int, ms: int) -> None:
    assert is_expired(at(0), at(ms, wall=step), WINDOW) == (ms >= WINDOW)
