"""Here-documents as text: what an interpreter or a client gets on its standard input, word for word.

A second look at the raw command, for readers whose input no grammar takes apart. It proves nothing:
what stands on it is marked as found by a pattern.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

_OPENER: Final = re.compile(r"<<-?\s*(?P<quote>['\"\\]?)(?P<tag>[A-Za-z_]\w*)['\"]?")
_MAX_BODIES: Final = 16
_MAX_TEXT: Final = 65_536


_STRING: Final = re.compile(r"<<<\s{0,8}(?:'([^']{0,4096})'|\"([^\"]{0,4096})\"|(\S{1,4096}))")


def herestrings(command: str) -> Iterator[str]:
    """The text of each here-string, without its quotes."""
    for found in itertools.islice(_STRING.finditer(command[:_MAX_TEXT]), _MAX_BODIES):
        yield next((text for text in found.groups() if text is not None), "")


def heredocs(command: str) -> Iterator[str]:
    """The body of each here-document, in order; an unfinished one goes to the end of the text."""
    command = command[:_MAX_TEXT]
    at = 0
    for _ in range(_MAX_BODIES):
        opener = _OPENER.search(command, at)
        if opener is None:
            return
        start = command.find("\n", opener.end())
        if start < 0:
            return
        closer = re.compile(rf"^\t*{re.escape(opener['tag'])}[ \t]*$", re.MULTILINE).search(command, start)
        end = closer.start() if closer else len(command)
        yield command[start + 1 : end]
        at = closer.end() if closer else len(command)
