"""The kernel's clocks, as far as one can be held to them without waiting."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from latchd import clock
from latchd.clock import SystemClock


def test_wall_and_boot_time_are_the_kernels() -> None:
    system = SystemClock()
    before = (time.time_ns() // 1_000_000, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
    now = (system.wall_ms(), system.boot_ns())
    after = (time.time_ns() // 1_000_000, time.clock_gettime_ns(time.CLOCK_BOOTTIME))

    assert before[0] <= now[0] <= after[0]
    assert before[1] <= now[1] <= after[1]


def test_durations_never_run_backwards() -> None:
    system = SystemClock()
    times = [system.monotonic_us() for _ in range(1000)]

    assert times == sorted(times)


def test_work_is_this_threads_and_never_more_than_all_of_it() -> None:
    system = SystemClock()
    before = time.thread_time_ns() // 1000
    times = [system.worked_us() for _ in range(1000)]

    assert times == sorted(times)
    assert before <= times[0]
    assert times[-1] <= time.thread_time_ns() // 1000


def test_two_clocks_of_one_boot_agree_on_it() -> None:
    assert (SystemClock().boot_id(), len(SystemClock().boot_id())) == (SystemClock().boot_id(), 16)


def test_a_hidden_boot_id_is_a_new_one_every_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(clock, "_BOOT_ID", tmp_path / "missing")

    assert SystemClock().boot_id() != SystemClock().boot_id()
