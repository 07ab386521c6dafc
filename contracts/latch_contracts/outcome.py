"""What a result event proves about the call it names, and the states a call can be in."""

from __future__ import annotations

import enum


class Outcome(enum.StrEnum):
    """Only SUCCEEDED is proof; everything a contract can't vouch for is UNKNOWN."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DENIED = "denied"
    UNKNOWN = "unknown"


class State(enum.StrEnum):
    """Where one call stands. All but PENDING are final."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DENIED = "denied"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    CUT = "cut"  # its turn or session ended first
    POISONED = "poisoned"  # its id was used for two different calls
