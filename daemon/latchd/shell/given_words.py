"""The words that an inline program gets, put into its text: `python -c '… sys.argv[1]' 'rm x'`.

Done for finding what it starts, and only where the word is read by its number or as the whole list. What
the program reads from its input stays what it is: not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from latch_contracts.facts import Argument
from latchd.shell.variables import is_loose

MAX_TEXT: Final = 16_384  # letters of a program that words are put into
MAX_GIVEN: Final = 4096  # letters of the words together

# One word by its number, counted from where the first word has the number in the third place; all words.
_ARGV: Final[Mapping[str, tuple[re.Pattern[str], re.Pattern[str], int]]] = {
    "python": (re.compile(r"\bsys\.argv\[(\d+)\]"), re.compile(r"\bsys\.argv\[1:\]"), 1),
    "node": (re.compile(r"\bprocess\.argv\[(\d+)\]"), re.compile(r"\bprocess\.argv\.slice\(1\)"), 1),
    "perl": (re.compile(r"\$ARGV\[(\d+)\]|\bshift\b(?:\s*\(?@ARGV\)?)?"), re.compile(r"@ARGV\b"), 0),
    "ruby": (re.compile(r"(?<!\*)\bARGV\[(\d+)\]|\bARGV\.(?:shift|first)\b"), re.compile(r"\*ARGV\b"), 0),
    "php": (re.compile(r"\$argv\[(\d+)\]"), re.compile(r"\barray_slice\(\$argv,\s*1\)"), 1),
}
_LISTS: Final = frozenset({"python", "node", "php"})  # where all words are a list in brackets

# Where a program reads what it was not given in its text: lines, standard input, words that are not known.
_READS: Final[Mapping[str, re.Pattern[str]]] = {
    "python": re.compile(r"\bsys\.(stdin|argv)\b|\binput\(|\bfileinput\b|\bopen\(0\)"),
    "node": re.compile(r"\bprocess\.(stdin|argv)\b|readFileSync\((0|['\"]/dev/stdin)"),
    "perl": re.compile(r"\$_\b|<(STDIN|ARGV)?>|@?ARGV\b|\bshift\b"),
    "ruby": re.compile(r"\$_\b|\bARG[VF]\b|\bSTDIN\b|\$stdin\b|\bgets\b|\breadlines?\b|\$<"),
    "php": re.compile(r"\$argv\b|\bSTDIN\b|php://stdin|\bfgets\b|\$argn\b"),
    "lua": re.compile(r"\barg\[|\bio\.(read|lines|stdin)\b"),
}


def with_words(language: str, program: str, given: Sequence[Argument]) -> str:
    """The program with the words it is given in place of what reads them."""
    forms = _ARGV.get(language)
    if forms is None or len(program) > MAX_TEXT or sum(len(word.value) for word in given) > MAX_GIVEN:
        return program
    one, every, first = forms
    program = one.sub(_one(given, first), program)
    if any(map(is_loose, given)) or not given:
        return program
    listed = ", ".join(_quoted(word.value) for word in given)
    return every.sub(lambda _: f"[{listed}]" if language in _LISTS else listed, program)


def reads_more(language: str, program: str) -> bool:
    """Whether the program takes in text that is not its own."""
    pattern = _READS.get(language)
    return pattern is not None and pattern.search(program) is not None


def _one(given: Sequence[Argument], first: int) -> Callable[[re.Match[str]], str]:
    def put(match: re.Match[str]) -> str:
        place = int(match.group(1) or 0) - first if match.group(1) else 0
        if not 0 <= place < len(given):
            return match.group()
        loose = any(map(is_loose, given[: place + 1]))
        return _quoted("\0" if loose else given[place].value)

    return put


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
