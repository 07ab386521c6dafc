"""Shell commands inside another language's code: awk, sed, perl, python … and options that name one.

Only literal calls are read. Code that starts processes in a way that can't be read is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.redirects import code_text
from latchd.shell.wrappers import OPTION_CODE


class Embedded(msgspec.Struct, frozen=True):
    """Shell code found (bytes view), and whether some of it could not be read."""

    codes: tuple[str, ...] = ()
    opaque: bool = False


NONE: Final = Embedded()
_STRING = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_AWK = re.compile(r"system\s*\(\s*|\|&?\s*getline|\bprintf?\b[^;}\n|]*\|&?\s*(?!\|)")
_AWK_SYSTEM = re.compile(r"system\s*\(\s*" + _STRING + r"\s*\)")
_AWK_GETLINE = re.compile(r"(?:\A|[{;(\n!=<>&|])\s*" + _STRING + r"\s*\|&?\s*getline")
_AWK_PRINT = re.compile(r"\bprintf?\b[^;}\n|]*\|&?\s*" + _STRING + r"\s*(?:[;}\n]|\Z)")
_CALLS = re.compile(
    r"\b(?:os\.system|os\.popen|subprocess\.\w+|system|exec|popen|execSync|spawnSync|spawn|shell_exec|passthru|proc_open|"
    r"check_output|check_call|getoutput|backtick|qx)\s*[(\[{ ]\s*\[?\s*" + _STRING
)
_STARTS = re.compile(
    r"os\.system|os\.popen|os\.exec|os\.spawn|posix_spawn|pty\.spawn|subprocess"
    r"|child_process|\bsystem\b|\bexec\w*\s*[(\[ ]|\bpopen|"
    r"\bspawn|shell_exec|passthru|proc_open|`|\bqx\b|%x[{(\[]|IO\.popen|Open3|getoutput"
)
_BACKTICK = re.compile(r"`([^`]*)`|\bqx[{(/|]([^})/|]*)[})/|]|%x[{(\[]([^})\]]*)[})\]]")
_INLINE: Final = {
    "perl": "eE", "ruby": "e", "python": "c", "python2": "c", "python3": "c", "node": "ep",
        "nodejs": "ep", "bun": "e",
    "deno": "", "php": "r", "lua": "e", "rscript": "e", "osascript": "e", "tclsh": "", "expect": "c",
    "julia": "e",
}  # fmt: skip
_AWKS: Final = frozenset({"awk", "gawk", "mawk", "nawk", "original-awk"})
_EDITORS: Final = frozenset({"vim", "vi", "nvim", "ex", "view", "vimdiff", "rvim", "gvim"})


def embedded(name: str, words: Sequence[Argument], stdin: str | None) -> Embedded:
    """The shell code in the words of one command; ``stdin`` is its literal input, if known."""
    base = (
        re.sub(r"[\d.]+\Z", "", name) if name.startswith(("python", "ruby", "perl", "php", "lua")) else name
    )
    if name in _AWKS:
        return _awk(words)
    if name in ("sed", "gsed", "ssed"):
        return _sed(words)
    if base in _INLINE or name in _INLINE:
        return _inline(base if base in _INLINE else name, words, stdin)
    if name in _EDITORS:
        return _editor(words)
    if name in ("ed", "red") and stdin is not None:
        return Embedded(tuple(line[1:] for line in stdin.splitlines() if line.startswith("!")))
    if name == "tar":
        return _join(_tar(words), _options(name, words))
    return _options(name, words) if name in OPTION_CODE else NONE


def _join(*parts: Embedded) -> Embedded:
    return Embedded(tuple(code for part in parts for code in part.codes), any(part.opaque for part in parts))


def _options(name: str, words: Sequence[Argument]) -> Embedded:
    codes: list[str] = []
    for index, word in enumerate(words[1:], 1):
        option, equals, value = word.value.partition("=")
        following = words[index + 1].value if index + 1 < len(words) else ""
        for known in OPTION_CODE[name]:
            if word.value == known:
                codes.append(following)
            elif known.startswith("--") and equals and option == known:
                codes.append(value)
            elif (
                not known.startswith("--")
                and len(known) == 2
                and word.value.startswith(known)
                and name not in ("nc", "ncat")
            ):
                codes.append(word.value[2:])
    return Embedded(tuple(code_text(code) for code in codes if code and not code.startswith("-")))


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


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _awk(words: Sequence[Argument]) -> Embedded:
    programs: list[str] = []
    index, by_file = 1, False
    while index < len(words):
        value = words[index].value
        if value in ("-f", "--file", "-F", "-v", "--assign", "--field-separator", "-i", "--include", "-l"):
            by_file |= value in ("-f", "--file")
            index += 2
        elif value in ("-e", "--source") and index + 1 < len(words):
            programs.append(words[index + 1].value)
            by_file = True
            index += 2
        elif value == "--":
            index += 1
            break
        elif value.startswith("-") and len(value) > 1:
            index += 1
        else:
            break
    if not by_file and index < len(words):
        programs.append(words[index].value)
    codes: list[str] = []
    opaque = False
    for program in programs:
        bare = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: '"' + "_" * (len(m.group()) - 2) + '"', program)
        wanted = len(_AWK.findall(bare))
        found = [
            m.group(1) for rule in (_AWK_SYSTEM, _AWK_GETLINE, _AWK_PRINT) for m in rule.finditer(program)
        ]
        codes += [code_text(_unquote(text)) for text in found]
        opaque |= wanted > len(found)
    return Embedded(tuple(codes), opaque)


_SED_ADDRESS = re.compile(
    r"\s*(?:\d+|\$|/(?:\\.|\[[^\]]*\]|[^/\\])*/[IM]*|\\(.)(?:(?!\1).)*\1)?\s*(?:[,~+]\s*(?:\d+|\$|[+~]\d+|/(?:\\.|[^/\\])*/[IM]*))?\s*!?\s*"
)


def _sed(words: Sequence[Argument]) -> Embedded:
    scripts: list[Argument] = []
    index = 1
    explicit = False
    operands: list[Argument] = []
    while index < len(words):
        value = words[index].value
        if value in ("-e", "--expression") and index + 1 < len(words):
            scripts.append(words[index + 1])
            explicit = True
            index += 2
        elif value.startswith("--expression="):
            scripts.append(Argument(value.partition("=")[2]))
            explicit = True
            index += 1
        elif value in ("-f", "--file"):
            explicit = True
            index += 2
        elif re.match(r"-[nErszu]*e.", value):
            scripts.append(Argument(re.sub(r"\A-[nErszu]*e", "", value)))
            explicit = True
            index += 1
        elif re.match(r"-[nErsizu]+e\Z", value) and index + 1 < len(words):
            scripts.append(words[index + 1])
            explicit = True
            index += 2
        elif value.startswith("-") and len(value) > 1:
            if "--sandbox" in value:
                return NONE
            index += 2 if value == "-l" else 1
        else:
            operands.append(words[index])
            index += 1
    if not explicit and operands:
        scripts.append(operands[0])
    return _join(*[_sed_script(script.value) for script in scripts])


def _sed_script(text: str) -> Embedded:
    """The `e` command and the `e` flag of `s`; a script that can't be followed is opaque only if it has"
    " an e."""
    codes: list[str] = []
    at = 0
    while at < len(text):
        match = _SED_ADDRESS.match(text, at)
        at = match.end() if match else at
        if at >= len(text):
            break
        command = text[at]
        at += 1
        if command in "sy":
            end = _sed_parts(text, at)
            if end < 0:
                return Embedded(
                    tuple(codes), opaque=False
                )  # an unfinished command is an error and runs nothing
            flags = re.compile(r"[gpiImMe0-9]*").match(text, end)
            if flags and command == "s" and "e" in flags.group():
                return Embedded(tuple(codes), opaque=True)
            at = flags.end() if flags else end
            if text[at : at + 1] == "w":
                at = _line_end(text, at)
        elif command == "e":
            end = _line_end(text, at)
            code = text[at:end].strip()
            if not code:
                return Embedded(tuple(codes), opaque=True)
            codes.append(code_text(code))
            at = end
        elif command in "aicrRwWbtTqQlL:#v":
            if command in "aic":
                while (end := _line_end(text, at)) < len(text) and text[end - 1] == "\\":
                    at = end + 1
                at = end
            else:
                end = _line_end(text, at)
                stop = text.find(";", at, end) if command in "btTqQlL" else -1
                at = stop if stop >= 0 else end
        elif command == "\0":
            return Embedded(tuple(codes), opaque=False)
    return Embedded(tuple(codes))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _sed_parts(text: str, at: int) -> int:
    """The place after the third delimiter of `s` or `y`; -1 if it isn't there."""
    if at >= len(text):
        return -1
    delimiter = text[at]
    at += 1
    left = 2
    bracket = False
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif bracket:
            bracket = char != "]"
        elif char == "[" and left == 2 and delimiter != "[":
            close = text.find("]", at + 2)
            bracket = close >= 0 and "\n" not in text[at:close] and delimiter in text[at:close]
        elif char == delimiter:
            left -= 1
            if left == 0:
                return at + 1
        at += 1
    return -1


