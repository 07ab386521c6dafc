"""What a tool of another server removes or writes: told by its name, because its program is not seen.

A server names its tools for people: `delete_project`, `drop-collection`, `write_file`. A name is no proof,
so what is removed elsewhere is asked about; a file of this machine is judged by its place, as any write is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.contract import Surface
from latch_contracts.facts import Command, PathFact
from latch_contracts.verdict import Route, Severity
from latchd.guard.groups import Group
from latchd.guard.paths import Place
from latchd.guard.places import control_plane, credential, hook_file, own, persistence, protected
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.guard.targets import shown, where

_OPAQUE: Final = (Surface.MCP, Surface.GENERIC)
_EDGE: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_REMOVES: Final = frozenset(
    "delete drop destroy purge truncate terminate flushall flushdb flush wipe erase nuke uninstall".split()
)
# What is removed by the name of these costs nothing to make again, or was only ever in the conversation.
_LIGHT: Final = frozenset(
    "memory memories entity entities relation relations observation observations note thought todo task "
    "reminder session tab page cookie cookies cache breakpoint reaction comment draft bookmark filter marker "
    "selection element node layer shape cell highlight label event alarm timer".split()
)
_WRITES: Final = frozenset(
    "write create edit append move copy rename delete remove save put update replace insert patch overwrite "
    "download mkdir touch modify".split()
)


def _tool_words(subject: Subject) -> tuple[str, ...]:
    """The words of the tool's own name, lower-case; its server's name is not among them."""
    call = subject.event.call
    if call is None or call.surface not in _OPAQUE:
        return ()
    name = call.tool.rpartition("__")[2] or call.tool
    return tuple(word.lower() for word in _EDGE.split(name) if word)


def _removes(subject: Subject) -> Iterator[Hit]:
    words = _tool_words(subject)
    if subject.facts.paths or not _REMOVES & set(words) or _LIGHT & set(words):
        return
    name = "_".join(words)[:60]
    yield Hit(1, name, f"the tool `{name}` removes something by its name", "let the person do it")


def _written(subject: Subject) -> Iterator[tuple[Command, PathFact]]:
    if not _WRITES & set(_tool_words(subject)):
        return
    for fact in subject.facts.paths:
        command = subject.facts.command(fact.command_id)
        if command is not None:
            yield command, fact


_GRAVE: Final = frozenset((Place.ROOT, Place.HOME, Place.SYSTEM, Place.REPOSITORY, Place.DEVICE))


def _writes(subject: Subject) -> Iterator[Hit]:
    for command, fact in _written(subject):
        path = fact.resolved or fact.value
        told = (
            own(path, subject.home)
            or hook_file(path, subject.home)
            or protected(path, subject.home, subject.policy.protected)
            or persistence(path, subject.home)
            or control_plane(path, subject.home)
            or credential(path, subject.home)
        )
        if told or where(subject, fact) in _GRAVE:
            yield Hit(
                command.id,
                shown(fact),
                f"`{shown(fact)}` is changed by a tool, and is no file of the project's work",
                "leave it as it is, or ask the person",
            )


def _writes_outside(subject: Subject) -> Iterator[Hit]:
    for command, fact in _written(subject):
        if where(subject, fact) is Place.OUTSIDE:
            yield Hit(
                command.id,
                shown(fact),
                f"`{shown(fact)}` is outside the write roots, and a tool changes it",
                "write it in the project",
            )


RULES: Final = (
    Rule(
        "write.by-tool",
        "a tool of a server changes a protected path",
        Group.PROTECTED,
        Severity.HIGH,
        _writes,
        route=Route.FALLBACK,
    ),
    Rule(
        "write.by-tool-outside",
        "a tool of a server writes outside the write roots",
        Group.WRITE_OUTSIDE,
        Severity.MEDIUM,
        _writes_outside,
        route=Route.FALLBACK,
    ),
    Rule(
        "infra.tool-loss",
        "a tool of a server removes something",
        Group.UNUSUAL,
        Severity.HIGH,
        _removes,
        route=Route.FALLBACK,
    ),
)
