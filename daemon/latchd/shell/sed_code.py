"""Shell code that a sed script runs: the `e` command, and the `e` flag of `s`.

GNU sed alone has them. A script that can't be followed is opaque only if it has an `e` where one counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import NONE, Embedded, together
from latchd.shell.parse import HOLE, code_text

_ADDRESS = re.compile(
    r"\s*(?:\d+|\$|/(?:\\.|\[[^\]]*\]|[^/\\])*/[IM]*|\\(.)(?:(?!\1).)*\1)?\s*"
    r"(?:[,~+]\s*(?:\d+|\$|[+~]\d+|/(?:\\.|[^/\\])*/[IM]*))?\s*!?\s*"
)
_FLAGS = re.compile(r"[gpiImMe0-9]*")
_MATCHED = re.compile(r"\\(\d|.)|&", re.DOTALL)


def sed(words: Sequence[Argument], stdin: str | None = None) -> Embedded:
    """The shell code in the scripts among sed's words, or in the one on its literal stdin."""
    scripts: list[str] = []
    operands: list[str] = []
    index, explicit = 1, False
    while index < len(words):
        value = words[index].value
        following = words[index + 1].value if index + 1 < len(words) else ""
        step = 1
        if value in ("-e", "--expression") or re.match(r"-[nErsizu]+e\Z", value):
            scripts.append(following)
            step = 2
        elif value.startswith("--expression="):
            scripts.append(value.partition("=")[2])
        elif value in ("-f", "--file"):
            scripts += [stdin] if following in ("-", "/dev/stdin") and stdin is not None else []
            step = 2
        elif value in ("-f-", "--file=-", "--file=/dev/stdin", "-f/dev/stdin"):
            scripts += [stdin] if stdin is not None else []
        elif re.match(r"-[nErszu]*e.", value):
            scripts.append(re.sub(r"\A-[nErszu]*e", "", value))
        elif value.startswith("-") and len(value) > 1:
            if "--sandbox" in value:
                return NONE
            index += 2 if value == "-l" else 1
            continue
        else:
            operands.append(value)
            index += 1
            continue
        explicit = True
        index += step
    if not explicit:
        scripts += operands[:1]
    return together(*map(_script, scripts))


def _script(text: str) -> Embedded:
    codes: list[str] = []
    at = 0
    while at < len(text):
        match = _ADDRESS.match(text, at)
        at = match.end() if match else at
        if at >= len(text):
            break
        command = text[at]
        at += 1
        if command in "sy":
            middle, end = _parts(text, at)
            if end < 0:
                return Embedded(tuple(codes))  # an unfinished command is an error and runs nothing
            flags = _FLAGS.match(text, end)
            if flags and command == "s" and "e" in flags.group():
                replacement = _MATCHED.sub(_put, text[middle : end - 1])
                return Embedded((*codes, code_text(replacement)), opaque=True)
            at = flags.end() if flags else end
            if text[at : at + 1] == "w":
                at = _line_end(text, at)
        elif command == "e":
            end = _line_end(text, at)
            code = text[at:end].strip()
            if not code:  # the line itself is run
                return Embedded((*codes, HOLE), opaque=True)
            codes.append(code_text(code))
            at = end
        elif command in "aic":
            while (end := _line_end(text, at)) < len(text) and text[end - 1] == "\\":
                at = end + 1
            at = end
        elif command in "rRwWbtTqQlL:#v":
            end = _line_end(text, at)
            stop = text.find(";", at, end) if command in "btTqQlL" else -1
            at = stop if stop >= 0 else end
        elif command == "\0":
            return Embedded(tuple(codes))
    return Embedded(tuple(codes))


def _put(match: re.Match[str]) -> str:
    """What a replacement holds at `&`, `\\1` and other escapes; the matched text is not known."""
    escaped = match.group(1)
    if escaped is None or escaped.isdigit():
        return "\0"
    return "\n" if escaped == "n" else escaped


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _parts(text: str, at: int) -> tuple[int, int]:
    """Where the second part of `s` or `y` begins and the place behind its last delimiter; -1 = not there."""
    if at >= len(text):
        return -1, -1
    delimiter = text[at]
    at += 1
    middle = 0
    bracket = False
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif bracket:
            bracket = char != "]"
        elif char == "[" and not middle and delimiter != "[":
            close = text.find("]", at + 2)
            bracket = close >= 0 and "\n" not in text[at:close] and delimiter in text[at:close]
        elif char == delimiter:
            if middle:
                return middle, at + 1
            middle = at + 1
        at += 1
    return -1, -1
