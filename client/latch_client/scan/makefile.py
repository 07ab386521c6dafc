"""The recipes of a makefile: every logical line is a shell of its own, the whole recipe with .ONESHELL.

A variable that the file sets once, to plain words and other such variables, is put in. One that it does not
set is what make sets it to, or the program whose name it has; any other is known only when make runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from latch_client.scan.make_defaults import PRESET
from latch_client.scan.snippet import UNKNOWN, Snippet, with_unknowns

_SET: Final = re.compile(r"\s*(?:override\s+|export\s+)?([\w.-]+)\s*(\+|\?|::?:?|!)?=\s*(.*?)\s*$")
_PLAIN: Final = re.compile(r"[^\n$#'\"`;&|<>(){}*?\\]*")
_REFERENCE: Final = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})")
_LONGEST: Final = 1024  # characters of a value; longer ones are lists of files
_DEPTH: Final = 8  # variables within variables; a makefile that people read has three
_SAYS: Final = re.compile(r"(?:info|warning|error|eval)\s")
_RULE: Final = re.compile(r"(?!\s*(?:override|export|unexport|private)\b)[^=#]*?:(?![:=]*=)|define\b")
_DIRECTIVE: Final = re.compile(r"\s*(?:ifn?eq|ifn?def|else|endif|-?include|sinclude)\b")
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
    ruled = False  # a tab begins a recipe only below a rule
    while number < len(lines):
        start = number
        while lines[number].endswith("\\") and number + 1 < len(lines):
            number += 1
        number += 1
        if not lines[start].startswith("\t"):
            if lines[start].strip() and not lines[start].lstrip().startswith("#"):
                yield from _snippets(recipe, whole=whole, known=known)
                recipe = []
                ruled = bool(_RULE.match(lines[start])) or (ruled and bool(_DIRECTIVE.match(lines[start])))
            continue
        if not ruled:
            continue
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
    """What is set exactly once, to plain words, and never added to; and what the file leaves as it is."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        if not line.startswith("\t") and (match := _SET.fullmatch(line)):
            found.setdefault(match[1], []).append((match[2] or "", match[3]))
    known = {name: value for name, value in PRESET.items() if name not in found}
    known |= {
        name: values[0][1]
        for name, values in found.items()
        if len(values) == 1 and values[0][0] not in ("+", "!") and values[0][1]
    }
    resolved = {name: _resolved(value, known, _DEPTH) for name, value in known.items()}
    return {name: value for name, value in resolved.items() if value}


def _resolved(value: str, known: Mapping[str, str], depth: int) -> str:
    """A value with the variables in it put in; "" when it is more than plain words in the end."""
    if depth and (names := _REFERENCE.findall(value)):
        parts = {
            name: _resolved(known.get(name, ""), known, depth - 1) for pair in names for name in pair if name
        }
        if not all(parts.values()):
            return ""
        value = _REFERENCE.sub(lambda found: parts[found[1] or found[2]], value)
    return value if len(value) <= _LONGEST and _PLAIN.fullmatch(value) else ""


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
            at = end
            if _SAYS.match(name):
                continue  # make tells it, or takes it as its own: the shell gets nothing of it
            if not piece or text[end - 1] not in ")}":
                piece = UNKNOWN
                spans.append((length, length + len(piece)))
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
