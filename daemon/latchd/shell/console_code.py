"""Shell escapes in what a console reads: editors, SQL clients, debuggers, transfer shells, expect.

Each console has a few commands that give the rest of their line to a shell. They are looked for in the
options that hold such commands and in a literal stdin.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import Embedded
from latchd.shell.parse import HOLE, code_text


class Console(msgspec.Struct, frozen=True):
    """Where a console's commands stand and what code looks like in them: the first group that matched."""

    escape: re.Pattern[str]
    options: frozenset[str] = frozenset()  # a value is commands; a short one may be glued to it
    operands: int = -1  # from this operand on they are commands; -1 = none are
    stdin: bool = False
    plus: bool = False  # +COMMAND
    opaque: re.Pattern[str] | None = None  # starts something that can't be read
    speaks: re.Pattern[str] | None = None  # code for an interpreter of its own, which `interpreter` names
    interpreter: str = ""  # read as if it were started by itself: `python3 -c CODE`
    starts: re.Pattern[str] | None = None  # the words of a command, as literals
    clusters: frozenset[str] = frozenset()  # options that may end a cluster of letters: `ex -sc CODE`


def _find(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE | re.VERBOSE)


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLUSTER: Final = re.compile(r"-[A-Za-z]{2,}\Z")
_LITERAL: Final = re.compile(r'"(?:\\.|[^"\\])*"')

_VIM = Console(
    _find(r"""(?:^|[:|"'%\d$.,]|\b(?:r|re|read|w|write|sil|silent)!?\s)[ \t]*!(?!=)(.+)
        |\bsystem(?:list)?\(\s*(?:'([^']*)'|"((?:\\.|[^"\\])*)")|(?:^|[:|])[ \t]*term(?:inal)?\s+(.+)"""),
    _options("-c --cmd"), stdin=True, plus=True, clusters=_options("-c"),
    opaque=_find(r"""\bjob_?start\b|system(?:list)?\(\s*[^'\"\s]
        |(?:^|[:|])[ \t]*(?:luado|py3?|python3?|pyx|pythonx|perl|ruby|mzscheme|tcl)\s"""),
    speaks=_find(r"(?:^|[:|])[ \t]*lua\s+(.+)"), interpreter="lua -e",
)  # fmt: skip
_ED = Console(_find(r"^(?:[\d,$.;%]*(?:r|e|E|w))?\s*!(.+)"), stdin=True)
_EMACS = Console(
    _find(r"""\((?:async-)?shell-command(?:-to-string)?\s+"((?:\\.|[^"\\])*)"""),
    _options("--eval -eval --execute -execute"),
    opaque=_find(r"\((?:call-process|start-process|make-process)"),
    starts=_find(
        r"""\((?:call-process|process-lines)\s+("(?:\\.|[^"\\])*"(?:\s+(?:nil|t|\d+|"(?:\\.|[^"\\])*")){0,64})"""
    ),
)  # fmt: skip
_PSQL = Console(
    _find(r"""\\!\s*(.+)|\\(?:o|out|g|gx|w)\s*\|\s*(.+)|\b(?:from|to)\s+program\s+'((?:''|[^'])*)'"""),
    _options("-c --command"), stdin=True,
)  # fmt: skip
_MYSQL = Console(
    _find(r"""(?:^|;)[ \t]*(?:system\s|\\!)\s*([^;\n]+)|(?:^|;)[ \t]*(?:pager\s|\\P\s)\s*([^;\n]+)"""),
    _options("-e --execute --init-command"), stdin=True,
)  # fmt: skip
_SQLITE = Console(
    _find(r"""^[ \t]*\.(?:shell|system)\s+(.+)|^[ \t]*\.(?:output|once|o)\s+["']?\|(.+)
        |^[ \t]*\.import\s+.*?["']?\|([^"'\n]+)"""),
    _options("-cmd"), operands=1, stdin=True,
)  # fmt: skip
_GDB = Console(
    _find(r"""^[ \t]*(?:shell|!)\s*(.+)|^[ \t]*(?:pipe\s|\|)[^|\n]*\|\s*(.+)"""),
    _options("-ex --eval-command -iex --init-eval-command -eval-command"), stdin=True,
    opaque=_find(r"^[ \t]*(?:python|pi|py|source)\b"),
    speaks=_find(r"^[ \t]*(?:python|pi|py|python-interactive)[ \t]+(.+)"), interpreter="python3 -c",
)  # fmt: skip
_LLDB = Console(
    _find(r"^[ \t]*(?:platform\s+)?shell\s+(.+)"), _options("-o --one-line -O --one-line-before-file"),
    stdin=True, opaque=_find(r"^[ \t]*(?:script|command\s+script)\b"),
    speaks=_find(r"^[ \t]*script[ \t]+(?:-\S+[ \t]+(?:--[ \t]+)?)?(.+)"), interpreter="python3 -c",
)  # fmt: skip
_TRANSFER = Console(_find(r"(?:^|;)[ \t]*!\s*(.+)"), _options("-e -c"), stdin=True)
_EXPECT = Console(
    _find(r"(?:^|[;\[{])[ \t]*(?:spawn(?:\s+-\w+)*|exec(?:\s+--)?|system)\s+([^;\]\n}]+)"),
    _options("-c"), stdin=True,
)  # fmt: skip
_DC = Console(_find(r"!(?![<>=])(.+)"), _options("-e --expression"), stdin=True)
_LESS = Console(_find(r"[!|]\s*(.+)"), plus=True)
_GNUPLOT = Console(
    _find(r"""(?:^|;)[ \t]*!(.+)|\bsystem\s*\(?\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)')"""),
    _options("-e"), stdin=True,
)  # fmt: skip

