"""Ids that rules had once. An old record still means by one what it meant, so no new rule may take it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# id -> why it went, and what speaks for it now. Nothing is released yet, so nothing has gone.
RETIRED: Final[Mapping[str, str]] = MappingProxyType({})
