"""How old something is, and when it ends: integer arithmetic that no clock step can bend.

An instant carries the boot it was taken in, the time since that boot, and the wall clock. Age comes
from the boot clock while the boot is the same; across boots only the wall clock is left.

INVARIANT (a clock step never promotes): an age that can't be (negative, or longer than the wall
clock can explain) makes a pending call expired; it never makes one younger.
"""

from __future__ import annotations

import msgspec

NS_PER_MS = 1_000_000


class Instant(msgspec.Struct, frozen=True):
    """``boot`` is the kernel's boot id (16 bytes), ``boot_ns`` CLOCK_BOOTTIME, ``wall_ms`` Unix time."""

    boot: bytes
    boot_ns: int
    wall_ms: int


def age_ms(then: Instant, now: Instant) -> int | None:
    """Milliseconds from then to now, or None when the clocks give no believable answer."""
    age = (now.boot_ns - then.boot_ns) // NS_PER_MS if then.boot == now.boot else now.wall_ms - then.wall_ms
    return age if age >= 0 else None


def is_expired(opened: Instant, now: Instant, window_ms: int) -> bool:
    """Whether a pending call's window is over; an unbelievable age counts as over."""
    age = age_ms(opened, now)
    return age is None or age >= window_ms


def remaining_ms(opened: Instant, now: Instant, window_ms: int) -> int:
    """Milliseconds until the window ends, 0 when it is over already."""
    age = age_ms(opened, now)
    return 0 if age is None else max(0, window_ms - age)
