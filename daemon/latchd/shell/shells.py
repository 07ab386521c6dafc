"""Shells and the builtins that read code: `bash -c`, stdin, eval, source, trap."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from latch_contracts.facts import Argument, Issue, Quote, Reach
from latchd.shell.child import NOTHING, Child, Unwrapped, joined
from latchd.shell.listing import Input
from latchd.shell.parse import code_text


def is_stream(word: Argument) -> bool:
    """Whether a file is what a command of this text writes: `<(…)`, an open descriptor."""
    if word.value.startswith(("/dev/fd/", "/proc/self/fd/")):
        return True
    return word.value == "\0" and word.quote is Quote.NONE and not word.globs


def stdin_code(
    stdin: Input, issues: tuple[Issue, ...] = (), parameters: tuple[Argument, ...] | None = None
) -> Unwrapped:
    """A shell that takes its program from stdin."""
    if stdin.text is not None:
        child = Child(code=stdin.text, reads=Input(True), parameters=parameters)
        return Unwrapped((child,), issues, runs_input=True)
    return Unwrapped(issues=(*issues, Issue.OPAQUE_ARTIFACT), runs_input=True)


def shell(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """bash, sh and kin: -c text, a script, or stdin."""
    index = 1
    from_stdin = command = noexec = False
    issues: tuple[Issue, ...] = ()
    while index < len(words):
        value = words[index].value
        if value in ("--help", "--version"):
            return NOTHING
        if value in ("--rcfile", "--init-file"):
            if any(map(is_stream, words[index + 1 : index + 2])):
                issues = (Issue.OPAQUE_ARTIFACT,)
            index += 2
        elif value in ("-", "--"):
            index += 1
            break
        elif value == "--command":
            command = True
            index += 1
        elif value.startswith("--"):
            index += 1
        elif value[:1] in ("-", "+") and len(value) > 1:
            letters = value[1:]
            command |= "c" in letters and value[0] == "-"
            from_stdin |= "s" in letters
            noexec |= "n" in letters and value[0] == "-"
            index += 1 + sum(letters.count(letter) for letter in "oO")
        else:
            break
    rest = words[index:]
    if noexec:
        return Unwrapped(issues=issues)
    if command:
        if not rest:
            return Unwrapped(issues=issues)
        given = tuple(rest[1:]) or (words[0],)
        return Unwrapped((Child(code=code_text(rest[0].value), head=index, parameters=given),), issues)
    if rest and not from_stdin:
        if rest[0].value in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            return stdin_code(stdin, issues, tuple(rest))
        if is_stream(rest[0]):
            opaque = (*issues, Issue.OPAQUE_ARTIFACT)
            return Unwrapped(issues=opaque, runs_input=True, stream=0 if issues else index)
        return Unwrapped(issues=issues)
    given = (words[0], *rest)
    return stdin_code(stdin, issues, given) if stdin.given or from_stdin else Unwrapped(issues=issues)


def evaluate(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    rest = words[2:] if len(words) > 1 and words[1].value == "--" else words[1:]
    return Unwrapped((Child(code=joined(rest), straight=True),)) if rest else NOTHING


def source(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    rest = words[1:]
    if rest and rest[0].value == "-p":  # the directories to look for FILE in
        rest = rest[2:]
    elif rest and rest[0].value.startswith("-p"):
        rest = rest[1:]
    rest = rest[1:] if rest and rest[0].value == "--" else rest
    if not rest:
        return NOTHING
    if rest[0].value in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        found = stdin_code(stdin)
        return msgspec.structs.replace(found, forgets=True)
    if is_stream(rest[0]):
        place = len(words) - len(rest)
        return Unwrapped(issues=(Issue.OPAQUE_ARTIFACT,), runs_input=True, forgets=True, stream=place)
    return Unwrapped(forgets=True)


def trap(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    rest = [word for word in words[1:] if word.value != "--"]
    if len(rest) < 2 or rest[0].value in ("-", "", "-l", "-p") or rest[0].value.isdigit():
        return NOTHING
    return Unwrapped((Child(code=code_text(rest[0].value), reach=Reach.DEFERRED, wraps=False),))
