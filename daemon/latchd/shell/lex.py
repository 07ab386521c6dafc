"""One shell word → its pieces, and the code that hides in it.

Reads the source text itself, quotes and all, and uses the tree only for where an expansion ends. A
substitution that the tree does not know is recovered here by matching its brackets; if that fails,
``silent`` is set: something may run that nobody listed.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from latch_contracts.facts import Issue
from latchd.shell.parse import HOLE, Node
from latchd.shell.prepare import MARK, TICK, backticked


class Style(enum.Enum):
    """How a stretch of text is read."""

    WORD = "word"  # one word of a command
    LOOSE = "loose"  # a pattern, regex or array: blanks and brackets are ordinary
    QUOTED = "quoted"  # as between double quotes
    ARITHMETIC = "arithmetic"  # quotes mean nothing


class Flag(enum.Enum):
    """What may still happen to a piece."""

    PLAIN = "plain"
    SINGLE = "single"
    DOUBLE = "double"
    ESCAPED = "escaped"
    VARIABLE = "variable"  # text is the variable's name; unquoted, so it may split
    QUOTED_VARIABLE = "quoted_variable"
    HOLE = "hole"  # not known; unquoted
    QUOTED_HOLE = "quoted_hole"
    MANY = "many"  # "$@": any number of words
    OUTPUT = "output"  # what an unquoted substitution gives; it may split
    SCRATCH = "scratch"  # $(mktemp -d)
    GLOB = "glob"  # the name of a file that this pattern finds
    TILDE = "tilde"  # a home that is not known; the text stays as written


class Piece(msgspec.Struct, frozen=True, gc=False):
    text: str
    flag: Flag
    default: tuple[Piece, ...] | None = None  # of a hole: what ${X:-…} stands for if X has no value
    name: str = ""  # X, where its own value would win; of MANY: @ or * and an array's name, " ahead if quoted
    sets: bool = False  # ${X:=…}: X has the default from here on
    code: Code | None = None  # of a hole: the substitution whose output it is


class Code(msgspec.Struct, frozen=True, gc=False):
    """Shell code inside a word: a node of the same tree, or text to be parsed on its own."""

    node: Node | None = None
    text: str = ""
    process: str = ""  # "<" or ">" for a process substitution
    tick: int = -1  # number of a substitution that stood in backticks


class Lexed(msgspec.Struct, frozen=True):
    pieces: tuple[Piece, ...]
    codes: tuple[Code, ...] = ()
    silent: bool = False
    evaluates: bool = False  # a variable's value may be evaluated as arithmetic or as a name
    issue: Issue | None = None


_OPERANDS: Final = 12  # times a word's length: operands three deep, which is more than people write
_OPERANDS_FREE: Final = 256
_MOST_PIECES: Final = 16_384  # of one word; a long escaped literal has a thousand
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:=@%+,\-^]*\Z")
_STOP = {
    Style.WORD: re.compile(r"[\\'\"$`<>\s;&|()\x01\x03]"),
    Style.LOOSE: re.compile(r"[\\'\"$`<>\x01\x03]"),
    Style.QUOTED: re.compile(r"[\\$`\x01\x03]"),
    Style.ARITHMETIC: re.compile(r"[\\$`\x01\x03]"),
}
_DOUBLE = re.compile(r"[\\$`\"\x01\x03]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCRATCH = re.compile(
    r"\s*mktemp((\s+(-d|-q|-u|--directory|--quiet|--dry-run))|(\s+-t\s+[\w.-]+)|(\s+[\"']?/tmp/[\w.-]+[\"']?))*\s*\Z"
)
_BRACED_EVALUATES = re.compile(r"!|[A-Za-z_]\w*\[[^\]]*[A-Za-z_$`]|[A-Za-z_@*]\w*(\[[^\]]*\])?:[^-+=?]")
_DEFAULT = re.compile(r"!?([A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[[^\]]*\])?:?([-=+])")
_PROMPT = re.compile(r"@P\Z")
_POSITION = re.compile(r"[0-9]{1,3}\Z")
_ELEMENT: Final = re.compile(r"[A-Za-z_]\w*\[\d{1,4}\]\Z", re.ASCII)
_ARRAY: Final = re.compile(r"([A-Za-z_]\w*)\[([@*])\]\Z", re.ASCII)
_ANSI = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


def lex(text: str, start: int, end: int, spans: Mapping[int, Node], style: Style = Style.WORD) -> Lexed:
    """Read ``text[start:end]``."""
    if style is Style.WORD and _PLAIN_WORD.match(text, start, end):
        return Lexed((Piece(text[start:end], Flag.PLAIN),) if end > start else ())
    reader = _Reader(text, end, spans, _Budget(_OPERANDS * (end - start) + _OPERANDS_FREE))
    reader.read(start, style)
    return Lexed(tuple(reader.pieces), tuple(reader.codes), reader.silent, reader.evaluates, reader.issue)


class _Budget:
    """Characters of operands that one word may still have read again, at all depths together."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class _Reader:
    def __init__(self, text: str, end: int, spans: Mapping[int, Node], budget: _Budget) -> None:
        self.text = text
        self.end = end
        self.spans = spans
        self.budget = budget
        self.pieces: list[Piece] = []
        self.codes: list[Code] = []
        self.silent = False
        self.evaluates = False
        self.issue: Issue | None = None

    def add(self, text: str, flag: Flag) -> None:
        self.pieces.append(Piece(text, flag))

    def may_read(self, length: int) -> bool:
        """Whether an operand may be read once more. Each is read up to three times: nested, that is 3ⁿ."""
        self.budget.left -= length
        if self.budget.left >= 0:
            return True
        self.issue = Issue.DEPTH_LIMIT
        return False

    def read(self, at: int, style: Style) -> None:
        text, end, stop = self.text, self.end, _STOP[style]
        literal = Flag.PLAIN if style in (Style.WORD, Style.LOOSE) else Flag.DOUBLE
        quoting = style in (Style.WORD, Style.LOOSE)
        while at < end:
            if len(self.pieces) > _MOST_PIECES:
                self.issue = Issue.FACT_LIMIT
                self.add("", Flag.HOLE if quoting else Flag.QUOTED_HOLE)
                return
            found = stop.search(text, at, end)
            place = found.start() if found else end
            if place > at:
                self.add(text[at:place], literal)
            if found is None:
                return
            char = text[place]
            if char == "\\":
                at = self._backslash(place, quoting)
            elif char == "'":
                close = text.find("'", place + 1, end)
                self.silent |= close < 0
                close = close if close >= 0 else end
                self.add(text[place + 1 : close], Flag.SINGLE)
                at = close + 1
            elif char == '"':
                at = self._double(place + 1)
            elif char == TICK:
                at = self._tick(place, Flag.HOLE if quoting else Flag.QUOTED_HOLE)
            elif char in "$`":
                at = self._expansion(place, quoted=not quoting)
            elif char == HOLE:
                self.add("", Flag.HOLE if quoting else Flag.QUOTED_HOLE)
                at = place + 1
            elif char in "<>" and text.startswith("(", place + 1):
                at = self._process(place)
            else:
                at = self._bare(place, style)

    def _bare(self, at: int, style: Style) -> int:
        """A blank or operator inside a word: only an extended glob may hold one."""
        text = self.text
        if style is Style.WORD:
            close = text.rfind(")", at, self.end)
            if text[at] == "(" and text[at - 1] in "?*+@!" and close > 0:
                self.add("*", Flag.PLAIN)
                _scan_into(self, at + 1, close)
                return close + 1
            self.silent = True
        self.add(text[at], Flag.PLAIN)
        return at + 1

    def _backslash(self, at: int, quoting: bool) -> int:
        following = self.text[at + 1 : at + 2] if at + 1 < self.end else ""
        if not following:
            self.add("\\", Flag.ESCAPED)
        elif quoting or following in '$`"\\':
            self.add(following, Flag.ESCAPED if quoting else Flag.DOUBLE)
        else:
            self.add("\\" + following, Flag.DOUBLE)
        return at + 2

    def _double(self, at: int) -> int:
        text, end = self.text, self.end
        self.add("", Flag.DOUBLE)
        while at < end:
            found = _DOUBLE.search(text, at, end)
            if found is None:
                break
            place = found.start()
            if place > at:
                self.add(text[at:place], Flag.DOUBLE)
            char = text[place]
            if char == '"':
                return place + 1
            if char == "\\":
                at = self._backslash(place, quoting=False)
            elif char == TICK:
                at = self._tick(place, Flag.QUOTED_HOLE)
            elif char == HOLE:
                self.add("", Flag.QUOTED_HOLE)
                at = place + 1
            else:
                at = self._expansion(place, quoted=True)
        self.silent = True
        return end

    def _expansion(self, at: int, *, quoted: bool) -> int:
        text, end = self.text, self.end
        hole = Flag.QUOTED_HOLE if quoted else Flag.HOLE
        if text[at] == "`":
            return self._backticks(at, quoted)
        following = text[at + 1 : at + 2] if at + 1 < end else ""
        if following == "(":
            return self._parenthesis(at, hole)
        if following == "{":
            return self._braced(at, quoted)
        if following == "[":  # the old arithmetic form
            close = text.find("]", at, end)
            self.silent |= close < 0
            self.evaluates = True
            _scan_into(self, at + 2, close if close >= 0 else end, Style.ARITHMETIC)
            self.add("", hole)
            return (close if close >= 0 else end) + 1
        if following == "'" and not quoted:
            return self._ansi(at + 2)
        if following == '"' and not quoted:
            return self._double(at + 2)
        name = _NAME.match(text, at + 1, end)
        if name:
            self.add(name.group(), Flag.QUOTED_VARIABLE if quoted else Flag.VARIABLE)
            return name.end()
        if following and following in "@*":
            self.pieces.append(Piece("", Flag.MANY, name='"' * quoted + following))
            return at + 2
        if following and following in "0123456789":
            self.add(following, Flag.QUOTED_VARIABLE if quoted else Flag.VARIABLE)
            return at + 2
        if following and following in "?!#$-":
            self.add("", hole)
            return at + 2
        if following and following in "}," and not quoted:  # `{a,$}b`: a name once the braces are gone
            self.add("", hole)
            return at + 1
        self.add("$", Flag.DOUBLE if quoted else Flag.ESCAPED)
        return at + 1

    def _parenthesis(self, at: int, hole: Flag) -> int:
        text = self.text
        node = self.spans.get(at)
        if node is not None and node.kind == "arithmetic_expansion" and node.end <= self.end:
            self.evaluates |= bool(re.search(r"[A-Za-z_$`]", text[at + 3 : node.end - 2]))
            _scan_into(self, at + 3, node.end - 2, Style.ARITHMETIC)
            self.silent |= not _is_formula(text, at + 3, node.end - 2)
            self.add("", hole)
            return node.end
        if node is not None and node.kind == "command_substitution" and node.end <= self.end:
            inner = text[at + 2 : node.end - 1]
            self._output(Code(node=node), Flag.SCRATCH if _SCRATCH.match(inner) else hole)
            return node.end
        close = closing(text, at + 1, self.end)
        if close < 0:
            self.silent = True
            return self.end
        inner = text[at + 2 : close]
        if inner.startswith("(") and closing(text, at + 2, close) == close - 1:
            self.evaluates = True
            _scan_into(self, at + 3, close - 1, Style.ARITHMETIC)
        else:
            self._output(Code(text=inner), hole)
            return close + 1
        self.add("", hole)
        return close + 1

    def _output(self, code: Code, flag: Flag) -> None:
        self.codes.append(code)
        self.pieces.append(Piece("", flag, code=code))

    def _process(self, at: int) -> int:
        node = self.spans.get(at)
        kind = self.text[at]
        if node is not None and node.kind == "process_substitution" and node.end <= self.end:
            self._output(Code(node=node, process=kind), Flag.QUOTED_HOLE)
            return node.end
        close = closing(self.text, at + 1, self.end)
        if close < 0:
            self.silent = True
            return self.end
        self._output(Code(text=self.text[at + 2 : close], process=kind), Flag.QUOTED_HOLE)
        return close + 1

    def _backticks(self, at: int, quoted: bool) -> int:
        found = backticked(self.text, at, self.end, quoted=quoted)
        if found is None:
            self.silent = True
            return self.end
        inner, end = found
        self._output(Code(text=inner), Flag.QUOTED_HOLE if quoted else Flag.HOLE)
        return end

    def _tick(self, at: int, flag: Flag) -> int:
        close = self.text.find(TICK, at + 1, self.end)
        if close < 0:
            self.silent = True
            return self.end
        self._output(Code(tick=int(self.text[at + 1 : close])), flag)
        return close + 1

    def _braced(self, at: int, quoted: bool) -> int:
        text = self.text
        node = self.spans.get(at)
        known = node is not None and node.kind == "expansion" and node.end <= self.end
        close = node.end - 1 if node is not None and known else closing(text, at + 1, self.end)
        if close < 0 or text[close] != "}":
            self.silent = True
            return self.end
        inner = text[at + 2 : close]
        name = _NAME.match(inner)
        whole = name is not None and name.end() == len(inner)
        if whole or _POSITION.match(inner) or _ELEMENT.match(inner):
            self.add(inner, Flag.QUOTED_VARIABLE if quoted else Flag.VARIABLE)
            return close + 1
        if not inner or inner[0] in " \t\n|":  # a command in braces, of newer shells
            self.silent = True
        if _PROMPT.search(inner):  # what stands in the value as `$(…)` is run
            self.issue = Issue.DYNAMIC_WORD
            self.evaluates = True
        self.evaluates |= _BRACED_EVALUATES.match(inner) is not None
        # between double quotes, single quotes are ordinary in an operand and hide nothing
        _scan_into(self, at + 2, close, Style.ARITHMETIC if quoted else Style.LOOSE)
        if not quoted and "'" in inner and ("[" in inner or ":" in inner):  # nor in a subscript or an offset
            _scan_into(self, at + 2, close, Style.ARITHMETIC)
        array = _ARRAY.match(inner)
        if inner in ("@", "*"):
            self.pieces.append(Piece("", Flag.MANY, name='"' * quoted + inner))
        elif array:
            self.pieces.append(Piece("", Flag.MANY, name='"' * quoted + array[2] + array[1]))
        elif inner[0:1] in ("@", "*") or "[@]" in inner or "[*]" in inner:
            self.add("", Flag.MANY)
        else:
            self.pieces.append(self._hole(at + 2, close, quoted=quoted))
        return close + 1

    def _hole(self, start: int, close: int, *, quoted: bool) -> Piece:
        flag = Flag.QUOTED_HOLE if quoted else Flag.HOLE
        match = _DEFAULT.match(self.text, start, close)
        if match is None:
            return Piece("", flag)
        if not self.may_read(close - start):
            return Piece("", flag)
        operand = _Reader(self.text, close, self.spans, self.budget)
        operand.read(match.end(), Style.QUOTED if quoted else Style.LOOSE)
        pieces = operand.pieces
        if quoted:  # double quotes inside double quotes only hide blanks
            pieces = [msgspec.structs.replace(piece, text=piece.text.replace('"', "")) for piece in pieces]
        name = "" if match.group(2) == "+" else match.group(1)
        return Piece("", flag, tuple(pieces), name, match.group(2) == "=")

    def _ansi(self, at: int) -> int:
        close = at
        while close < self.end and self.text[close] != "'":
            close += 2 if self.text[close] == "\\" else 1
        self.silent |= close >= self.end
        self.add(_ANSI.sub(_ansi_value, self.text[at:close]).partition("\0")[0], Flag.SINGLE)
        return close + 1


