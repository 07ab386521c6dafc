"""What a rule needs to see in a call before it is worth asking: one trait of a list.

A prefilter and no more: a rule whose needs are met still decides by itself, and one that states none is
always asked. INVARIANT (a prefilter hides nothing): a rule finds the same with and without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from latch_contracts.facts import Command, End, Flavor, Grammar, Kind, Operation, PathFact, Status
from latchd.guard.whereto import of_path, of_peer
from latchd.shell.grammar.registry import plain_name

if TYPE_CHECKING:
    from latchd.guard.subject import Subject

# What rules about text look for, each told as a trait: it is cheaper to look once than once for each rule.
_TEXT_MARKS: Final = ("LATCHD_", "XDG_", "()", "$", "@P}", "done")
_WORDS: Final = frozenset(("publish", "upload"))
_ASSIGNS: Final = re.compile(r"[A-Z0-9_]\+?=")
_SOCKETS: Final = ("/dev/tcp/", "/dev/udp/")

# What comes in may be run, and what is read may go out: rules about both need both.
_BRINGS: Final = frozenset(("network", "operation fetch"))
_SENDS: Final = frozenset(("network", "operation upload"))
_HOLDS: Final = frozenset(("access read", "operation credential_read", "operation environment_read"))
_RUNNERS: Final = frozenset(
    "sh bash dash zsh ksh fish csh tcsh ash busybox eval source . python python2 python3 node nodejs deno "
    "bun perl ruby php lua rscript osascript pwsh powershell xargs".split()
)

Needs = frozenset[str]


def needs(text: str) -> Needs:
    """The traits of a table's row, set apart by commas; ``access write append`` is two traits."""
    found: set[str] = set()
    for trait in text.split(","):
        kind, *values = trait.split()
        found.update(f"{kind} {value}" for value in values) if values else found.add(kind)
    return frozenset(found)


def traits(subject: Subject) -> frozenset[str]:
    """Everything about a call that a rule may need; read once for all participants."""
    kept = subject.work.traits
    read_from = (
        subject.facts,
        subject.files,
        subject.policy,
        subject.surface,
        subject.event.cwd,
        subject.text,
    )
    known = kept.get(id(subject.facts))
    if known is not None and all(map(_is_same, known[0], read_from)):
        return known[1]
    found = frozenset(_traits(subject))
    kept[id(subject.facts)] = read_from, found  # holds the facts, so that the id stays theirs
    return found


def _is_same(one: object, other: object) -> bool:
    """The same value for certain: texts by comparing, all else by being one object."""
    return one is other or (isinstance(one, str) and one == other)


def _traits(subject: Subject) -> set[str]:
    facts = subject.facts
    found = {f"surface {subject.surface.value}", f"dialect {facts.dialect.value}"}
    if facts.status is not Status.COMPLETE or facts.issues:
        found.add("unread")
    for command in facts.commands:
        found.update(_of_command(command))
    movers = {command.id for command in facts.commands if Operation.MOVE in command.operations}
    for fact in facts.paths:
        found.update(_of_path(fact, moves=fact.command_id in movers))
        found.update(of_path(subject, fact, facts.command(fact.command_id)))
    if movers and "tree delete" in found:
        found.add("moved tree")
    if facts.network:
        found.add("network")
        for peer in facts.network:
            found.update(of_peer(peer))
    for flow in facts.flows:
        found.add("flow")
        if flow.source is End.NETWORK:
            found.add("network")
    brings = not found.isdisjoint(_BRINGS)
    if brings and ("no-program" in found or any(map(_may_run, facts.commands)) or "access execute" in found):
        found.add("fetched run")
    if not found.isdisjoint(_SENDS) and not found.isdisjoint(_HOLDS):
        found.add("held sent")
    if text := subject.text:
        found.update([f"text {mark}" for mark in _TEXT_MARKS if mark in text])
        if _ASSIGNS.search(text):
            found.add("text assigns")
    return found


def _may_run(command: Command) -> bool:
    """Whether a command may run a file or what it is fed."""
    return (
        Operation.RUN_INPUT in command.operations or "/" in command.executable or command.program in _RUNNERS
    )


def _of_command(command: Command) -> Iterator[str]:
    yield f"program {plain_name(command.program)}" if command.program else "no-program"
    if command.kind is Kind.TOOL:
        yield "tool"
    if command.grammar is Grammar.UNKNOWN:
        yield "grammar unknown"
        if len(command.argv) > 1:
            yield "operands unknown"
    if command.suspected_child:
        yield "suspected"
    if command.wrappers:
        yield "wrapped"
    for redirect in command.redirects:
        if redirect.target.startswith(_SOCKETS):
            yield "redirect socket"
    for operation in command.operations:
        yield f"operation {operation.value}"
    for detail in command.details:
        yield f"detail {detail}"
    for word in command.argv:
        if word in _WORDS:
            yield f"word {word}"
        elif "latch" in word:
            yield "word latch"
        if "stratum" in word:
            yield "word pool"


def _of_path(fact: PathFact, *, moves: bool) -> Iterator[str]:
    access = fact.access.value
    yield f"access {access}"
    if fact.recursive and not moves:  # what is moved goes whole, and is kept
        yield f"tree {access}"
    if fact.globs:
        yield f"glob {access}"
    if "\0" in fact.value or not fact.resolved:
        yield f"open {access}"
    if fact.flavor is not Flavor.POSIX or (fact.resolved or fact.value).startswith("/dev/"):
        yield "device"
    if ".sock" in fact.resolved:
        yield "socket path"
