"""A clock that moves only when a test turns it."""

from __future__ import annotations


class HandClock:
    """Implements latchd.clock.Clock. Starts at an arbitrary instant that no real clock shows."""

    def __init__(self, wall_ms: int = 1_000_000_000_000) -> None:
        self._wall_ms = wall_ms
        self._boot_ms = 5_000_000
        self._boot = bytes([7]) * 16
        self._worked_us = 0
        self.work_us = 0  # that pass with every look at how much was worked

    def wall_ms(self) -> int:
        return self._wall_ms

    def boot_id(self) -> bytes:
        return self._boot

    def boot_ns(self) -> int:
        return self._boot_ms * 1_000_000

    def monotonic_us(self) -> int:
        return self._boot_ms * 1000

    def worked_us(self) -> int:
        self._worked_us += self.work_us
        return self._worked_us

    def advance_ms(self, ms: int) -> None:
        """Time passes: both clocks move."""
        self._wall_ms += ms
        self._boot_ms += ms

    def step_wall_ms(self, ms: int) -> None:
        """Somebody sets the wall clock."""
        self._wall_ms += ms

    def reboot(self) -> None:
        """Another boot: another id, and a clock that starts near zero."""
        self._boot = bytes([self._boot[0] + 1]) * 16
        self._boot_ms = 1000
