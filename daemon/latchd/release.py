"""Which latchd this is."""

from __future__ import annotations

from importlib import metadata
from typing import Final


def _installed() -> str:
    try:
        return metadata.version("latchd")
    except metadata.PackageNotFoundError:
        return "unknown"  # a source tree that nobody installed


VERSION: Final = _installed()
