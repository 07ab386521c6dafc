"""Assignments as text: which names a command sets, before a program or by export, env or declare.

The facts carry no assignments, so this looks at the raw command, outwards from each name: the window
before a name is bounded, and so is the number of names, so that no text makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WINDOW: Final = 512
_MAX_NAMES: Final = 32
_MAX_TEXT: Final = 65_536
# Possessive: a value that is tried again cut elsewhere would make a row of assignments take for ever.
_VALUE: Final = r"(?:'[^']{0,256}'|\"[^\"]{0,256}\"|[^\s;&|'\"]{1,256}+)"
# What may stand between the start of a command and an assignment: options of env, other assignments.
_LEAD: Final = re.compile(
    r"(?:\A|[;&|(\n{`]|\b(?:then|do|else|env|export|typeset|declare|local|readonly|sudo|exec|command)\b)"
    rf"[^\S\n]{{0,64}}(?:-\w{{1,16}}[^\S\n]{{1,16}}){{0,8}}(?:\w{{1,64}}={_VALUE}{{0,8}}[^\S\n]{{1,16}}){{0,8}}\Z"
)
_ASSIGNED: Final = re.compile(rf"=(?P<value>{_VALUE}?)")


def assigned(command: str, names: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each assignment to one of the names, with its value as written.

    ``names`` must match a name alone. A text with more mentions than anybody writes is taken to assign.
    """
    command = command[:_MAX_TEXT]
    for count, found in enumerate(names.finditer(command)):
        start, end = found.span()
        value = _ASSIGNED.match(command, end)
        if value is None or (start and (command[start - 1].isalnum() or command[start - 1] in "_$.-/")):
            continue
        before = command[max(0, start - _WINDOW) : start]
        if start > _WINDOW:
            before = "\0" + before  # cut: the start of the window is no start of a command
        if count >= _MAX_NAMES or _LEAD.search(before):
            yield found.group(0), value["value"]