def _scan_into(reader: _Reader, start: int, end: int, style: Style = Style.LOOSE) -> None:
    """Collect the code of an operand whose text does not matter."""
    if not reader.may_read(end - start):
        return
    inner = _Reader(reader.text, end, reader.spans, reader.budget)
    inner.read(start, style)
    reader.codes += inner.codes
    reader.silent |= inner.silent
    reader.evaluates |= inner.evaluates
    reader.issue = reader.issue or inner.issue


def _ansi_value(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] == "x":
        return chr(int(code[1:], 16)) if len(code) > 1 else "\\x"
    if code[0] in "uU":
        point = int(code[1:], 16) if len(code) > 1 else -1
        return (
            chr(point).encode("utf-8", "replace").decode("latin-1")
            if 0 <= point < 0x110000
            else match.group()
        )
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) == 2:
        return chr(ord(code[1]) & 0x1F)
    return _ANSI_NAMED.get(code, code if code in "\\'\"?" else match.group())


_QUOTED = re.compile(r"\\.|'[^']*'?|\"(?:[^\"\\]|\\.)*\"?|[()]", re.DOTALL)


def _is_formula(text: str, start: int, end: int) -> bool:
    """Whether parentheses outside quotes match. Where they don't, bash runs the inside as a subshell.

    It counts those in the body of a here-document too, so with one in it nothing is sure.
    """
    depth = 0
    if text.find(MARK, start, end) >= 0:
        return False
    for found in _QUOTED.finditer(text, start, end):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth < 0:
            return False
    return depth == 0


