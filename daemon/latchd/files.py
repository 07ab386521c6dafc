"""What a session can know of a file it is about to write: is it there, and is it what was read?

Pure values. The disk is read in disk.py; what the session has seen is in the store. A file nobody
looked at is a view with ``exists=False`` and knowledge OFF, so that no gate speaks of it.
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from latch_contracts.contract import Surface
from latch_contracts.events import Call
from latch_contracts.facts import Access, ActionFacts, Operation, PathFact

MAX_PROBES: Final = 64  # a command that touches more paths than this is judged by their text alone

_MUTATING: Final = frozenset({Access.WRITE, Access.APPEND, Access.DELETE})


class Knowledge(enum.StrEnum):
    """What this session knows of a file, from proven results alone."""

    KNOWN = "known"  # seen, and unchanged since
    STALE = "stale"  # seen, and changed since
    UNKNOWN = "unknown"  # never seen
    OFF = "off"  # results of this agent prove nothing: the question is not asked


class Stamp(msgspec.Struct, frozen=True):
    """Enough of a file's identity to notice that it changed; times in nanoseconds."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class FileView(msgspec.Struct, frozen=True):
    """One path as the disk shows it.

    ``real`` is the path with every symlink of its existing part resolved; ``fault`` says why the disk
    could not be asked ("" when it could). ``stamp`` is set for what exists and could be read.
    """

    path: str
    exists: bool = False
    is_dir: bool = False
    real: str = ""
    stamp: Stamp | None = None
    knowledge: Knowledge = Knowledge.OFF
    fault: str = ""
    holds_git: bool = False  # a directory with a repository of its own

    def seen_as(self, seen: Stamp | None) -> FileView:
        """The same view, with what the session remembers of the file (None = nothing)."""
        if seen is None:
            return msgspec.structs.replace(self, knowledge=Knowledge.UNKNOWN)
        fresh = self.stamp is not None and self.stamp == seen
        return msgspec.structs.replace(self, knowledge=Knowledge.KNOWN if fresh else Knowledge.STALE)


def probe_list(call: Call, facts: ActionFacts, roots: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The absolute paths whose state on disk the guard asks for, each once, at most MAX_PROBES.

    The roots (else the working directory) come first: a root behind a symlink is still the root.
    What is written or removed comes next: a symlink there decides between inside and outside.
    Paths that are read follow, because a link's name may hide the file it leads to.
    """
    wanted = [*(_expanded(root, facts.home) for root in roots), facts.cwd]
    wanted += [_spelling(fact) for fact in facts.paths if fact.access in _MUTATING]
    if facts.cwd and any(Operation.WORK_LOSS in command.operations for command in facts.commands):
        wanted.append(f"{facts.cwd}/.git")  # a file there means a linked work tree
    wanted += [_spelling(fact) for fact in facts.paths if fact.access is Access.READ]
    if call.surface in (Surface.WRITE, Surface.EDIT, Surface.PATCH):
        wanted += [path for path in call.paths if path.startswith("/")]
    return tuple(dict.fromkeys(path for path in wanted if path.startswith("/")))[:MAX_PROBES]


def _expanded(root: str, home: str) -> str:
    return home + root[1:] if root.startswith("~") and home else root


def _spelling(fact: PathFact) -> str:
    """The resolved path; of a pattern, the directory it starts in."""
    if not fact.globs:
        return fact.resolved
    fixed: list[str] = []
    for part in fact.resolved.split("/"):
        if any(mark in part for mark in "*?["):
            break
        fixed.append(part)
    return "/".join(fixed) or ("/" if fact.resolved else "")