def _inline(name: str, words: Sequence[Argument], stdin: str | None) -> Embedded:
    letters = _INLINE[name]
    programs: list[str] = []
    operands = False
    index = 1
    while index < len(words):
        value = words[index].value
        if re.match(r"-[A-Za-z]*[" + (letters or "\0") + r"]\Z", value) and index + 1 < len(words):
            programs.append(words[index + 1].value)
            index += 2
            if name.startswith("python"):
                break
            continue
        if value in ("--eval", "--print", "eval") and index + 1 < len(words):
            programs.append(words[index + 1].value)
            index += 1
        elif not value.startswith("-"):
            operands = True
            break
        index += 1
    if not programs and not operands and stdin is not None:
        programs.append(stdin)
    codes: list[str] = []
    opaque = False
    for program in programs:
        if not _STARTS.search(program):
            continue
        found = [_unquote(match.group(1)) for match in _CALLS.finditer(program)]
        if name in ("perl", "ruby", "php"):
            found += [next(filter(None, match.groups()), "") for match in _BACKTICK.finditer(program)]
        codes += [code_text(code) for code in found if code]
        opaque = True  # what else it starts can't be told from its text
    return Embedded(tuple(codes), opaque)


def _editor(words: Sequence[Argument]) -> Embedded:
    codes: list[str] = []
    opaque = False
    for index, word in enumerate(words[1:], 1):
        text = word.value[1:] if word.value.startswith("+") else ""
        if words[index - 1].value in ("-c", "--cmd"):
            text = word.value
        if "!" in text:
            codes.append(code_text(text.partition("!")[2]))
        opaque |= bool(re.search(r"system\(|:?\bterm", text))
    return Embedded(tuple(codes), opaque)
