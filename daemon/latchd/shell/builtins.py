"""What builtins do to the line's own state, and what echo and kin print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import program_name, quoted
from latchd.shell.listing import LIMITS, Listing, Raw, Scope
from latchd.shell.parse import code_text
from latchd.shell.variables import HOLE, Variables, is_loose

_NAME_EVALUATORS: Final = frozenset(
    "let test [ read printf unset wait declare typeset local export readonly mapfile readarray"
    " getopts".split()
)
_TESTS: Final = frozenset("-v -R -t -eq -ne -lt -le -gt -ge".split())
_SCRATCH = re.compile(r"/tmp/\0(/[^\0]*)?\Z")  # noqa: S108 - what words.SCRATCH makes
_NAME = re.compile(r"[A-Za-z_]\w*")


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
    if name in ("complete", "compgen", "export", "declare", "typeset"):
        _name_functions(listing, words)
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
        own = bool(scope.calls) and name in ("declare", "typeset", "local")  # with no value it has none
        variables.forget(
            *(
                match.group()
                for word in words
                if (own or "=" in word.value) and (match := _NAME.match(word.value))
            )
        )
    elif name == "shift":
        count = words[0].value if words else "1"
        variables.shift(int(count) if count.isdecimal() and len(count) < 4 else None)
    elif name == "set":
        _set(words, variables)
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
        path = [words[index + 1] for index, word in enumerate(words[:-1]) if re.match(r"-\w*p\Z", word.value)]
        for word in words[2:] if path else ():  # the name stands for that file from here on
            if not word.value.startswith("-") and "\0" not in path[0].value:
                listing.aliases.add(word.value)
                listing.bodies[word.value] = quoted(path)
    elif name == "enable" and any(re.match(r"-\w*f", word.value) for word in words):
        listing.note(Issue.OPAQUE_ARTIFACT)
    elif name == "bind" and any(word.value.startswith("-x") for word in words):
        _bind(listing, words, scope, variables)
    elif name in ("bind", "complete", "fc") and any(word.value in ("-x", "-C", "-s", "-e") for word in words):
        listing.note(Issue.UNSUPPORTED_CONSTRUCT)


def _set(words: Sequence[Argument], variables: Variables) -> None:
    """`set … -- a b` and `set a b` give the parameters new values."""
    index = 0
    while index < len(words):
        value = words[index].value
        if value in ("--", "-") or value[:1] not in ("-", "+") or len(value) == 1:
            break
        index += 1 + value.count("o")
    rest = words[index:]
    if not rest or (rest[0].value == "-" and len(rest) == 1):
        return
    own = rest[1:] if rest[0].value in ("--", "-") else rest
    if is_loose(rest[0]) and rest is own:  # it may be an option, or nothing
        variables.parameters = None
        return
    zero = HOLE if variables.parameters is None else variables.parameters[0]
    variables.give((zero, *own))


def _name_functions(listing: Listing, words: Sequence[Argument]) -> None:
    """Functions that something else is told of may be called with any words."""
    for word in words:
        if (function := listing.functions.get(word.value)) is not None:
            function.whole = False


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


def _bind(listing: Listing, words: Sequence[Argument], scope: Scope, variables: Variables) -> None:
    """`bind -x '"\\C-x": command'`: run when that key is pressed."""
    inner = msgspec.structs.replace(scope.within(Reach.DEFERRED), nesting=scope.nesting + 1, pipeline=0)
    for word in words:
        _, colon, code = word.value.removeprefix("-x").partition(":")
        if colon:
            code = code.strip()
            code = code[1:-1] if code[:1] == '"' == code[-1:] and len(code) > 1 else code
            listing.text(code_text(code), inner, variables.bare())
        elif not word.value.startswith("-"):
            listing.note(Issue.UNSUPPORTED_CONSTRUCT)


def _is_named(raw: Raw) -> bool:
    """Whether the command's program is told by its first word."""
    first = raw.words[0]
    return not (first.expands or first.globs) and bool(program_name(first.value))


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
        named = all(_is_named(raw) for raw in listing.commands[before:] if raw.words)
        if named and not LIMITS & listing.issues.keys():  # a use of the name is a doubt of its own
            listing.issues = known
        listing.bodies[name] = code_text(body)
