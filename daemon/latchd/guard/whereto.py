"""What is particular about the paths and hosts of a call: the traits by which most rules are not asked.

Each trait says no more than what its rules look at themselves, with the same questions, so a rule that needs
one of them loses nothing by it. Nothing particular is said of a file in the project or in scratch, and of a
host that has just a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, Command, NetworkFact, PathFact
from latchd.guard import places
from latchd.guard.hosts import COLLECTORS, METADATA, PASTE_SITES, among
from latchd.guard.paths import Place
from latchd.guard.subject import Subject
from latchd.guard.targets import searches_below, where

_CHANGES: Final = frozenset((Access.WRITE, Access.APPEND, Access.DELETE, Access.METADATA))
# What of the guard's own is secret from readers too.
_SECRETS: Final = ("latchd.key", "hook.token", "hook.sock")
_AGENTS: Final = frozenset((".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".copilot"))


def of_path(subject: Subject, fact: PathFact, command: Command | None) -> Iterator[str]:
    """What is particular about one path that is touched."""
    spelled = {fact.resolved or fact.value}
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is not None and view.real:
        spelled.add(view.real)
    if fact.access not in _CHANGES:
        if any(path.endswith(_SECRETS) for path in spelled):
            yield "of own"
        return
    for path in spelled:
        yield from _listed(path, subject)
    takes = fact.access is Access.DELETE
    verb = "takes" if takes else "puts"
    found = where(subject, fact)
    if found is not Place.PROJECT or (takes and fact.recursive):
        yield f"{verb} {found.name.lower().replace('_', '-')}"
    if "\0" in fact.value or (command is not None and searches_below(command)):
        yield f"{verb} dynamic"  # what a search names is looked for where it begins
    if takes and view is not None and view.holds_git:
        yield "takes repository"


def _listed(path: str, subject: Subject) -> Iterator[str]:
    """The tables that a path is in."""
    home, name = subject.home, path.rpartition("/")[2]
    if places.own(path, home):
        yield "of own"
    if name in _AGENTS or places.hook_file(path, home):
        yield "of hooks"
    if places.credential(path, home):
        yield "of credential"
    if places.persistence(path, home) or places.control_plane(path, home):
        yield "of persistence"
    if places.other_guard(path, home):
        yield "of guard"
    if places.protected(path, home, subject.policy.protected):
        yield "of protected"
    if name.lower() in places.INSTRUCTIONS:
        yield "of instructions"


def of_peer(fact: NetworkFact) -> Iterator[str]:
    """What is particular about one peer that is spoken to."""
    yield f"peer {fact.action.value}"
    if "\0" in fact.host:
        yield "host dynamic"
    if fact.normalized_host in METADATA or fact.host.lower().rstrip(".") in METADATA:
        yield "host metadata"
    if among(fact.host, COLLECTORS):
        yield "host collector"
    if among(fact.host, PASTE_SITES):
        yield "host paste"
