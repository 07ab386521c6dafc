"""Shell commands inside another program's own language, and options whose value names a command.

A table of which reading applies to which program. Only literal code is read; what starts processes in a
way that can't be read is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from latch_contracts.facts import Argument
from latchd.shell.awk_code import awk
from latchd.shell.child import split_words
from latchd.shell.code_values import OPTION_CODE, OPTION_WORDS
from latchd.shell.console_code import CONSOLES, console_code
from latchd.shell.embedded_code import NONE, Embedded, together
from latchd.shell.make_code import make
from latchd.shell.parse import code_text
from latchd.shell.program_code import inline_code, language
from latchd.shell.sed_code import sed
from latchd.shell.started_code import LANGUAGES, started_code

_AWKS = frozenset(("awk", "gawk", "mawk", "nawk", "original-awk", "bawk", "goawk"))
_SEDS = frozenset(("sed", "gsed", "ssed"))
_MAKES = frozenset(("make", "gmake", "bmake"))


def embedded(name: str, words: Sequence[Argument], stdin: str | None) -> Embedded:
    """The shell code in the words of one command; ``stdin`` is its literal input, if known."""
    if name in _AWKS:
        return awk(words, stdin)
    if name in _SEDS:
        return sed(words, stdin)
    if name in CONSOLES:
        found = console_code(CONSOLES[name], words, stdin)
        return together(found, _options(name, words)) if name in OPTION_CODE else found
    if name in LANGUAGES:
        return started_code(name, words, stdin)
    if base := language(name):
        return inline_code(base, words, stdin)
    if name in _MAKES:
        return make(words, stdin)
    if name == "tar":
        return together(_tar(words), _options(name, words))
    if name in ("apt", "apt-get"):
        return _apt(words)
    return _options(name, words) if name in OPTION_CODE else NONE


def _options(name: str, words: Sequence[Argument]) -> Embedded:
    known = OPTION_CODE[name]
    codes: list[str] = []
    for index, word in enumerate(words[1:], 1):
        option, equals, value = word.value.partition("=")
        if word.value in known:
            codes.append(words[index + 1].value if index + 1 < len(words) else "")
        elif equals and option.startswith("--") and option in known:
            codes.append(value)
        elif word.value[:2] in known and not word.value.startswith("--") and name not in ("nc", "ncat"):
            codes.append(word.value[2:])
    return Embedded(tuple(code_text(code) for code in codes if code and not code.startswith("-")))


def option_words(name: str, words: Sequence[Argument]) -> Iterator[tuple[Argument, ...]]:
    """Command lines in options that the program splits into words by itself, with no shell."""
    known = OPTION_WORDS.get(name, frozenset())
    for index, word in enumerate(words[1:], 1):
        option, equals, value = word.value.partition("=")
        if known and words[index - 1].value in known and index > 1:
            yield split_words(word.value)
        elif equals and option.startswith("--") and option in known:
            yield split_words(value)
        elif word.value[:2] in known and len(word.value) > 2 and not word.value.startswith("--"):
            yield split_words(word.value[2:])


def _tar(words: Sequence[Argument]) -> Embedded:
    codes: list[str] = []
    for index, word in enumerate(words):
        value = word.value
        if value == "--checkpoint-action" and index + 1 < len(words):
            value = "--checkpoint-action=" + words[index + 1].value
        match = re.match(r"--checkpoint-a\w*=exec=(.*)\Z", value, re.DOTALL)
        if match:
            codes.append(code_text(match.group(1)))
    return Embedded(tuple(codes))


_HOOK = re.compile(r".*-Invoke(?:-Success)?(?:::)?=(.+)\Z", re.IGNORECASE | re.DOTALL)


def _apt(words: Sequence[Argument]) -> Embedded:
    """-o DPkg::Pre-Invoke::=code"""
    matches = [_HOOK.match(word.value) for word in words[1:]]
    return Embedded(tuple(code_text(match.group(1)) for match in matches if match))
