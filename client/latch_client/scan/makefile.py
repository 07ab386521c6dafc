"""The recipes of a makefile: every logical line is a shell of its own, the whole recipe with .ONESHELL.

A variable that the file sets once, to plain text, is put in; any other is known only when make runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from latch_client.scan.snippet import UNKNOWN, Snippet, with_unknowns

_SET: Final = re.compile(r"\s*(?:override\s+|export\s+)?([\w.-]+)\s*(\+|\?|::?:?|!)?=\s*(.*?)\s*$")
_PLAIN: Final = re.compile(r"[^\s$#'\"`;&|<>(){}*?\\]*")
_ONESHELL: Final = re.compile(r"^\.ONESHELL\s*:", re.MULTILINE)
_SHELL: Final = re.compile(r"^\s*(?:override\s+)?SHELL\s*:?=\s*(\S+)", re.MULTILINE)
_POSIX: Final = re.compile(r"(?:.*/)?(?:sh|bash|dash|ash|ksh|env)$|\$")


def read(text: str) -> Iterator[Snippet]:
    """Every recipe line, or every recipe. Nothing of a makefile whose SHELL is no POSIX shell."""
    if (shell := _SHELL.search(text)) and not _POSIX.match(shell[1]):
        return
    lines = text.split("\n")
    known = _variables(lines)
    whole = bool(_ONESHELL.search(text))
    recipe: list[tuple[str, int]] = []
    number = 0
    while number < len(lines):
        if not lines[number].startswith("\t"):
            if lines[number].strip() and not lines[number].lstrip().startswith("#"):
                yield from _snippets(recipe, whole=whole, known=known)
                recipe = []
            number += 1
            continue
        start = number
        while lines[number].endswith("\\") and number + 1 < len(lines):
            number += 1
        number += 1
        parts = lines[start:number]
        recipe += [(part.removeprefix("\t"), start + place + 1) for place, part in enumerate(parts)]
    yield from _snippets(recipe, whole=whole, known=known)


def _snippets(recipe: list[tuple[str, int]], *, whole: bool, known: Mapping[str, str]) -> Iterator[Snippet]:
    group: list[tuple[str, int]] = []
    for text, line in recipe:
        group.append((text, line))
        if not whole and not text.endswith("\\"):
            yield from _snippet(group, known)
            group = []
    if group:
        yield from _snippet(group, known)


def _snippet(group: list[tuple[str, int]], known: Mapping[str, str]) -> Iterator[Snippet]:
    first, line = group[0]
    group = [(first.lstrip("@+- "), line), *group[1:]]
    text = _expanded("\n".join(part for part, _ in group), known)
    if text.strip():
        yield Snippet(text + "\n", tuple(number for _, number in group))


def _variables(lines: list[str]) -> dict[str, str]:
    """What is set exactly once, to plain text, and never added to."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        if not line.startswith("\t") and (match := _SET.fullmatch(line)):
            found.setdefault(match[1], []).append((match[2] or "", match[3]))
    return {
        name: values[0][1]
        for name, values in found.items()
        if len(values) == 1
        and values[0][0] not in ("+", "!")
        and values[0][1]
        and _PLAIN.fullmatch(values[0][1])
    }


def _expanded(text: str, known: Mapping[str, str]) -> str:
    """As the shell gets it: `$$` is a dollar, known variables their text, the others unknown parts."""
    out: list[str] = []
    spans: list[tuple[int, int]] = []
    length = at = 0
    while at < len(text):
        if text[at] != "$" or at + 1 == len(text):
            piece, at = text[at], at + 1
        elif text[at + 1] == "$":
            piece, at = "$", at + 2
        else:
            end = _reference(text, at + 1)
            name = text[at + 2 : end - 1]
            piece = known.get(name, "")
            if not piece or text[at + 1] not in "({":
                piece = UNKNOWN
                spans.append((length, length + len(piece)))
            at = end
        out.append(piece)
        length += len(piece)
    return with_unknowns("".join(out), spans)


def _reference(text: str, at: int) -> int:
    """Where the reference that begins after a dollar ends."""
    closing = {"(": ")", "{": "}"}.get(text[at])
    if closing is None:
        return at + 1
    depth = 0
    for place in range(at, len(text)):
        if text[place] == text[at]:
            depth += 1
        elif text[place] == closing:
            depth -= 1
            if depth == 0:
                return place + 1
    return len(text)
