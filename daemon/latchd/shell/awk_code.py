"""Shell code that an awk program starts: `system(…)`, `… | getline`, `print … | "…"`.

An expression is read as the text that awk would build of it: literals stand, a name that has one
literal value stands for it, and all else is a hole. An expression that is nothing but holes can't be
read at all.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import Embedded, Fed, together
from latchd.shell.parse import HOLE, code_text

MAX_TOKENS: Final = 2048  # of one program; looking back from each `|` costs their square
_TAKES: Final = frozenset(
    "-f --file -F -v --assign --field-separator -i --include -l --load -e --source -E --exec".split()
)
_TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\\\n|\#[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<number>\d[\w.]*)"""
    r"""|(?P<name>[A-Za-z_]\w*)|(?P<op>\|&|\|\||&&|[=!<>]=|\+\+|--|[-+*/%^]=|.|\n)""",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n]){1,256}\]|[^/\\\n\[])*/")
_BEFORE_REGEX: Final = frozenset("( , { } ; ! ~ && || | |& = == != < > <= >= + - * % ^ ? : \n".split(" "))
_WORDS_BEFORE_REGEX: Final = frozenset("print printf return in getline case else do".split())
_CHANGES: Final = frozenset(("+=", "-=", "*=", "/=", "%=", "^=", "++", "--", "["))
_ENDS: Final = frozenset((";", "}", "\n", ")"))
_STARTS: Final = frozenset(("{", ";", "\n", "(", "!", "=", "<", ">", "==", "!=", "<=", ">=", "&&", "||", "}"))
_GIVEN = re.compile(r"[A-Za-z_]\w*=")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "t": "\t"}


class _Token(msgspec.Struct, frozen=True):
    kind: str  # string, number, name, op, regex
    text: str
    glued: bool  # stands right behind the token before it


def awk(words: Sequence[Argument], stdin: str | None = None) -> Embedded:
    """The shell code in the programs among an awk's words, or in the one on its literal stdin."""
    programs, values = _programs(words)
    if stdin is not None and any(
        before.value in ("-f", "--file") and word.value in ("-", "/dev/stdin")
        for before, word in itertools.pairwise(words)
    ):
        programs.append(stdin)
    return together(*(_read(_tokens(program), values) for program in programs))


def _programs(words: Sequence[Argument]) -> tuple[list[str], dict[str, str]]:
    """Program texts, and the texts that words give to names: -v NAME=text, NAME=text among the files."""
    programs: list[str] = []
    given: list[str] = []
    index, by_option = 1, False
    while index < len(words):
        value = words[index].value
        following = words[index + 1].value if index + 1 < len(words) else ""
        if value in _TAKES:
            by_option |= value in ("-f", "--file", "-E", "--exec")
            if value in ("-e", "--source"):
                programs.append(following)
                by_option = True
            elif value in ("-v", "--assign"):
                given.append(following)
            index += 2
        elif value == "--":
            index += 1
            break
        elif value.startswith("-") and len(value) > 1:
            by_option |= value.startswith(("-f", "--file=", "--exec=", "-E"))
            if value.startswith("--source="):
                programs.append(value.partition("=")[2])
                by_option = True
            elif value.startswith("-v"):
                given.append(value[2:])
            index += 1
        else:
            break
    if not by_option and index < len(words):
        programs.append(words[index].value)
    given += [word.value for word in words[index:] if _GIVEN.match(word.value)]
    values: dict[str, str] = {}
    for one in given:
        name, _, text = one.partition("=")
        values[name] = HOLE if name in values else code_text(text)
    return programs, values


def _tokens(program: str) -> list[_Token]:
    found: list[_Token] = []
    at, glued = 0, False
    while at < len(program):
        before = found[-1] if found else None
        regex = (
            before is None
            or (before.kind == "op" and before.text in _BEFORE_REGEX)
            or (before.kind == "name" and before.text in _WORDS_BEFORE_REGEX)
        )
        match = _REGEX.match(program, at) if regex and program[at] == "/" else None
        if match is not None:
            found.append(_Token("regex", match.group(), glued))
        else:
            match = _TOKEN.match(program, at)
            assert match is not None and match.lastgroup  # noqa: S101, PT018 - `.` takes any letter
            if match.lastgroup != "space":
                found.append(_Token(match.lastgroup, match.group(), glued))
        glued = match.lastgroup != "space"
        at = match.end()
    return found


