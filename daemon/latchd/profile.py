"""How strict the guard is: one word that the person chooses."""

from __future__ import annotations

import enum


class Profile(enum.StrEnum):
    """How strict the guard is, loosest first."""

    OBSERVE = "observe"
    BALANCED = "balanced"
    STRICT = "strict"
