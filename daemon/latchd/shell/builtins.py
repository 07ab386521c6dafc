"""What builtins do to the line's own state, and what echo and kin print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.decoders import decoded
from latchd.shell.listing import LIMITS, Input, Listing, Raw, Scope
from latchd.shell.redirects import code_text
from latchd.shell.variables import Variables

_NAME_EVALUATORS: Final = frozenset(
    "let test [ read printf unset wait declare typeset local export readonly mapfile readarray"
    " getopts".split()
)
_TESTS: Final = frozenset("-v -R -t -eq -ne -lt -le -gt -ge".split())
_SCRATCH = re.compile(r"/tmp/\0(/[^\0]*)?\Z")  # noqa: S108 - what words.SCRATCH makes
_NAME = re.compile(r"[A-Za-z_]\w*")
_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)", re.DOTALL)
_NAMED: Final = {
    "n": "\n",
    "t": "\t",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "r": "\r",
    "v": "\v",
}


def evaluates(words: Sequence[Argument]) -> bool:
    """Whether this builtin takes an operand as a formula or as a name, and so evaluates a subscript in it."""
    name = words[0].value
    if name not in _NAME_EVALUATORS:
        return False
    if name == "let":
        return True
    if name in ("test", "["):
        return any(word.value in _TESTS or word.expands for word in words[1:])
    if name == "printf":
        return any(word.value.startswith("-v") for word in words[1:])
    return any(word.expands or "[" in word.value for word in words[1:])


def apply_builtin(listing: Listing, raw: Raw, scope: Scope, variables: Variables) -> None:
    """Take over what a builtin changes for the commands after it."""
    name = raw.words[0].value
    words = raw.words[1:]
    if name == "cd":
        _cd(words, variables)
    elif name == "pushd":
        _cd(words, variables) if len(words) == 1 and not words[0].value.startswith(
            ("+", "-")
        ) else variables.enter(None)
    elif name == "popd":
        variables.enter(None)
    elif name in ("read", "mapfile", "readarray", "getopts", "unset", "let", "wait") or (
        name == "printf" and evaluates(raw.words)
    ):
        variables.forget(
            *(found for word in words for found in _NAME.findall(word.value)), "REPLY", "MAPFILE"
        )
    elif name in ("export", "declare", "typeset", "local", "readonly"):
        if any(re.match(r"[-+]\w*[in]", word.value) for word in words):
            listing.evaluates = True  # what such a name is given later is arithmetic or a name
        variables.forget(
            *(match.group() for word in words if "=" in word.value and (match := _NAME.match(word.value)))
        )
    elif name == "set":
        for index, word in enumerate(words):
            if re.match(r"-[a-zA-Z]*e", word.value) or (
                word.value == "errexit" and words[index - 1].value == "-o"
            ):
                variables.strict = True
            elif word.value.startswith("+"):
                variables.strict = False
    elif name == "alias":
        _alias(listing, words, scope, variables)
    elif name == "hash" and any(re.match(r"-\w*p", word.value) for word in words):
        listing.note(Issue.UNSUPPORTED_CONSTRUCT)
    elif name == "enable" and any(re.match(r"-\w*f", word.value) for word in words):
        listing.note(Issue.OPAQUE_ARTIFACT)
    elif name in ("bind", "complete", "fc") and any(word.value in ("-x", "-C", "-s", "-e") for word in words):
        listing.note(Issue.UNSUPPORTED_CONSTRUCT)


def _cd(words: Sequence[Argument], variables: Variables) -> None:
    operands = [word for word in words if not re.match(r"-[LPe@]+\Z|--\Z", word.value)]
    if not operands:
        home = variables.home if "HOME" not in variables.values else ""
        variables.enter(home or None)
        return
    target = operands[0]
    scratch = target.expands and _SCRATCH.match(target.value) and not target.globs
    if (
        len(operands) > 1
        or target.value == "-"
        or (target.expands and not scratch)
        or target.globs
        or not target.value
    ) or ("CDPATH" in variables.values and not target.value.startswith(("/", "."))):
        variables.enter(None)
    else:
        variables.enter(target.value)


def _alias(listing: Listing, words: Sequence[Argument], scope: Scope, variables: Variables) -> None:
    for word in words:
        name, equals, body = word.value.partition("=")
        if not equals:
            listing.any_alias = listing.any_alias or word.expands
            continue
        if "\0" in name:
            listing.any_alias = True
            continue
        listing.aliases.add(name)
        inner = msgspec.structs.replace(
            scope.within(Reach.DEFERRED), parent=0, nesting=scope.nesting + 1, pipeline=0
        )
        known, before = dict(listing.issues), len(listing.commands)
        listing.text(code_text(body), inner, variables.bare())
        named = not any(raw.words and raw.words[0].expands for raw in listing.commands[before:])
        if named and not LIMITS & listing.issues.keys():  # a use of the name is a doubt of its own
            listing.issues = known


def output_text(words: Sequence[Argument], stdin: Input) -> str | None:
    """What the command prints, as text of the bytes view with holes, if that is known."""
    if not words or any(word.globs and "\0" not in word.value for word in words):
        return None
    name = words[0].value.rpartition("/")[2]
    if name == "echo":
        return _echo(words[1:])
    if name == "printf":
        return _printf(words[1:])
    if stdin.text is not None and (found := decoded(name, words, stdin.text)) is not None:
        return found
    if name in ("cat", "tee") and stdin.given:
        operands = [word.value for word in words[1:] if not word.value.startswith("-") or word.value == "-"]
        if name == "tee" or not operands or operands == ["-"]:
            return stdin.text
    return None


def _echo(words: Sequence[Argument]) -> str:
    index, newline, escapes = 0, True, False
    while index < len(words) and re.match(r"-[neE]+\Z", words[index].value):
        newline &= "n" not in words[index].value
        escapes |= "e" in words[index].value
        index += 1
    text = " ".join(word.value for word in words[index:])
    if escapes:
        text = _unescape(text)
    return code_text(text) + ("\n" if newline else "")


def _printf(words: Sequence[Argument]) -> str | None:
    if not words or words[0].value.startswith("-"):
        return None
    form = words[0].value
    holders = re.findall(r"%%|%[^%]*?[a-zA-Z]", form)
    values = [word.value for word in words[1:]]
    wanted = [holder for holder in holders if holder != "%%"]
    if any(holder not in ("%s", "%b", "%d", "%%") for holder in holders):
        return None
    text = _unescape(form)
    if not wanted:
        return code_text(text.replace("%%", "%"))
    rounds = max(1, -(-len(values) // len(wanted)))
    if rounds * len(text) > 65536:
        return None
    filling = iter([*values, *[""] * (rounds * len(wanted) - len(values))])
    return code_text(
        re.sub(
            r"%%|%[sbd]",
            lambda m: "%" if m.group() == "%%" else _filled(m.group(), next(filling)),
            text * rounds,
        )
    )


def _filled(holder: str, value: str) -> str:
    return _unescape(value) if holder == "%b" else value


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _NAMED.get(code, code if code == "\\" else match.group())

    return _ESCAPE.sub(one, text)
