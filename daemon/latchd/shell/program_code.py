"""Commands that code in an argument starts: `python -c`, `node -e`, `perl -e`, `ruby -e`, `php -r`.

The calls are found by the same reading that finds the code's other effects (grammar/inline.py). Code
that starts processes at all is opaque as well: what else it starts can't be told from its text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import NONE, Embedded
from latchd.shell.given_words import reads_more, with_words
from latchd.shell.grammar.description import Description
from latchd.shell.grammar.inline import inline
from latchd.shell.grammar.options import parse
from latchd.shell.grammar.registry import find
from latchd.shell.parse import HOLE, code_text

_STARTS = re.compile(
    r"os\.system|os\.popen|os\.exec|os\.spawn|posix_spawn|pty\.spawn|subprocess"
    r"|child_process|\bsystem\b|\bexec\w*\s*[(\[ ]|\bpopen|"
    r"\bspawn|shell_exec|passthru|proc_open|`|\bqx\b|%x[{(\[]|IO\.popen|Open3|getoutput|os\.execute|io\.popen"
    r"|Deno\.(Command|run)|Bun\.\$|do shell script|\brun\(`"
    r"|\bopen\b[^;\n]{0,200}[\"'](?:\s*\||-\||[^\"'\n]{0,200}\|\s*[\"'])"
)
_QUOTE = re.compile(r"(?:\bqx\s*|%x)([^\w\s,;=>])")
_CLOSING: Final = {"{": "}", "(": ")", "[": "]", "<": ">"}
_MOST_QUOTED: Final = 128  # commands in `qx{}` and `%x{}` that are read of one program
_LONGEST_QUOTED: Final = 2048  # letters of one of them
_APPLE = re.compile(r'do shell script "((?:\\.|[^"\\])*)"')
_INLINE: Final = {
    "perl": "eE", "ruby": "e", "python": "c", "pypy": "c", "node": "ep", "nodejs": "ep", "bun": "e",
    "deno": "", "php": "rBER", "lua": "e", "rscript": "e", "osascript": "e", "tclsh": "", "julia": "e",
}  # fmt: skip
_LANGUAGES: Final = {"nodejs": "node", "bun": "node", "deno": "node", "pypy": "python"}
_VERSION = re.compile(r"[\d.]+\Z")


def language(name: str) -> str:
    """The program's name without its version if it takes code in an argument, else nothing."""
    base = _VERSION.sub("", name)
    return base if base in _INLINE else ""


def inline_code(name: str, words: Sequence[Argument], stdin: str | None) -> Embedded:
    """The commands that the code among the words, or the code on a literal stdin, starts."""
    programs = _programs(name, words, stdin)
    codes: list[str] = []
    opaque = False
    spoken = _LANGUAGES.get(name, name)
    for program in programs:
        if _STARTS.search(program):
            codes += _started(spoken, with_words(spoken, program, _given(words, program)))
            opaque = True
    return Embedded(tuple(codes), opaque) if programs else NONE


def _given(words: Sequence[Argument], program: str) -> Sequence[Argument]:
    """The words behind the one that is the program, or ends in it."""
    for index, word in enumerate(words):
        if index and word.value.endswith(program):
            rest = words[index + 1 :]
            return rest[1:] if rest and rest[0].value == "--" else rest
    return ()


def _by_table(name: str, words: Sequence[Argument], stdin: str | None) -> list[str]:
    """perl and ruby cluster their letters in ways that only their table knows."""
    entry = find(name)
    if entry is None:
        return []
    parsed = parse(entry.options, words[1:])
    programs = [word.value for word in parsed.values(*_INLINE[name])]
    asks = not parsed.operands or parsed.operands[0].value == "-"
    if not programs and asks and stdin is not None:
        programs.append(stdin.replace(HOLE, "\0"))
    return programs


def _programs(name: str, words: Sequence[Argument], stdin: str | None) -> list[str]:
    if name in ("perl", "ruby"):
        return _by_table(name, words, stdin)
    letters = _INLINE[name] or "\0"
    programs: list[str] = []
    operands = False
    index = 1
    while index < len(words):
        value = words[index].value
        following = words[index + 1].value if index + 1 < len(words) else ""
        if re.match(r"-[A-Za-z0-9]*[" + letters + r"]\Z", value) and following:
            programs.append(following)
            index += 2
            if name == "python":
                break
            continue
        attached = re.match(r"-[" + letters + r"](.+)", value, re.DOTALL)
        if attached and name in ("python", "perl", "ruby", "php") and not value.startswith("--"):
            programs.append(attached.group(1))
        elif value in ("--eval", "--print", "eval", "--run") and following:
            programs.append(following)
            index += 1
        elif value.startswith(("--eval=", "--print=", "--run=")):
            programs.append(value.partition("=")[2])
        elif value == "-" or not value.startswith("-"):
            operands = value != "-"
            break
        index += 1
    if not programs and not operands and stdin is not None:
        programs.append(stdin.replace(HOLE, "\0"))
    return programs


def _started(language: str, program: str) -> list[str]:
    found: list[str] = []

    def words(command: Sequence[str]) -> Description:
        if command:
            found.append(" ".join(HOLE if "\0" in word else code_text(shlex.quote(word)) for word in command))
        return Description(known=True)

    def shell(text: str) -> None:
        found.append(code_text(text))

    described = inline(language, Argument(program, expands="\0" in program), words, shell)
    if "opaque-code" in described.details and not found and reads_more(language, program):
        found.append(HOLE)  # what it reads is what it starts
    if language in ("perl", "ruby"):
        found += _quoted(program)
    if language == "osascript":
        found += [code_text(text.replace('\\"', '"')) for text in _APPLE.findall(program)]
    return [code for code in found if code.strip()]


def _quoted(program: str) -> Iterator[str]:
    """The commands of perl's `qx{…}` and ruby's `%x{…}`; a hole for what is too long or too much to read."""
    for number, match in enumerate(_QUOTE.finditer(program)):
        if number == _MOST_QUOTED:
            yield HOLE
            return
        opening, start = match[1], match.end()
        closing = _CLOSING.get(opening, opening)
        depth = 1
        ahead = program[start : start + _LONGEST_QUOTED]
        for mark in re.finditer(f"[{re.escape(opening + closing)}]", ahead):
            depth += 1 if mark.group() != closing else -1
            if depth == 0:
                yield code_text(ahead[: mark.start()])
                break
        else:
            if len(program) - start > _LONGEST_QUOTED:
                yield HOLE
                return
