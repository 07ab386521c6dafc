"""Readers by exclusion: whatever touches a path and isn't proven to do less is taken to read it.

The shell's grammar proves listing and metadata; every tool that is no write, edit or patch reads the
paths in its arguments, known to the guard or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from latch_contracts.facts import Access, Command, PathFact
from latchd.guard.places import credential
from latchd.guard.subject import Subject


def read_paths(subject: Subject) -> Iterator[tuple[Command, PathFact]]:
    """Every path whose content a command or tool of this call reads."""
    return subject.touched(Access.READ)


def secret_behind(subject: Subject, fact: PathFact) -> str:
    """The credential pattern that a path meets, by its text or by where its links lead; "" when none."""
    if found := credential(fact.resolved or fact.value, subject.home):
        return found
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is not None and view.real and view.real != fact.resolved:
        return credential(view.real, subject.home)
    return ""
