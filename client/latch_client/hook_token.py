"""The token that the hook socket may ask for, read as the shim reads it."""

from __future__ import annotations

import os
from typing import Final

_MAX_BYTES: Final = 4096


def content(path: str) -> str:
    """The content of the token file, "" without one. Raises OSError where there is one to no avail."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ""
    try:
        return os.read(descriptor, _MAX_BYTES).strip().decode("ascii", "replace")
    finally:
        os.close(descriptor)
