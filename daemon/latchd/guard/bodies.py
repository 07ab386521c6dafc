"""Here-documents as text: what an interpreter or a client gets on its standard input, word for word.

A second look at the raw command, for readers whose input no grammar takes apart. It proves nothing:
what stands on it is marked as found by a pattern.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

import msgspec

_OPENER: Final = re.compile(r"<<-?\s*(?P<quote>['\"\\]?)(?P<tag>[A-Za-z_]\w*)['\"]?")
_MAX_BODIES: Final = 16
_MAX_TEXT: Final = 65_536


_STRING: Final = re.compile(r"<<<\s{0,8}(?:'([^']{0,4096})'|\"([^\"]{0,4096})\"|(\S{1,4096}))")


def herestrings(command: str) -> Iterator[str]:
    """The text of each here-string, without its quotes."""
    for found in itertools.islice(_STRING.finditer(command[:_MAX_TEXT]), _MAX_BODIES):
        yield next((text for text in found.groups() if text is not None), "")


class Heredoc(msgspec.Struct, frozen=True):
    """One here-document: the line that opens it, where on it the opener stands, and its body."""

    line: str
    at: int
    body: str

    def feeds(self, program: str) -> bool:
        """Whether the program stands ahead of the opener in its segment, or behind a pipe after it."""
        word = re.compile(rf"(?:^|[\s/]){re.escape(program)}(?:\s|$)", re.IGNORECASE)
        ahead = re.split(r"[;&|(]", self.line[: self.at])[-1]
        behind = self.line[self.at :].partition("|")[2]
        return word.search(ahead) is not None or word.search(behind) is not None


def heredocs(command: str) -> Iterator[str]:
    """The body of each here-document, in order; an unfinished one goes to the end of the text."""
    return (document.body for document in documents(command))


def documents(command: str) -> Iterator[Heredoc]:
    """Each here-document with the line that opens it, in order."""
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
        begin = command.rfind("\n", 0, opener.start()) + 1
        yield Heredoc(command[begin:start], opener.start() - begin, command[start + 1 : end])
        at = closer.end() if closer else len(command)
