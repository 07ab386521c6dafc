"""Launchers that take a subcommand first: `poetry run rm x`, `doppler run -- rm x`, `npx rimraf x`.

The program behind one is a command of its own. An option that is not in the tables makes the facts less
than complete, as with any other wrapper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue
from latchd.shell.child import NOTHING, Child, Unwrapped, joined, program_name, suspected_tail, word_at
from latchd.shell.directories import directories, moved
from latchd.shell.launcher_tables import ANY, LAUNCHERS
from latchd.shell.listing import Input
from latchd.shell.options import parse_options
from latchd.shell.parse import code_text
from latchd.shell.wrappers import Options, Tail, names

# Options that send a launcher, and with it what it starts, to a directory; ahead of the subcommand or behind.
_DIRECTORIES: Final[Mapping[str, Options]] = {
    "npm": Options(directory=names("--prefix -C")), "npx": Options(directory=names("--prefix -C")),
    "pnpm": Options(directory=names("--dir -C")), "pnpx": Options(directory=names("--dir -C")),
    "yarn": Options(directory=names("--cwd")), "bun": Options(directory=names("--cwd")),
    "bunx": Options(directory=names("--cwd")),
    "uv": Options(values="pfi", directory=names("--directory")),
    "uvx": Options(values="pfi", directory=names("--directory")),
    "poetry": Options(values="P", directory=names("--directory -C")),
    "conda": Options(directory=names("--cwd")), "mamba": Options(directory=names("--cwd")),
    "micromamba": Options(directory=names("--cwd")),
    "mise": Options(values="E", directory=names("--cd -C")),
    "just": Options(values="f", directory=names("--working-directory -d")),
    "cargo": Options(values="xwiE", directory=names("--workdir -C")),
}  # fmt: skip
_MAY_STAY: Final = names("npm npx")  # where its scripts run, not always what it is told to start
_PACKAGES: Final = names("npx bunx pnpx npm pnpm yarn bun uvx pipx")
_SCOPED = re.compile(r"((?:@[^@/]+/)?[^@/]+)(?:@[^/]*)?\Z")
# Packages whose program has another name than the package.
_PROGRAMS: Final[Mapping[str, str]] = {
    "@anthropic-ai/claude-code": "claude", "@google/gemini-cli": "gemini", "@openai/codex": "codex",
    "@qwen-code/qwen-code": "qwen", "opencode-ai": "opencode", "@sourcegraph/amp": "amp",
    "@github/copilot": "copilot", "@augmentcode/auggie": "auggie", "@charmland/crush": "crush",
    "claude-code": "claude", "gemini-cli": "gemini", "qwen-code": "qwen",
    "@angular/cli": "ng", "typescript": "tsc", "@railway/cli": "railway", "@bitwarden/cli": "bw",
    "@infisical/cli": "infisical", "aider-chat": "aider", "kimi-cli": "kimi", "httpie": "http",
}  # fmt: skip
_VERSIONED = re.compile(r"([^@/\\]+)@[^/]*\Z")


def launcher(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """The command behind a launcher's subcommand and options."""
    name = program_name(words[0].value)
    found = _subcommand(words, LAUNCHERS[name])
    if found is None:
        return NOTHING
    options, first = found
    codes: tuple[Child, ...] = ()
    start, unknown = len(words), False
    if options.codes or not options.after:
        parsed = parse_options(words, options, first)
        if parsed.stopped:
            return NOTHING
        codes = tuple(
            Child(code=code_text(code.value), head=parsed.start, remote=options.remote)
            for code in parsed.codes
        )
        if codes and name != "perf":  # what perf names there runs beside the command
            return Unwrapped(_there(name, words, parsed.start, codes))
        start, unknown = parsed.start, parsed.unknown
    if options.after:
        start = next((i + 1 for i, word in enumerate(words) if i >= first and word.value in options.after), 0)
        unknown = False
        if not start:
            return Unwrapped(suspected=suspected_tail(words))
    elif start < len(words) and words[start].value == "--":
        start += 1
    tail = tuple(words[start:])
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if unknown else ()
    if not tail:
        return Unwrapped(codes, issues)
    if options.tail is Tail.SHELL:
        child = Child(code=joined(tail), head=start, remote=options.remote)
    else:
        child = Child(_plain(name, tail), head=start, remote=options.remote)
    suspected = suspected_tail(words) if unknown else ""
    return Unwrapped(_there(name, words, start, (*codes, child)), issues, suspected=suspected)


def _there(name: str, words: Sequence[Argument], end: int, children: tuple[Child, ...]) -> tuple[Child, ...]:
    """The children in the directory that the launcher was sent to."""
    if name not in _DIRECTORIES:
        return children
    where = directories(words, end, _DIRECTORIES[name])
    if name not in _MAY_STAY:
        return moved(children, where)
    return tuple(msgspec.structs.replace(child, may_stay=True) for child in moved(children, where))


def _subcommand(words: Sequence[Argument], verbs: Mapping[str, Options]) -> tuple[Options, int] | None:
    """The table of the subcommand and the index behind it. What follows an option may be its value."""
    index = 1
    while index < len(words):
        value = words[index].value
        longer = f"{value} {word_at(words, index + 1).value}"
        if longer in verbs:
            return verbs[longer], index + 2
        if value in verbs and value:
            return verbs[value], index + 1
        if not value.startswith("-") and not words[index - 1].value.startswith("-"):
            break
        if value == "--":
            break
        index += 1
    return (verbs[ANY], 1) if ANY in verbs else None


def _plain(name: str, tail: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The program's own name, without a package's version or an environment's name."""
    head = tail[0]
    if name in _PACKAGES and (package := _SCOPED.match(head.value)) and package.group(1) in _PROGRAMS:
        return (msgspec.structs.replace(head, value=_PROGRAMS[package.group(1)]), *tail[1:])
    versioned = _VERSIONED.match(head.value)
    if name in _PACKAGES and versioned:
        head = msgspec.structs.replace(head, value=versioned.group(1))
    elif name == "hatch" and ":" in head.value:
        head = msgspec.structs.replace(head, value=head.value.partition(":")[2] or head.value)
    elif name == "nix" and "#" in head.value:
        head = msgspec.structs.replace(head, value=head.value.rpartition("#")[2])
    elif name == "uv" and head.value.endswith(".py"):
        return (Argument("python"), *tail)
    return (head, *tail[1:])
