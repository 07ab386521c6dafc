"""Shell text made ready for the parser: continuations joined, here-documents and backticks taken out.

The parser reads all three badly and says nothing, so it never sees them: a backslash-newline
disappears where bash drops it, each here-document becomes `< MARK` and each pair of backticks a TICK,
with what they hold kept aside. A `$` that expands nothing and an escaped blank get a spelling that the
parser reads as bash does. Whenever this scan may have lost its place, ``sure`` is false and the
facts must not be complete.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

MARK = "\x02"  # encloses a here-document's number; refused in input by the parser's gate
BOTH = "\x04"  # stands before the target of `<>`, which the parser does not know
TICK = "\x03"  # encloses the number of a substitution that stood in backticks
MAX_WORK: Final = 256
MAX_STEPS: Final = 16_384  # characters that mean something: in 64 KiB, every fourth
MAX_ARITHMETIC: Final = 1024  # characters within which `((` must close
_HARMLESS = re.compile(r"(?:[\w./ =:+@%,|>-]|<(?!<))*\Z")  # reads the same in `$( )`
_BARE_DOLLAR = re.compile(r"\$(?![\w@*#?$!({},\['\"`\\-])", re.ASCII)  # expands nothing: it is a letter
_SPECIAL = re.compile(r"\\[\n \t]|\\\Z|<<|`|<>|\w\}[<>]|" + _BARE_DOLLAR.pattern, re.ASCII)
_DESCRIPTOR = re.compile(r"\{([A-Za-z_]\w*)\}(?=[<>])", re.ASCII)  # bash opens a free one and says which
_JOINED = re.compile(  # bash needs no `;` between these words, the parser does
    r"(?<![\w$-])(for[ \t]+[A-Za-z_]\w*|fi|done|esac)(?=\s+(?:do|done|fi|esac|else|elif|then)(?![\w=-]))"
)
_STOPS = re.compile(r"[\\'\"`$(){}#<\n]")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)\+?=", re.ASCII)
_PARENTHESES = re.compile(r"[()]")
_ESCAPES = re.compile(r"(?:\\[^\n \t])+")
_DOUBLE_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_UNQUOTED = re.compile(r'\\(?:\n|([$`"\\]))')
_DOUBLE_STOPS = re.compile(r"[\\\"`$]")
_LEADING_TABS = re.compile(r"^\t+", re.MULTILINE)
_BLANKS = frozenset(" \t\n;&|()<>")


class Heredoc(msgspec.Struct, frozen=True):
    """One here-document body as bash reads it; ``expands`` when its delimiter was not quoted."""

    body: str
    expands: bool


class Prepared(msgspec.Struct, frozen=True):
    text: str
    heredocs: tuple[Heredoc, ...] = ()
    ticks: tuple[str, ...] = ()
    sure: bool = True
    excess: bool = False  # more of something than is worth reading


class _Pending(msgspec.Struct, frozen=True):
    number: int
    delimiter: str
    quoted: bool
    tabs: bool  # <<-: leading tabs are dropped
    depth: int
    end: int  # place behind the delimiter


def prepare(text: str) -> Prepared:
    """Join continuations and take here-documents and backticks out of ``text``."""
    return _Scan(text).run() if _SPECIAL.search(text) else Prepared(text)


def separated(text: str) -> Prepared | None:
    """As ``prepare``, with a `;` between reserved words that bash takes without one: `fi done`, `for i do`.

    None where no words stand so. Only for text that the parser could not read.
    """
    return _Scan(text, separates=True).run() if _JOINED.search(text) else None


class _Scan:
    """One pass over the text with a stack of what encloses the place we are at.

    Frames: n command text · p command text in parentheses · a arithmetic · d double quotes ·
    b a braced expansion · q a braced expansion within double quotes.
    """

    def __init__(self, text: str, *, separates: bool = False) -> None:
        self.text = text
        self.separates = separates
        self.out: list[str] = []
        self.stack = ["n"]
        self.pending: list[_Pending] = []
        self.bodies: dict[int, Heredoc] = {}
        self.count = 0
        self.ticks: list[str] = []
        self.work = 0  # substitutions, here-documents and double parentheses met
        self.sure = True
        self.doubled = False  # a `((` that is no arithmetic has been met
        self.at = 0
        self.cases = "case" in text
        self.last_joined = text.rfind("\\\n")  # no backslash-newline after it
        self.assigned: frozenset[str] | None = None  # names that are set anywhere, once one is asked for

    def run(self) -> Prepared:
        text, out = self.text, self.out
        steps = 0
        while self.at < len(text):
            steps += 1
            if self.work > MAX_WORK or steps > MAX_STEPS:
                return Prepared("", excess=True)
            top = self.stack[-1]
            found = (_DOUBLE_STOPS if top == "d" else _STOPS).search(text, self.at)
            end = found.start() if found else len(text)
            plain = text[self.at : end]
            out.append(_JOINED.sub(r"\1;", plain) if self.separates and top in "np" else plain)
            self.at = end
            if found is None:
                break
            self._step(text[self.at], top)
        if self.pending:
            self.sure = self.sure and all(item.depth == 1 for item in self.pending)
            for item in self.pending:
                self.bodies[item.number] = Heredoc("", not item.quoted)
        if len(self.stack) > 1:
            self.sure = False
        heredocs = tuple(self.bodies[number] for number in range(self.count))
        return Prepared("".join(out), heredocs, tuple(self.ticks), self.sure)

    def _take(self, size: int) -> None:
        self.out.append(self.text[self.at : self.at + size])
        self.at += size

    def _step(self, char: str, top: str) -> None:
        text, at = self.text, self.at
        if char == "\\":
            following = text[at + 1 : at + 2]
            if following == "\n":
                self.at += 2
            elif top in "np" and not following:  # the last letter of all stands for itself
                self.out.append("\\\\")
                self.at += 1
            elif top in "np" and following in " \t" and not text[at - 1 : at].isalnum():
                self.out.append(f"'{following}'")  # the parser drops it ahead of a word
                self.at += 2
            else:
                escapes = _ESCAPES.match(text, at)
                self._take(escapes.end() - at if escapes else 2)
        elif char == "'" and top not in "qa":
            end = text.find("'", at + 1)
            self._take((end if end >= 0 else len(text)) + 1 - at)
            self.sure = self.sure and end >= 0
        elif char == '"':
            if top == "d":
                self.stack.pop()
            elif top != "a":
                self.stack.append("d")
            self._take(1)
        elif char == "`":
            self._backticks(quoted=top in "dq")
        elif char == "$":
            self._dollar(top)
        elif char == "(" and top in "npab":
            if top != "a" and text.startswith("((", at) and self._closes_arithmetic(at):
                self.stack += ["a", "a"]
                self._take(2)
            else:
                self.doubled |= text.startswith("((", at) or text.startswith("$((", at - 1)
                self.stack.append("a" if top == "a" else "p")
                self._take(1)
        elif char == ")" and top in "pa":
            if top == "p" and self.cases and len(self.stack) > 1:
                self.sure = False  # a pattern's parenthesis looks the same from here
            self.stack.pop()
            self._take(1)
        elif char == "{" and top in "np" and (at == 0 or text[at - 1] in _BLANKS) and self._descriptor():
            return
        elif char == "}" and top in "bq":
            self.stack.pop()
            self._take(1)
        elif char == "#" and top in "np" and (at == 0 or text[at - 1] in _BLANKS):
            end = text.find("\n", at)
            self._take((end if end >= 0 else len(text)) - at)
        elif char == "<" and top in "np" and text.startswith("<<", at):
            self._heredoc()
        elif char == "<" and top in "np" and text.startswith("<>", at):
            self.at += 2
            while text[self.at : self.at + 1] in (" ", "\t"):
                self.at += 1
            self.out.append(f">|{BOTH}")
        elif char == "\n":
            self._take(1)
            if self.pending and top in "np":
                self._bodies()
        else:
            self._take(1)

    def _descriptor(self) -> bool:
        """A `{name}` before a redirection: a number in its place reads the same, and the parser knows it."""
        found = _DESCRIPTOR.match(self.text, self.at)
        if found is None:
            return False
        if self.assigned is None:
            self.assigned = frozenset(_ASSIGNED.findall(self.text))
        if found.group(1) in self.assigned:
            self.sure = False  # what the name held before is gone
        self.out.append("10")
        self.at = found.end()
        return True

    def _backticks(self, *, quoted: bool) -> None:
        """Replace backticks up to the next one that is not escaped; quotes don't protect it."""
        self.work += 1
        found = backticked(self.text, self.at, len(self.text), quoted=quoted)
        if found is None:
            self.sure = False
            self._take(len(self.text) - self.at)
            return
        inner, end = found
        if _HARMLESS.match(inner):
            self.out.append(f"$({inner})")
        else:
            self.out.append(f"{TICK}{len(self.ticks)}{TICK}")
            self.ticks.append(inner)
        self.at = end

    def _dollar(self, top: str) -> None:
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        if following == "'" and top not in "dqa":
            end = at + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            self._take(end + 1 - at)
        elif text.startswith("$((", at) and self._closes_arithmetic(at + 1):
            self.stack += ["a", "a"]
            self._take(3)
        elif following == "(":
            self.stack.append("p")
            self._take(2)
        elif following == "{":
            self.stack.append("q" if top in "dq" else "b")
            self._take(2)
        elif top in "np" and _BARE_DOLLAR.match(text, at):
            if following in (",", "}"):
                self.sure = False  # braces may put a name behind it
            self.out.append("\\$")
            self.at += 1
        else:
            self._take(2 if following in ("#", "$") else 1)

    def _closes_arithmetic(self, at: int) -> bool:
        """Whether the `((` at that place is closed by two adjacent parentheses."""
        depth = 0
        self.work += 1
        for found in _PARENTHESES.finditer(self.text, at, at + MAX_ARITHMETIC):
            depth += 1 if found.group() == "(" else -1
            if depth == 1 and found.group() == ")":
                return self.text.startswith("))", found.start())
        self.sure = False
        return False

    def _heredoc(self) -> None:
        text = self.text
        if text.startswith("<<<", self.at):
            self._take(3)
            return
        self.work += 1
        if "a" in self.stack:
            self.sure = False  # what stands in its body decides whether bash takes this for arithmetic
        start = self.at + 2
        tabs = text.startswith("-", start)
        start += tabs
        while text[start : start + 1] in (" ", "\t") or text.startswith("\\\n", start):
            start += 1 if text[start] != "\\" else 2
        end, delimiter, quoted = _delimiter(text, start)
        if end == start:
            self._take(2)
            self.sure = False
            return
        if self.doubled and "p" in self.stack:
            self.sure = False  # bash reads such text twice, and a body's end the second time as a command
        self.pending.append(_Pending(self.count, delimiter, quoted, tabs, len(self.stack), end))
        self.out.append(f"<{MARK}{self.count}{MARK}")
        self.count += 1
        self.at = end

    def _bodies(self) -> None:
        if "p" in self.stack and ";" in self.text[self.pending[0].end : self.at]:
            self.sure = False  # bash 5.2 loses a `;` of such a line when it reads the substitution again
        for item in self.pending:
            if item.depth != len(self.stack):
                self.sure = False
            plain = item.quoted or self.at > self.last_joined
            body = self._plain_body(item) if plain else self._joined_body(item)
            self.bodies[item.number] = Heredoc(body, not item.quoted)
        self.pending.clear()

    def _plain_body(self, item: _Pending) -> str:
        """A body in which no two lines are joined."""
        start = self.at
        tabs = "\t*" if item.tabs else ""
        ends = re.compile(rf"^{tabs}{re.escape(item.delimiter)}(?:\n|\Z)", re.MULTILINE)
        found = None if "\n" in item.delimiter else ends.search(self.text, start)
        self.at = found.end() if found else len(self.text)
        body = self.text[start : found.start() if found else self.at]
        return _LEADING_TABS.sub("", body) if item.tabs else body

    def _joined_body(self, item: _Pending) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            line = self._line()
            bare = line.lstrip("\t") if item.tabs else line
            if bare.rstrip("\n") == item.delimiter:
                break
            lines.append(bare)
        return "".join(lines)

    def _line(self) -> str:
        parts: list[str] = []
        while True:
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end + 1
            line = self.text[self.at : end]
            self.at = end
            slashes = len(line) - 1 - len(line[:-1].rstrip("\\")) if line.endswith("\n") else 0
            if slashes % 2 == 1 and self.at < len(self.text):
                parts.append(line[:-2])
                continue
            parts.append(line)
            return "".join(parts)


