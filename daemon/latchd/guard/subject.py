"""What is judged: one proposal with its facts, the files it touches, and the policy. Values only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from latch_contracts.contract import Surface
from latch_contracts.events import HookEvent
from latch_contracts.facts import Access, ActionFacts, Command, Effect, Kind, NetworkFact, PathFact
from latchd.files import FileView
from latchd.guard.pace import Pace
from latchd.guard.work import Work
from latchd.policy import Policy
from latchd.redact import head

if TYPE_CHECKING:
    from latchd.rules.generation import Generation

_SEGMENT_BYTES: Final = 72  # enough to find the place in one's own command


class Subject(msgspec.Struct, frozen=True):
    """``files`` holds views by resolved path; a path that nobody probed has none.

    ``rules`` is the generation that judges, whole from the first rule to the last; None = the rules of
    this release. ``work`` is what judging costs, and the one part that changes.
    """

    event: HookEvent
    facts: ActionFacts
    files: Mapping[str, FileView]
    policy: Policy
    rules: Generation | None = None
    work: Work = msgspec.field(default_factory=Work)
    lifted: frozenset[str] = frozenset()  # rules that the person lets this one call break
    pace: Pace = msgspec.field(default_factory=Pace)  # what a participant is measured by

    @property
    def home(self) -> str:
        return self.facts.home

    @property
    def surface(self) -> Surface:
        return self.event.call.surface if self.event.call is not None else Surface.GENERIC

    @property
    def text(self) -> str:
        """The shell text of the call; "" for other tools."""
        call = self.event.call
        return (call.command or "") if call is not None and self.is_shell else ""

    @property
    def is_shell(self) -> bool:
        return self.surface is Surface.SHELL

    def roots(self) -> tuple[str, ...]:
        """The directories that may be written: the policy's, else the session's directory."""
        roots = self.policy.write_roots or (self.event.cwd or self.facts.cwd,)
        return tuple(expand(root, self.home) for root in roots if root)

    def acting(self) -> Iterator[Command]:
        """Every command that may act: all but those proven to only show something."""
        return (command for command in self.facts.commands if command.effect is not Effect.PREVIEW)

    def touched(self, *accesses: Access) -> Iterator[tuple[Command, PathFact]]:
        """Paths that acting commands touch in one of these ways."""
        for fact in self.facts.paths:
            if fact.access in accesses:
                command = self.facts.command(fact.command_id)
                if command is None:
                    yield WHOLE, fact
                elif command.effect is not Effect.PREVIEW:
                    yield command, fact

    def contacts(self) -> Iterator[tuple[Command, NetworkFact]]:
        """Peers that acting commands speak to."""
        for fact in self.facts.network:
            command = self.facts.command(fact.command_id)
            if command is None or command.effect is not Effect.PREVIEW:
                yield command or WHOLE, fact

    def sources(self, command: Command) -> Iterator[Command]:
        """Commands whose output comes to this one, or to the wrapper that hands it its words, however far."""
        waiting = [command.id, *([command.parent] if command.wrappers else [])]
        seen = set(waiting)
        while waiting:
            at = waiting.pop()
            for flow in self.facts.flows:
                source = self.facts.command(flow.from_command) if flow.to_command == at else None
                if source is not None and source.id not in seen:
                    seen.add(source.id)
                    waiting.append(source.id)
                    yield source

    def segment(self, command_id: int) -> str:
        """The beginning of one command as a reason may show it: masked, one line, short."""
        command = self.facts.command(command_id)
        if command is None or command.kind is Kind.TOOL:
            return ""
        if not command.argv:
            return head(" ".join(f"> {redirect.target}" for redirect in command.redirects), _SEGMENT_BYTES)
        return head(" ".join(command.argv), _SEGMENT_BYTES).replace("`", "'")

    def view(self, path: str) -> FileView | None:
        return self.files.get(path)


# The stand-in for a fact that belongs to no command: the call as a whole.
WHOLE: Final = Command(id=0, program="", executable="")


def expand(path: str, home: str) -> str:
    """A path of the policy with ``~`` replaced; the trailing slash goes."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return path.rstrip("/") or "/"
