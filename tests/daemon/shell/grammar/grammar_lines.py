"""Example lines of the tables → a program and its words.

``$X`` stands for a dynamic part, ``'$X'`` for the text; a line that starts with ``| `` is fed by a pipe.
"""

from __future__ import annotations

from latch_contracts.facts import Argument, Quote
from latchd.shell.grammar import Context

CONTEXT = Context(cwd="/home/dev/project", home="/home/dev")
PIPED = Context(cwd="/home/dev/project", home="/home/dev", piped=True)


def words_of(line: str) -> tuple[str, tuple[Argument, ...], Context]:
    """The program, its words and the context of an example line."""
    context = CONTEXT
    if line.startswith("| "):
        line, context = line[2:], PIPED
    words = _split(line)
    return words[0].value, tuple(words[1:]), context


def _split(line: str) -> list[Argument]:
    words: list[Argument] = []
    at = 0
    while at < len(line):
        if line[at] == " ":
            at += 1
            continue
        text, quotes, expands, globs, bare = "", set[Quote](), False, False, False
        while at < len(line) and line[at] != " ":
            mark = line[at]
            if mark in "'\"":
                end = line.index(mark, at + 1)
                inside = line[at + 1 : end]
                quotes.add(Quote.SINGLE if mark == "'" else Quote.DOUBLE)
                if mark == '"' and "$X" in inside:
                    inside, expands = inside.replace("$X", "\0"), True
                text += inside
                at = end + 1
                continue
            bare = True
            if line.startswith("$X", at):
                text, expands, at = text + "\0", True, at + 2
                continue
            globs = globs or mark in "*?"
            text += mark
            at += 1
        quote = Quote.NONE if not quotes else Quote.MIXED if bare or len(quotes) > 1 else quotes.pop()
        words.append(Argument(value=text, quote=quote, expands=expands, globs=globs))
    return words
