"""Shell scripts, by their ending or their first line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_client.scan.snippet import Snippet, block

_SHEBANG: Final = re.compile(
    r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?(?:\w+=\S*\s+)*)?(?:\S*/)?(?P<program>[\w.+-]+)"
)
SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "ksh", "busybox"})


def interpreter(head: str) -> str:
    """The program that a first line names, "" without one."""
    found = _SHEBANG.match(head)
    return found["program"] if found else ""


def read(text: str) -> Iterator[Snippet]:
    """The whole script; none when its first line names another interpreter."""
    program = interpreter(text)
    if not program or program in SHELLS:
        yield block(text, 1)
