"""Scripts that a call is about to run: which files they are, and whether their bytes are shell text.

What was written in harmless pieces over many calls is one program when it runs, so its bytes are
judged at that boundary and not before. Pure; disk.py reads the file. The agent opens the path again
after our answer, so this is best effort and no lock on the file.
"""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, ActionFacts, Command, Effect

MAX_SCRIPTS: Final = 4  # of one call
MAX_BYTES: Final = 64 * 1024  # as much as a command may have

_SHELLS: Final = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh"))
_LOADERS: Final = frozenset(("source", "."))
_SHEBANG_BYTES: Final = 256


class Candidate(msgspec.Struct, frozen=True):
    """One file that a command of the call runs. ``direct``: by its own path; its first line says how."""

    command_id: int
    path: str
    direct: bool


class Script(msgspec.Struct, frozen=True):
    """What was read. ``skipped`` says why there is no text, in a closed word; "" when there is one."""

    path: str
    text: str = ""
    skipped: str = ""


def candidates(facts: ActionFacts) -> tuple[Candidate, ...]:
    """The files this call runs or loads as shell text, each once, at most MAX_SCRIPTS."""
    found: dict[str, Candidate] = {}
    for fact in facts.paths:
        if fact.access is not Access.EXECUTE or not fact.resolved or fact.expands or fact.globs:
            continue
        command = facts.command(fact.command_id)
        if command is None or command.effect is not Effect.EXECUTE:
            continue
        direct = _runs_itself(command, fact.value)
        if direct or command.program in _SHELLS or command.program in _LOADERS:
            found.setdefault(fact.resolved, Candidate(command.id, fact.resolved, direct))
    return tuple(found.values())[:MAX_SCRIPTS]


def read_as_shell(path: str, data: bytes, *, direct: bool) -> Script:
    """The script's text, without its first line when that names the interpreter."""
    if len(data) > MAX_BYTES:
        return Script(path, skipped="too-large")
    first, _, rest = data.partition(b"\n")
    if first.startswith(b"#!"):
        if not _is_shell(first):
            return Script(path, skipped="not-shell")
        data = rest
    elif direct:
        return Script(path, skipped="no-shebang")  # the kernel refuses it; a shell may still try
    try:
        return Script(path, text=data.decode("utf-8"))
    except UnicodeDecodeError:
        return Script(path, skipped="not-text")


def _runs_itself(command: Command, value: str) -> bool:
    return "untrusted-path" in command.details and command.executable == value


def _is_shell(first: bytes) -> bool:
    """``#!/abs/shell`` or ``#!/usr/bin/env shell``; options don't change that it is shell text."""
    if len(first) > _SHEBANG_BYTES or b"\r" in first:
        return False
    words = first[2:].split()
    if words[:1] == [b"/usr/bin/env"]:
        words = [word for word in words[1:] if not word.startswith(b"-")]
    return bool(words) and words[0].rpartition(b"/")[2].decode("ascii", "replace") in _SHELLS
