"""Order, windows and evidence of a chain."""

from __future__ import annotations

import pytest

from latchd.chains.catalogue import CHAINS, NOTHING, Step
from latchd.chains.matching import Match, Past, match, progress
from latchd.chains.projection import Projection
from latchd.windows import NS_PER_MS, Instant

BOOT = bytes(16)
BYPASS, ELEVATION, SECRET = CHAINS[1], CHAINS[2], CHAINS[4]
MINUTE = 60_000


def at(ms: int, boot: bytes = BOOT) -> Instant:
    return Instant(boot, ms * NS_PER_MS, 1_000_000 + ms)


def past(seq: int, step: Step, ms: int = 0, *, exact: bool = True) -> Past:
    return Past(seq, step, step if exact else NOTHING, at(ms))


def both(step: Step) -> Projection:
    return Projection(step, step)


def test_the_second_step_after_the_first_completes_the_chain() -> None:
    assert match([past(3, Step.PRIVILEGE_DISCOVERY)], both(Step.PRIVILEGE_ELEVATION), at(1)) == (
        Match(ELEVATION, seen=3, exact=3),
    )


def test_one_step_alone_or_the_first_one_again_completes_nothing() -> None:
    assert match([], both(Step.PRIVILEGE_ELEVATION), at(0)) == ()
    assert match([past(1, Step.PRIVILEGE_DISCOVERY)], both(Step.PRIVILEGE_DISCOVERY), at(0)) == ()


def test_another_chains_first_step_is_no_predecessor() -> None:
    assert match([past(1, Step.SECRET_READ)], both(Step.PRIVILEGE_ELEVATION), at(0)) == ()


def test_the_earliest_predecessor_counts_for_telling_and_for_blocking_separately() -> None:
    history = [
        past(1, Step.PRIVILEGE_DISCOVERY, exact=False),
        past(2, Step.PRIVILEGE_DISCOVERY),
        past(3, Step.PRIVILEGE_DISCOVERY),
    ]

    assert match(history, both(Step.PRIVILEGE_ELEVATION), at(0)) == (Match(ELEVATION, seen=1, exact=2),)


@pytest.mark.parametrize(("minutes", "extra_ms", "found"), [(15, 0, True), (15, 1, False)])
def test_the_time_window_holds_its_last_millisecond_and_no_more(
    minutes: int, extra_ms: int, found: bool
) -> None:
    now = at(minutes * MINUTE + extra_ms)

    assert bool(match([past(1, Step.PRIVILEGE_DISCOVERY)], both(Step.PRIVILEGE_ELEVATION), now)) is found


@pytest.mark.parametrize(("between", "found"), [(14, True), (15, False)])
def test_the_event_window_counts_the_final_event(between: int, found: bool) -> None:
    noise = [past(2 + number, Step.EGRESS) for number in range(between)]

    history = [past(1, Step.PERMISSION_DENIED), *noise]

    assert bool(match(history, both(Step.RUNTIME_BYPASS), at(0))) is found


def test_detected_evidence_on_either_side_tells_and_does_not_block() -> None:
    weak_first = match([past(1, Step.PERMISSION_DENIED, exact=False)], both(Step.RUNTIME_BYPASS), at(0))
    weak_second = match([past(1, Step.PERMISSION_DENIED)], Projection(Step.RUNTIME_BYPASS, NOTHING), at(0))

    assert weak_first == weak_second == (Match(BYPASS, seen=1, exact=None),)
    assert not weak_first[0].enforces


def test_a_chain_whose_closeness_proves_no_flow_never_blocks() -> None:
    (found,) = match([past(1, Step.SECRET_READ)], both(Step.EGRESS), at(0))

    assert found.chain == SECRET
    assert not found.enforces


def test_one_proposal_can_complete_several_chains() -> None:
    history = [past(1, Step.SECRET_READ), past(2, Step.SECRET_MANAGER_READ)]

    assert [one.chain.bit for one in match(history, both(Step.EGRESS), at(0))] == [3, 4]


def test_the_dormant_chain_is_never_completed() -> None:
    assert match([past(1, Step.GUARDRAILS_OFF)], both(Step.EGRESS), at(0)) == ()


def test_setting_the_clock_back_or_another_boot_erases_no_predecessor() -> None:
    later = past(1, Step.PRIVILEGE_DISCOVERY, ms=9 * MINUTE)

    assert match([later], both(Step.PRIVILEGE_ELEVATION), at(0)) != ()
    assert match([later], both(Step.PRIVILEGE_ELEVATION), at(0, bytes([1]) * 16)) != ()


def test_progress_tells_of_each_chain_its_earliest_first_step_and_how_many_events_are_left() -> None:
    history = [past(1, Step.SECRET_READ), past(2, Step.PRIVILEGE_DISCOVERY, exact=False), past(3, NOTHING)]

    assert [(one.chain, one.past.seq, one.exact, one.events_left) for one in progress(history, at(0))] == [
        (ELEVATION, 2, False, 29),
        (SECRET, 1, True, 60),
    ]


@pytest.mark.parametrize(("after", "left"), [(30, [0]), (31, [])])
def test_progress_ends_with_the_event_window(after: int, left: list[int]) -> None:
    history = [past(1, Step.PRIVILEGE_DISCOVERY), *(past(2 + at, NOTHING) for at in range(after))]

    assert [one.events_left for one in progress(history, at(0))] == left


def test_progress_ends_with_the_time_window() -> None:
    history = [past(1, Step.PRIVILEGE_DISCOVERY)]

    assert [len(list(progress(history, at(15 * MINUTE + extra)))) for extra in (0, 1)] == [1, 0]
