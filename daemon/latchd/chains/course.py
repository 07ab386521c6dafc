"""The course of one shell call: its commands one after another, and what each makes of the files it touches.

INVARIANT (flow is proof): only programs whose output is made of their input carry. A credential that
a program merely uses, a branch that may not have run, and a filter nobody knows prove no flow.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from latch_contracts.facts import (
    Access,
    ActionFacts,
    Command,
    DataFlow,
    Effect,
    End,
    Operation,
    PathFact,
    Reach,
)
from latchd.chains.content import EMPTY, MAX_PATHS, Change, Content, Source
from latchd.chains.programs import ENDINGS, LINKERS, carries, copies
from latchd.chains.sources import STREAMS, is_external, of_path, of_program


class Course:
    """The commands of one call, one after another. ``sure``: only what is bound to have happened changes
    anything; else whatever may happen moves content, and nothing that may not happen removes it.
    """

    def __init__(self, facts: ActionFacts, *, sure: bool) -> None:
        self._facts = facts
        self._sure = sure
        self._held: dict[str, Content] = {}  # what changed; every other path holds what it held
        self._cleared: dict[str, bool] = {}  # removed with all below
        self._taken: dict[int, Content] = {}  # what each command's own reads gave, when it read
        self._paths = {fact.resolved: fact for fact in facts.paths if _is_known(fact)}
        self._outs: dict[int, Content] = {}
        self._into: dict[int, list[DataFlow]] = {}
        self._files: dict[int, list[str]] = {}  # that each command writes, by whatever redirection
        for flow in facts.flows:
            self._into.setdefault(flow.to_command, []).append(flow)
            if flow.sink is End.FILE and flow.sink_path in self._paths:
                self._files.setdefault(flow.from_command, []).append(flow.sink_path)
        self._children: dict[int, list[Command]] = {}
        for command in facts.commands:
            self._children.setdefault(command.parent, []).append(command)
        self._own: dict[int, list[PathFact]] = {}
        for fact in facts.paths:
            if _is_known(fact):
                self._own.setdefault(fact.command_id, []).append(fact)

    def changes(self) -> tuple[Change, ...]:
        for command in self._order():
            self._act(command)
        told = [
            Change(path, _bounded(content), self._cleared.get(path, False))
            for path, content in self._held.items()
            if content != Content(sources=frozenset((Source(path),)))
        ]
        # Over the bound what carries secrets is kept first: a forgotten removal only tells too much.
        told.sort(key=lambda change: (not change.content.origin, not change.content.sources))
        return tuple(told[:MAX_PATHS])

    def sent(self) -> frozenset[Source]:
        found: set[Source] = set()
        for command in self._order():
            if command.effect is not Effect.PREVIEW:
                found |= self._sent_by(command).sources
                self._act(command)
        return frozenset(sorted(found, key=lambda source: source.path)[:MAX_PATHS])

    def _order(self) -> Iterator[Command]:
        """Substitutions and wrapped commands before the command they belong to, else as written."""
        stack = [(command, False) for command in reversed(self._children.get(0, []))]
        while stack:
            command, opened = stack.pop()
            if opened or command.id not in self._children:
                yield command
            else:
                stack.append((command, True))
                stack += [(child, False) for child in reversed(self._children[command.id])]

    def _act(self, command: Command) -> None:
        certain = command.reach is Reach.ALWAYS and command.effect is Effect.EXECUTE
        if command.effect is Effect.PREVIEW or (self._sure and not certain):
            return
        content = self._out(command)
        own = self._own.get(command.id, [])
        for fact in own:
            if fact.access is Access.DELETE:
                continue
            for path in self._targets(command, fact, own):
                self._put(path, self._of_name(command, path, own, content), command, certain=certain)
        written = {fact.resolved for fact in own}
        for path in self._files.get(command.id, ()):
            # Into the redirection of a group around it: what the group's others write stays.
            if path not in written:
                self._held[path] = self._now(path) | content
        for fact in own:
            if fact.access is Access.DELETE and certain:
                self._held[fact.resolved] = EMPTY
                self._cleared[fact.resolved] = fact.recursive

    def _put(self, path: str, content: Content, command: Command, *, certain: bool) -> None:
        kept = not certain or not self._replaces(command, path)
        self._held[path] = self._now(path) | content if kept else content
        if content:
            self._cleared.pop(path, None)

    def _replaces(self, command: Command, path: str) -> bool:
        """Whether the command leaves nothing of what the path held."""
        if command.program == "truncate":
            return any(word in ("-s0", "--size=0", "0") for word in command.argv[1:])
        return all(fact.access is Access.WRITE for fact in self._own[command.id] if fact.resolved == path)

    def _targets(self, command: Command, fact: PathFact, own: list[PathFact]) -> Iterator[str]:
        """The paths that this fact says are written; a copy's target may be a directory it goes into."""
        if fact.access in (Access.WRITE, Access.APPEND):
            if not _holds(fact.resolved, self._facts.cwd):  # a directory that was named as a target
                yield fact.resolved
            if self._may_be_a_directory(command, own):
                for name in {posixpath.basename(one.resolved) for one in own if one.access is Access.READ}:
                    if name and posixpath.basename(fact.resolved) != name:
                        yield posixpath.join(fact.resolved, name)
        writes = any(one.access in (Access.WRITE, Access.APPEND) for one in own if one is not fact)
        if fact.access is Access.READ and ("in-place" in command.details or not writes):
            for ending in ENDINGS.get(command.program, ()):
                if not fact.resolved.endswith(ending):
                    yield fact.resolved + ending

    def _may_be_a_directory(self, command: Command, own: list[PathFact]) -> bool:
        """Whether the one target of a copy may be where it goes into: the text does not say."""
        targets = [fact for fact in own if fact.access in (Access.WRITE, Access.APPEND)]
        return copies(command) and len(targets) == 1 and "in-place" not in command.details

    def _of_name(self, command: Command, path: str, own: list[PathFact], content: Content) -> Content:
        """Of several files copied into a directory each name gets its own."""
        reads = [fact for fact in own if fact.access is Access.READ]
        named = [fact for fact in reads if posixpath.basename(fact.resolved) == posixpath.basename(path)]
        if len(reads) < 2 or not named or not copies(command):
            return content
        content = EMPTY
        for fact in named:
            content |= self._read(fact.resolved, recursive=fact.recursive)
        return content

    def _out(self, command: Command) -> Content:
        """What the command's output is made of, as it was when it was first asked for."""
        if (known := self._outs.get(command.id)) is not None:
            return known
        self._outs[command.id] = content = Content(of_program(command))  # ends a circle of feeders, too
        if carries(command):
            content |= self._own_reads(command)
            for feeder in self._feeders(command, (End.STDIN, End.PROCESS)):
                content |= self._out(feeder)
        if "remote-command" not in command.details:
            for child in self._children.get(command.id, ()):  # sudo, env or sh -c writes where they write
                if child.wrappers:
                    content |= self._out(child)
        self._outs[command.id] = content
        return content

    def _feeders(self, command: Command, sinks: tuple[End, ...]) -> Iterator[Command]:
        """The commands whose output this one takes in, by one of those ends."""
        for flow in self._into.get(command.id, ()):
            feeder = self._facts.command(flow.from_command)
            if feeder is not None and feeder.id != command.id and flow.sink in sinks:
                yield feeder

    def _own_reads(self, command: Command) -> Content:
        if command.id not in self._taken:
            content = EMPTY
            for fact in self._own.get(command.id, []):
                linked = fact.access is Access.METADATA and command.program in LINKERS
                if fact.access is Access.READ or linked:
                    content |= self._read(fact.resolved, recursive=fact.recursive)
            self._taken[command.id] = content
        return self._taken[command.id]

    def _read(self, path: str, *, recursive: bool) -> Content:
        if origin := of_path(path, self._facts.home):
            return Content(origin)
        content = self._now(path, recursive=recursive)
        if recursive:
            for other, held in self._held.items():
                if _holds(path, other) and other != path:
                    content |= held
        return content

    def _now(self, path: str, *, recursive: bool = False) -> Content:
        if path in self._held:
            return self._held[path]
        if any(deep and _holds(gone, path) for gone, deep in self._cleared.items()):
            return EMPTY
        return Content(sources=frozenset((Source(path, recursive),)))

    def _sent_by(self, command: Command) -> Content:
        """What the command sends to a peer outside."""
        peers = [fact for fact in self._facts.network if fact.command_id == command.id]
        uploads = Operation.UPLOAD in command.operations
        if not (any(map(is_external, peers)) or (uploads and not peers)):
            return EMPTY
        content = EMPTY
        named = {flow.source_path for flow in self._facts.flows if flow.sink is End.NETWORK}
        for fact in self._own.get(command.id, []):
            if fact.access is Access.READ and (fact.resolved in named or "publish" in command.details):
                content |= self._read(fact.resolved, recursive=fact.recursive)
        out = [
            flow for flow in self._facts.flows if flow.from_command == command.id and flow.sink is End.NETWORK
        ]
        if any(flow.source is End.STDOUT for flow in out):  # a redirection into a connection
            content |= self._out(command)
        # A store that the program knows is given its input as `-`.
        takes_stdin = command.program in STREAMS or out or (not peers and "-" in command.argv)
        if takes_stdin:
            for feeder in self._feeders(command, (End.STDIN,)):
                content |= self._out(feeder)
            for flow in self._into.get(command.id, ()):
                if flow.sink is End.STDIN and flow.source is End.FILE and flow.source_path in self._paths:
                    content |= self._read(flow.source_path, recursive=False)
        if "dynamic-upload" in command.details:
            for feeder in self._feeders(command, (End.PROCESS,)):
                content |= self._out(feeder)
        return content


def _is_known(fact: PathFact) -> bool:
    return bool(fact.resolved) and not (fact.expands or fact.globs or _holds("/dev", fact.resolved))


def _bounded(content: Content) -> Content:
    sources = sorted(content.sources, key=lambda source: source.path)
    return Content(content.origin, frozenset(sources[:MAX_PATHS]))


def _holds(directory: str, path: str) -> bool:
    """Whether the directory is the path or lies above it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")