CONSOLES: Final[Mapping[str, Console]] = {
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "vimdiff", "rvim", "gvim", "vim.basic"), _VIM),
    **dict.fromkeys(("ed", "red"), _ED),
    **dict.fromkeys(("emacs", "emacsclient", "emacs-nox"), _EMACS),
    **dict.fromkeys(("psql", "pgcli"), _PSQL),
    **dict.fromkeys(("mysql", "mariadb", "mycli"), _MYSQL),
    **dict.fromkeys(("sqlite3", "sqlite", "duckdb", "litecli"), _SQLITE),
    "gdb": _GDB, "lldb": _LLDB,
    **dict.fromkeys(("ftp", "sftp", "lftp", "ncftp"), _TRANSFER),
    **dict.fromkeys(("expect", "tclsh"), _EXPECT),
    "dc": _DC,
    **dict.fromkeys(("less", "more", "most"), _LESS),
    "gnuplot": _GNUPLOT,
}  # fmt: skip


def console_code(console: Console, words: Sequence[Argument], stdin: str | None) -> Embedded:
    """The code that a console's commands give to a shell."""
    texts = _commands(console, words)
    if stdin is not None and console.stdin:
        texts.append(stdin)
    codes = [
        code_text(next(filter(None, match.groups()), "").strip())
        for text in texts
        for match in console.escape.finditer(text)
    ]
    for text in texts:
        codes += _hosted(console, text)
    opaque = console.opaque is not None and any(console.opaque.search(text) for text in texts)
    return Embedded(tuple(code for code in codes if code), opaque)


def _hosted(console: Console, text: str) -> Iterator[str]:
    """Code for the interpreter inside, as a command line with the same effects; commands as words."""
    if console.speaks is not None:
        for match in console.speaks.finditer(text):
            yield f"{console.interpreter} {code_text(shlex.quote(match[1]))}"
    if console.starts is not None:
        for match in console.starts.finditer(text):
            words = [found[1:-1].replace('\\"', '"') for found in _LITERAL.findall(match[1])]
            yield " ".join(HOLE if "\0" in word else code_text(shlex.quote(word)) for word in words)


def _commands(console: Console, words: Sequence[Argument]) -> list[str]:
    texts: list[str] = []
    operands = 0
    for index, word in enumerate(words[1:], 1):
        value, before = word.value, words[index - 1].value
        name, equals, rest = value.partition("=")
        if index > 1 and before in console.options:
            texts.append(value)
        elif value.startswith("+") and console.plus:
            texts.append(value[1:])
        elif value.startswith("-"):
            if equals and name.startswith("--") and name in console.options:
                texts.append(rest)
            elif _CLUSTER.match(value) and f"-{value[-1]}" in console.clusters:
                texts.append(words[index + 1].value if index + 1 < len(words) else "")
            elif value[:2] in console.options and len(value) > 2 and value not in console.options:
                texts.append(value[2:])
        else:
            operands += 1
            if 0 <= console.operands < operands:
                texts.append(value)
    return texts
