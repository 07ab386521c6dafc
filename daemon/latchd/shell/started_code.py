"""Commands that code in a language without a reading of its own starts: lisps, elixir, raku, groovy, m4 …

Each language has a few calls that start a program, and what follows one is string literals: one is a shell's
line, several are the words of one command. A program in such a language may start what no pattern shows, so
code in which a start stands is opaque as well.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import Embedded
from latchd.shell.parse import HOLE, code_text

_LITERAL: Final = r"""(?:"(?:\\.|[^"\\]){0,2048}"|'[^'\n]{0,2048}')"""
_STRINGS: Final = re.compile(_LITERAL, re.DOTALL)
_MOST: Final = 128  # starts that are read of one program


class Language(msgspec.Struct, frozen=True):
    """Where a program's code stands, and the calls that start commands in it."""

    starts: re.Pattern[str]  # its group is the literals, or nothing where they can't be read
    options: frozenset[str]
    verb: str = ""  # `crystal eval CODE`


def _calls(names: str, more: str = "") -> re.Pattern[str]:
    """Calls by name, with the literals behind them; ``more`` are forms of their own with one group each."""
    called = rf"(?<![\w.-])(?:{names})(?![\w-])((?:[\s'(\[,]{{1,16}}{_LITERAL}){{0,64}})"
    return re.compile(f"{called}|{more}" if more else called, re.DOTALL)


_LISP: Final = _calls(
    r"(?:[\w.-]+[/:]{1,2})?(?:system\*?|shell|sh|process\*?|run-program|run-shell-command|launch-program"
    r"|open-(?:input-)?pipe\*?)"
)
_BEAM: Final = _calls(r":?os[:.]cmd|System\.cmd|System\.shell|(?:erlang:)?open_port|Port\.open")
_JVM: Final = _calls(
    r"(?:[\w.]+\(\)\.)?exec|(?:new\s+)?(?:java\.lang\.)?ProcessBuilder|(?:sys\.process\.)?Process",
    rf"({_LITERAL}(?:\s*,\s*{_LITERAL}){{0,64}})\s*\]?\s*\.(?:execute\(|!)",
)
_OCAML: Final = _calls(r"Sys\.command|Unix\.(?:system|open_process\w*|execvp?e?|create_process)")
_HASKELL: Final = _calls(
    r"(?:System\.Process\.)?(?:system|callCommand|callProcess|spawnCommand|spawnProcess|rawSystem|readProcess)",
    r"(?:^|(?<=\n))[ \t]*:!([^\n]+)",
)
_SCRIPTED: Final = _calls(
    r"(?:Process\.)?(?:system|run|exec|shell|shellq|new)", r"(?:`|qq?x\s*\{)([^`}]*)[`}]"
)
_M4: Final = re.compile(r"\be?syscmd\(\s*[`\[]*([^\n`'\])]*)")

LANGUAGES: Final[Mapping[str, Language]] = {
    "guile": Language(_LISP, frozenset(("-c",))),
    "racket": Language(_LISP, frozenset(("-e", "--eval"))),
    "sbcl": Language(_LISP, frozenset(("--eval",))),
    **dict.fromkeys(("clojure", "clj", "bb"), Language(_LISP, frozenset(("-e", "--eval", "-M:e")))),
    **dict.fromkeys(("elixir", "iex"), Language(_BEAM, frozenset(("-e", "--eval", "--rpc-eval")))),
    "erl": Language(_BEAM, frozenset(("-eval",))),
    **dict.fromkeys(("groovy", "scala"), Language(_JVM, frozenset(("-e",)))),
    "jshell": Language(_JVM, frozenset()),
    "ocaml": Language(_OCAML, frozenset(("-e",))),
    **dict.fromkeys(("ghci", "ghc", "runghc"), Language(_HASKELL, frozenset(("-e",)))),
    "crystal": Language(_SCRIPTED, frozenset(), verb="eval"),
    **dict.fromkeys(("raku", "perl6"), Language(_SCRIPTED, frozenset(("-e",)))),
    "m4": Language(_M4, frozenset()),
}


def started_code(name: str, words: Sequence[Argument], stdin: str | None) -> Embedded:
    """The commands that code among the words, or on a literal stdin, starts."""
    spoken = LANGUAGES[name]
    options = spoken.options.union((spoken.verb,) if spoken.verb else ())
    texts = [after.value for option, after in pairwise(words[1:]) if option.value in options]
    if stdin is not None and not texts:
        texts.append(stdin.replace(HOLE, "\0"))
    codes: list[str] = []
    for text in texts:
        for number, match in enumerate(spoken.starts.finditer(text)):
            if number == _MOST:
                codes.append(HOLE)
                break
            codes += _commands(next(filter(None, match.groups()), ""))
    return Embedded(tuple(codes), opaque=bool(codes))


def _commands(given: str) -> Iterator[str]:
    """One literal is a shell's line, several are words, none that can be read is a hole."""
    literals = [found[1:-1].replace('\\"', '"') for found in _STRINGS.findall(given)]
    if len(literals) > 1:
        yield " ".join(HOLE if "\0" in word else code_text(shlex.quote(word)) for word in literals)
    else:
        yield code_text((literals[0] if literals else given).strip()) or HOLE