def _read(found: list[_Token], given: Mapping[str, str]) -> Embedded:
    if len(found) > MAX_TOKENS:
        return Embedded(opaque=True)
    values, spoiled = _assigned(found)
    values = {
        name: text
        for name, text in {**given, **values}.items()
        if name not in spoiled and not (name in given and name in values)
    }
    codes: list[str] = []
    fed: list[Fed] = []
    opaque = False
    for at, token in enumerate(found):
        following = found[at + 1] if at + 1 < len(found) else None
        printed: int | None = None
        if token.kind == "name" and token.text == "system" and following and following.text == "(":
            code = _text(found[at + 2 : _closing(found, at + 1)], values)
        elif token.kind == "op" and token.text in ("|", "|&") and following:
            if following.kind == "name" and following.text == "getline":
                code = _text(found[_start(found, at) : at], values)
            else:
                printed = _printing(found, at)
                end = at + 1
                while end < len(found) and found[end].text not in _ENDS:
                    end += 1
                code = _text(found[at + 1 : end], values)
        else:
            continue
        if not code.replace(HOLE, "").strip():
            codes += [HOLE] if HOLE in code else []
            opaque = True
        elif printed is not None or token.text == "|&":
            fed.append(Fed(code, _printed(found, printed, at, values)))
        else:
            codes.append(code)
    return Embedded(tuple(codes), opaque, tuple(fed))


def _assigned(found: list[_Token]) -> tuple[dict[str, str], set[str]]:
    """Names that are given one text, as far as it is literal, and names that may get any other value."""
    values: dict[str, str] = {}
    spoiled: set[str] = set()
    for at, token in enumerate(found):
        if token.kind != "name":
            continue
        operator = found[at + 1].text if at + 1 < len(found) else ""
        if operator == "=" and at + 2 < len(found):
            end = next((i for i in range(at + 2, len(found)) if found[i].text in _ENDS), len(found))
            text = _text(found[at + 2 : end], {})
            if token.text in values or not text.replace(HOLE, ""):
                spoiled.add(token.text)
            values[token.text] = text
        elif operator in _CHANGES or _may_change([item.text for item in found[max(0, at - 3) : at]]):
            spoiled.add(token.text)
    return values, spoiled


def _may_change(before: Sequence[str]) -> bool:
    """Whether the words ahead of a name give it a value: `getline x`, `for (x`, `sub(a, b, x`."""
    last = before[-1:]
    return last in (["++"], ["--"], ["getline"], [","]) or (
        last == ["("] and (before[-2:-1] == ["for"] or before[:1] in (["function"], ["func"]))
    )


def _text(tokens: Sequence[_Token], values: Mapping[str, str]) -> str:
    """The text of a concatenation (bytes view), a hole for each part that is not known."""
    parts: list[str] = []
    for token in tokens:
        if token.kind == "string":
            parts.append(_unquoted(token.text))
        elif token.kind == "number" and not parts:
            parts.append(token.text)
        elif token.kind == "name" and token.text in values:
            parts.append(values[token.text])
        elif not (token.kind == "op" and token.text in "()"):
            parts.append(HOLE)
    return re.sub(f"{HOLE}+", HOLE, "".join(parts))


def _unquoted(text: str) -> str:
    return code_text(_ESCAPE.sub(lambda match: _CONTROLS.get(match.group(1), match.group(1)), text[1:-1]))


def _closing(found: list[_Token], at: int) -> int:
    depth = 0
    for place in range(at, len(found)):
        if found[place].text == "(":
            depth += 1
        elif found[place].text == ")":
            depth -= 1
            if depth == 0:
                return place
    return len(found)


def _start(found: list[_Token], at: int) -> int:
    """Where the expression that ends ahead of a `|` begins."""
    depth = 0
    for place in range(at - 1, -1, -1):
        text = found[place].text if found[place].kind == "op" else ""
        if text == ")":
            depth += 1
        elif text == "(" and depth:
            depth -= 1
        elif text in _STARTS and not depth:
            return place + 1
    return 0


def _printing(found: list[_Token], at: int) -> int:
    """The place behind the print or printf whose output goes into the `|`."""
    for place in range(at - 1, -1, -1):
        if found[place].kind == "name" and found[place].text in ("print", "printf"):
            return place + 1
        if found[place].kind == "op" and found[place].text in ("{", ";", "\n"):
            break
    return at


def _printed(found: list[_Token], start: int | None, end: int, values: Mapping[str, str]) -> str | None:
    """What the print writes, if it is one literal text and no format."""
    if start is None or start >= end or found[start - 1].text != "print":
        return None
    text = _text(found[start:end], values)
    return None if HOLE in text or any(token.text == "," for token in found[start:end]) else text + "\n"
