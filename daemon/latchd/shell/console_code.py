"""Shell escapes in what a console reads: editors, SQL clients, debuggers, transfer shells, expect.

Each console has a few commands that give the rest of their line to a shell. They are looked for in the
options that hold such commands and in a literal stdin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import Embedded
from latchd.shell.parse import code_text


class Console(msgspec.Struct, frozen=True):
    """Where a console's commands stand and what code looks like in them: the first group that matched."""

    escape: re.Pattern[str]
    options: frozenset[str] = frozenset()  # a value is commands; a short one may be glued to it
    operands: int = -1  # from this operand on they are commands; -1 = none are
    stdin: bool = False
    plus: bool = False  # +COMMAND
    opaque: re.Pattern[str] | None = None  # starts something that can't be read


def _find(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE | re.VERBOSE)


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VIM = Console(
    _find(r"""(?:^|[:|"'%\d$.,]|\b(?:r|re|read|w|write|sil|silent)!?\s)[ \t]*!(?!=)(.+)
        |\bsystem(?:list)?\(\s*(?:'([^']*)'|"((?:\\.|[^"\\])*)")|(?:^|[:|])[ \t]*term(?:inal)?\s+(.+)"""),
    _options("-c --cmd"), stdin=True, plus=True, opaque=_find(r"\bjob_?start\b|system(?:list)?\(\s*[^'\"\s]"),
)  # fmt: skip
_ED = Console(_find(r"^(?:[\d,$.;%]*(?:r|e|E|w))?\s*!(.+)"), stdin=True)
_EMACS = Console(
    _find(r"""\((?:async-)?shell-command(?:-to-string)?\s+"((?:\\.|[^"\\])*)"""),
    _options("--eval -eval --execute -execute"),
    opaque=_find(r"\((?:call-process|start-process|make-process)"),
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
)  # fmt: skip
_LLDB = Console(
    _find(r"^[ \t]*(?:platform\s+)?shell\s+(.+)"), _options("-o --one-line -O --one-line-before-file"),
    stdin=True, opaque=_find(r"^[ \t]*(?:script|command\s+script)\b"),
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
    opaque = console.opaque is not None and any(console.opaque.search(text) for text in texts)
    return Embedded(tuple(code for code in codes if code), opaque)


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
            elif value[:2] in console.options and len(value) > 2 and value not in console.options:
                texts.append(value[2:])
        else:
            operands += 1
            if 0 <= console.operands < operands:
                texts.append(value)
    return texts
