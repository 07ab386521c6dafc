"""Shell code in a makefile's text that stands in the call: recipes, `$(shell …)`, NAME=value, SHELL itself.

Variables of make are holes: what they hold stands elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import Embedded
from latchd.shell.parse import code_text

_RECIPE = re.compile(r"^(?:\t[-@+ \t]*|[^\s#:=][^\n#=:]*::?[^=\n;:]*;[ \t]*[-@+]*)(.+)", re.MULTILINE)
_SHELL_CALL = re.compile(r"\$[({]shell\s((?:[^(){}]|\([^()]*\))*)[)}]|^[ \t]*\w+[ \t]*!=(.+)", re.MULTILINE)
_STDIN_FILES: Final = frozenset(("-f-", "--file=-", "--makefile=-"))
_ASSIGNED = re.compile(r"[A-Za-z_.]\w*\s*[:?+!]*=")
_FILE = re.compile(r"-\w*f\Z|--(make)?file\Z")
_VARIABLE = re.compile(r"\$(?:\$|\([^()]*\)|\{[^{}]*\}|.)")


def make(words: Sequence[Argument], stdin: str | None) -> Embedded:
    """Recipes and `$(shell …)` in what is given in words or on a literal stdin: --eval, -f -, NAME=value."""
    texts: list[str] = []
    codes: list[str] = []
    for index, word in enumerate(words[1:], 1):
        value = word.value
        before = words[index - 1].value
        if value.startswith("--eval=") or (before in ("--eval", "-E") and index > 1):
            texts.append(value.removeprefix("--eval="))
        elif value in _STDIN_FILES or (value == "-" and _FILE.match(before)):
            texts.append(stdin or "")
        elif _ASSIGNED.match(value):
            name, _, text = value.partition("=")
            texts.append(text)
            if name.rstrip(" :?+!") == "SHELL":
                codes.append(code_text(text))
    for text in texts:
        calls = [match.group(1) or match.group(2) for match in _SHELL_CALL.finditer(text)]
        recipes = [match.group(1) for match in _RECIPE.finditer(text)]
        codes += [code_text(_VARIABLE.sub(_expanded, code).strip()) for code in (*calls, *recipes)]
    return Embedded(tuple(code for code in codes if code.strip()))


def _expanded(match: re.Match[str]) -> str:
    return "$" if match.group() == "$$" else "\0"
