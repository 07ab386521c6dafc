"""What echo, printf, cat and small filters print, as far as it is known before they run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Argument
from latchd.shell.decoders import decoded
from latchd.shell.listing import Input
from latchd.shell.parse import code_text

_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)", re.DOTALL)
_NAMED: Final = {
    "n": "\n",
    "t": "\t",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "r": "\r",
    "v": "\v",
}


def output_text(words: Sequence[Argument], stdin: Input) -> str | None:
    """What the command prints, as text of the bytes view with holes, if that is known."""
    if not words or any(word.globs and "\0" not in word.value for word in words):
        return None
    name = words[0].value.rpartition("/")[2]
    if name == "echo":
        return _echo(words[1:])
    if name == "printf":
        return _printf(words[1:])
    if stdin.text is not None and (found := decoded(name, words, stdin.text)) is not None:
        return found
    if name in ("cat", "tee") and stdin.given:
        operands = [word.value for word in words[1:] if not word.value.startswith("-") or word.value == "-"]
        if name == "tee" or not operands or operands == ["-"]:
            return stdin.text
    return None


def _echo(words: Sequence[Argument]) -> str:
    index, newline, escapes = 0, True, False
    while index < len(words) and re.match(r"-[neE]+\Z", words[index].value):
        newline &= "n" not in words[index].value
        escapes |= "e" in words[index].value
        index += 1
    text = " ".join(word.value for word in words[index:])
    if escapes:
        text = _unescape(text)
    return code_text(text) + ("\n" if newline else "")


def _printf(words: Sequence[Argument]) -> str | None:
    if not words or words[0].value.startswith("-"):
        return None
    form = words[0].value
    holders = re.findall(r"%%|%[^%]*?[a-zA-Z]", form)
    values = [word.value for word in words[1:]]
    wanted = [holder for holder in holders if holder != "%%"]
    if any(holder not in ("%s", "%b", "%d", "%%") for holder in holders):
        return None
    text = _unescape(form)
    if not wanted:
        return code_text(text.replace("%%", "%"))
    rounds = max(1, -(-len(values) // len(wanted)))
    if rounds * len(text) > 65536:
        return None
    filling = iter([*values, *[""] * (rounds * len(wanted) - len(values))])
    return code_text(
        re.sub(
            r"%%|%[sbd]",
            lambda m: "%" if m.group() == "%%" else _filled(m.group(), next(filling)),
            text * rounds,
        )
    )


def _filled(holder: str, value: str) -> str:
    return _unescape(value) if holder == "%b" else value


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _NAMED.get(code, code if code == "\\" else match.group())

    return _ESCAPE.sub(one, text)
