"""The RUN lines of a Dockerfile: shell form, exec form, here-documents; continuations and comments.

What runs while an image is built does what it does to the image.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from latch_client.scan.shell import SHELLS, interpreter
from latch_client.scan.snippet import Snippet

_DIRECTIVE: Final = re.compile(r"#\s*escape\s*=\s*([\\`])\s*$", re.IGNORECASE)
_INSTRUCTION: Final = re.compile(r"\s*(?:ONBUILD\s+)?([A-Za-z]+)(?:\s+|$)", re.IGNORECASE)
_WITH_DOCUMENTS: Final = ("RUN", "COPY", "ADD")
_FLAG: Final = re.compile(r"--[a-z]+(?:=\S*)?\s+")
_DOCUMENT: Final = re.compile(r"(?<!<)<<(-?)[ \t]*([\"']?)([A-Za-z0-9_.]+)\2")


def read(text: str) -> Iterator[Snippet]:
    """Every RUN that a POSIX shell runs."""
    lines = text.split("\n")
    escape = _escape(lines)
    shell = "sh"
    number = 0
    while number < len(lines):
        words, numbers, number = _instruction(lines, number, escape)
        if not words:
            continue
        found = _INSTRUCTION.match(words[0])
        name = found[1].upper() if found else ""
        if name == "SHELL":
            shell = _shell("\n".join(words)[found.end() if found else 0 :])
        if found is None or name not in _WITH_DOCUMENTS:
            continue
        body, numbers, number = _with_documents(words, numbers, found.end(), lines, number)
        if name == "RUN" and shell in SHELLS and (snippet := _run(body, numbers)) is not None:
            yield snippet


def _escape(lines: Sequence[str]) -> str:
    for line in lines:
        if not line.startswith("#"):
            break
        if found := _DIRECTIVE.match(line):
            return found[1]
    return "\\"


def _instruction(lines: Sequence[str], start: int, escape: str) -> tuple[list[str], list[int], int]:
    """The lines of the instruction at ``start``, their numbers, and where the next one begins.

    Comment lines and empty ones inside an instruction are no part of it.
    """
    kept: list[str] = []
    numbers: list[int] = []
    at = start
    while at < len(lines):
        line = lines[at].rstrip("\r")
        at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            if kept:
                continue
            break
        goes_on = line.rstrip().endswith(escape)
        kept.append(line.rstrip()[:-1] + "\\" if goes_on else line)
        numbers.append(at)
        if not goes_on:
            break
    return kept, numbers, at


def _with_documents(
    words: list[str], numbers: list[int], cut: int, lines: Sequence[str], after: int
) -> tuple[list[str], list[int], int]:
    """The instruction's text without its name and flags, with the here-documents that follow it."""
    first = words[0][cut:]
    while found := _FLAG.match(first):
        first = first[found.end() :]
    body = [first, *words[1:]]
    numbers = list(numbers)
    for dashed, _, delimiter in _DOCUMENT.findall("\n".join(body)):
        while after < len(lines):
            line = lines[after].rstrip("\r")
            after += 1
            body.append(line)
            numbers.append(after)
            if (line.lstrip("\t") if dashed else line) == delimiter:
                break
    return body, numbers, after


def _run(body: list[str], numbers: list[int]) -> Snippet | None:
    text = "\n".join(body)
    if text.lstrip().startswith("["):
        words = _exec_form(text)
        if words is not None:
            return Snippet(shlex.join(words) + "\n", (numbers[0],), "/", in_image=True)
    found = _DOCUMENT.fullmatch(body[0].strip())
    if found and len(body) > 1:  # `RUN <<EOF`: the document is the script
        script, numbers = body[1:-1], numbers[1:-1]
        program = interpreter(script[0]) if script else ""
        if not script or (program and program not in SHELLS):
            return None
        text = "\n".join(script)
    return Snippet(text + "\n", tuple(numbers), "/", in_image=True)


def _exec_form(text: str) -> list[str] | None:
    """The words of `["program", "word"]`; None when it is no such list, which then is shell text."""
    try:
        return msgspec.json.decode(text.replace("\\\n", "\n"), type=list[str]) or None
    except msgspec.DecodeError:
        return None


def _shell(text: str) -> str:
    words = _exec_form(text)
    return words[0].replace("\\", "/").rpartition("/")[2].lower() if words else ""