_ENDS_EARLY = re.compile(r"\bcase\b|<<(?!<)")  # a pattern or a here-document may hold a lone parenthesis
_PAIRS = {"(": ")", "{": "}"}


def closing(text: str, at: int, end: int) -> int:
    """Where the bracket at ``at`` is closed, by shell quoting; -1 if it isn't or can't be told."""
    opening, close = text[at], _PAIRS[text[at]]
    depth = 0
    index = at
    while index < end:
        char = text[index]
        if char == "\\":
            index += 1
        elif char == "'":
            index = text.find("'", index + 1, end)
            if index < 0:
                return -1
        elif char == '"':
            index = _after_double(text, index + 1, end) - 1
            if index < 0:
                return -1
        elif char == "`":
            index = text.find("`", index + 1, end)
            if index < 0:
                return -1
        elif char == opening:
            depth += 1
        elif char == close:
            depth -= 1
            if depth == 0:
                return -1 if opening == "(" and _ENDS_EARLY.search(text, at, index) else index
        index += 1
    return -1


def _after_double(text: str, at: int, end: int) -> int:
    while at < end:
        char = text[at]
        if char == '"':
            return at + 1
        if char == "\\":
            at += 2
        elif char == "$" and text[at + 1 : at + 2] in ("(", "{"):
            inner = closing(text, at + 1, end)
            if inner < 0:
                return 0
            at = inner + 1
        else:
            at += 1
    return 0
