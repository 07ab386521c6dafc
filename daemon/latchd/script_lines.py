"""Lines of a shell script: where a command stands that facts tell of, and where each statement ends.

Facts know no positions, because words are folded and code is taken out of code; so a command is looked
for by its words. A statement ends where the text so far is complete by itself, which is tried at lines
that begin at the margin, as scripts are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from latch_contracts.facts import Command
from latchd.guard.subject import Subject
from latchd.shell.parse import Program, parse, to_bytes_view

MAX_PASSAGES: Final = 2000  # of one script; 64 KiB of one-line statements are fewer
_COMMANDS: Final = ("cd ", "set ", "export ", "readonly ", "local ", "declare ")  # of the prelude's lines
_COMMENT: Final = re.compile(r"\s*#")
_WORD: Final = re.compile(r"[^\0\s]{2,}")
_VARIABLE_WORD: Final = re.compile(r"(?:^|[;&|({!]|\b(?:then|do|else|if|while))\s*[\"']?[$`]")
_DOCUMENT: Final = re.compile(r"(?<!<)<<-?[ \t]*[\\'\"]?([\w.!-]+)")


def line_of(subject: Subject, command_id: int, prelude: Sequence[str], lines: Sequence[str]) -> int:
    """The line that shows most of a command's words, 0-based; -1 for a command of the prelude.

    Of several lines alike, the nth command of the same words stands on the nth.
    """
    command = subject.facts.command(command_id)
    if command is None:
        return next((number for number, line in enumerate(lines) if line.strip(" \t#!")), 0)
    if command_id <= sum(line.startswith(_COMMANDS) for line in prelude):
        return -1
    words = _words(command)
    if not words:
        return _nth(_dynamic(lines), command_id, subject, lambda other: not _words(other))
    shown = [0 if _COMMENT.match(line) else sum(word in line for word in words) for line in lines]
    best = max(shown, default=0)
    places = [number for number, count in enumerate(shown) if count == best] if best else []
    return _nth(places, command_id, subject, lambda other: other.argv == command.argv)


def _nth(places: list[int], command_id: int, subject: Subject, like: Callable[[Command], bool]) -> int:
    """The place of a command among those like it; what stands nowhere stands at the beginning."""
    before = sum(map(like, subject.facts.commands[: command_id - 1]))
    return places[min(before, len(places) - 1)] if places else 0


def _dynamic(lines: Sequence[str]) -> list[int]:
    """The lines in which a command's very name is a variable."""
    return [number for number, line in enumerate(lines) if _VARIABLE_WORD.search(line)]


def _words(command: Command) -> list[str]:
    texts = [command.executable, *command.argv[1:], *(redirect.target for redirect in command.redirects)]
    return [word for text in texts for word in _WORD.findall(text)] or [
        text for text in texts if text.strip("\0")
    ]


def statements(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each statement starts and ends (exclusive)."""
    start = 0
    found = 0
    while start < len(lines) and found < MAX_PASSAGES:
        end = _end(lines, start)
        if any(line.strip() for line in lines[start:end]):
            found += 1
            yield start, end
        start = end
    if start < len(lines):
        yield start, len(lines)


def _end(lines: Sequence[str], start: int) -> int:
    for end in range(start + 1, len(lines) + 1):
        at_margin = end == start + 1 or not lines[end - 1][:1].isspace()
        if at_margin and _is_whole("\n".join((*lines[start:end], ""))):
            return end
    return len(lines)


def _is_whole(text: str) -> bool:
    """Whether bash would not wait for another line. Text that can't be parsed waits for none."""
    view = to_bytes_view(text)
    program = None if view is None else parse(view)
    if not isinstance(program, Program):
        return True
    return not program.has_error and not text.endswith("\\\n") and _has_its_documents(text)


def _has_its_documents(text: str) -> bool:
    if "<<" not in text:
        return True
    ends = {line.lstrip("\t") for line in text.split("\n")}
    return all(found[1] in ends for found in _DOCUMENT.finditer(text))