def backticked(text: str, at: int, end: int, *, quoted: bool) -> tuple[str, int] | None:
    """The code of the backticks that open at ``at`` and the place after them; None if they don't close."""
    close = at + 1
    while close < end and text[close] != "`":
        close += 2 if text[close] == "\\" else 1
    if close >= end:
        return None
    return re.sub(r"\\([$`\\\"])" if quoted else r"\\([$`\\])", r"\1", text[at + 1 : close]), close + 1


def _delimiter(text: str, start: int) -> tuple[int, str, bool]:
    """The here-document delimiter that begins at ``start``: its end, its text, whether it was quoted."""
    value: list[str] = []
    quoted = False
    at = start
    while at < len(text) and text[at] not in _BLANKS:
        char = text[at]
        if char == "$" and text[at + 1 : at + 2] in ("'", '"'):
            char = text[at := at + 1]
        if char in "'\"":
            end = text.find(char, at + 1)
            if end < 0 or (text[at - 1] == "$" and "\\" in text[at:end]):
                return start, "", False
            if char == '"' and "\\" in text[at:end]:
                closed = _DOUBLE_QUOTED.match(text, at)
                if closed is None:
                    return start, "", False
                end = closed.end() - 1
                value.append(_UNQUOTED.sub(r"\1", text[at + 1 : end]))
            else:
                value.append(text[at + 1 : end])
            quoted = True
            at = end + 1
        elif text.startswith("\\\n", at):
            at += 2
        elif char == "\\":
            value.append(text[at + 1 : at + 2])
            quoted = True
            at += 2
        else:
            value.append(char)
            at += 1
    return at, "".join(value), quoted
