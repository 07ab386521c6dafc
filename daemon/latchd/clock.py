"""Where time comes from: the one place that asks the kernel. Everything else takes a Clock."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Final, Protocol

from latchd.windows import Instant

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    """What the daemon may ask of time."""

    def wall_ms(self) -> int:
        """Unix time in milliseconds; may be stepped by anyone at any moment."""
        ...

    def boot_id(self) -> bytes:
        """16 bytes that another boot does not have."""
        ...

    def boot_ns(self) -> int:
        """Nanoseconds since this boot, suspended time included."""
        ...

    def monotonic_us(self) -> int:
        """Microseconds from any origin: for durations within this process only."""
        ...

    def worked_us(self) -> int:
        """Microseconds that this thread has computed, from any origin; waiting is not in them."""
        ...


class SystemClock:
    """The kernel's clocks. The boot id is read once: it can't change under a running process."""

    def __init__(self) -> None:
        self._boot_id = _boot_id()

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def boot_id(self) -> bytes:
        return self._boot_id

    def boot_ns(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def monotonic_us(self) -> int:
        return time.monotonic_ns() // 1000

    def worked_us(self) -> int:
        return time.thread_time_ns() // 1000


def now(clock: Clock) -> Instant:
    """This moment, as rows keep it."""
    return Instant(clock.boot_id(), clock.boot_ns(), clock.wall_ms())


def _boot_id() -> bytes:
    try:
        return uuid.UUID(_BOOT_ID.read_text("ascii").strip()).bytes
    except (OSError, ValueError):
        # Some containers hide it. An id of this process alone is the strict answer: ages across a
        # restart then come from the wall clock, and one that can't be believed expires the call.
        return uuid.uuid4().bytes
