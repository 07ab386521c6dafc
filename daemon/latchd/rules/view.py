"""Facts as expressions see them: plain values under the names of shapes.py, labelled by our own tables.

INVARIANT (whole or not at all): a text or list that is longer than a view may hold makes no shortened view,
in which a rule could miss something; the rule's pattern speaks instead.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, Final

from latch_contracts.facts import Command, Effect, PathFact
from latchd.guard.places import control_plane, credential, hook_file, own, persistence, protected
from latchd.guard.subject import Subject
from latchd.guard.targets import where
from latchd.rules.engine import BudgetSpent, Program, View
from latchd.rules.shapes import PLACES
from latchd.shell.grammar.registry import plain_name

MAX_TEXT: Final = 4096  # characters of one text: an argument, a path, a host
MAX_LINE: Final = 16_384  # characters of one command's line
MAX_WORDS: Final = 2048  # arguments of all commands together
_LISTS: Final = ("commands", "paths", "network", "data_flows")
_OF_COMMANDS: Final = ("argv", "words", "options", "operations", "details", "wrappers", "redirects")


class Answer(enum.Enum):
    """What an expression said of a call."""

    YES = "yes"
    NO = "no"  # and the patterns are silent
    NONE = "none"  # it could not be asked, or its "no" is not sure: the patterns speak


class Views:
    """The views of one call, each made when it is first asked for, and what expressions said of it."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._whole: View | None = None
        self.answers: dict[Program, Answer] = {}

    def is_of(self, subject: Subject) -> bool:
        return self._subject.facts is subject.facts

    def whole(self) -> View:
        """Raises BudgetSpent when the facts are more than a view holds."""
        if self._whole is None:
            self._whole = _view(_facts(self._subject))
        return self._whole

    def acting(self) -> View:
        """What is left when everything proven to only show something is taken away."""
        return self.only(frozenset(command.id for command in self._subject.acting()))

    def only(self, commands: frozenset[int], path: int | None = None) -> View:
        """These commands, and what belongs to them; a flow needs both its ends.

        ``path`` is the place of the one path to keep, by its place in the facts.
        """
        facts = self.whole().facts
        paths = facts["paths"] if path is None else facts["paths"][path : path + 1]
        kept = commands | {0}
        return _view(
            {
                **facts,
                "commands": [each for each in facts["commands"] if each["id"] in commands],
                "paths": [each for each in paths if each["command_id"] in kept],
                "network": [each for each in facts["network"] if each["command_id"] in kept],
                "data_flows": [
                    each
                    for each in facts["data_flows"]
                    if each["from_command"] in kept and each["to_command"] in kept
                ],
            }
        )


def views(subject: Subject) -> Views:
    """The views of this call's facts, made once and shared by every rule."""
    found = subject.work.view
    if not isinstance(found, Views) or not found.is_of(subject):
        found = subject.work.view = Views(subject)
    return found


def line(command: Command) -> str:
    """Program and arguments with one blank between them; a dynamic part is `$`."""
    return " ".join((plain_name(command.program), *command.argv[1:])).replace("\0", "$")


def _facts(subject: Subject) -> dict[str, Any]:
    facts = subject.facts
    if sum(len(command.argv) for command in facts.commands) > MAX_WORDS:
        raise BudgetSpent(f"the commands have more than {MAX_WORDS} words")
    return {
        "status": facts.status.value,
        "dialect": facts.dialect.value,
        "tool": _text(facts.tool),
        "family": subject.surface.value,
        "commands": [_command(command) for command in facts.commands],
        "paths": [_path(subject, fact) for fact in facts.paths],
        "network": [
            {
                "command_id": fact.command_id,
                "action": fact.action.value,
                "host": _text((fact.normalized_host or fact.host).lower()),
                "scheme": _text(fact.scheme),
                "port": fact.port,
                "scope": fact.scope.value,
                "expands": fact.expands,
            }
            for fact in facts.network
        ],
        "data_flows": [
            {
                "from_command": flow.from_command,
                "to_command": flow.to_command,
                "source": flow.source.value,
                "sink": flow.sink.value,
                "source_path": _text(flow.source_path),
                "sink_path": _text(flow.sink_path),
                "host": _text(flow.host),
            }
            for flow in facts.flows
        ],
    }


def _command(command: Command) -> dict[str, Any]:
    argv = [_text(word) for word in command.argv]
    rest = argv[1:]
    whole = line(command)
    if len(whole) > MAX_LINE:
        raise BudgetSpent(f"a command is longer than {MAX_LINE} characters")
    return {
        "id": command.id,
        "parent": command.parent,
        "pipeline": command.pipeline,
        "kind": command.kind.value,
        "program": plain_name(command.program),
        "executable": _text(command.executable),
        "argv": argv,
        "words": [word for word in rest if not word.startswith("-")],
        "options": [word.partition("=")[0] for word in rest if word.startswith("-")],
        "line": whole,
        "argv_complete": command.argv_complete,
        "reach": command.reach.value,
        "effect": command.effect.value,
        "acts": command.effect is not Effect.PREVIEW,
        "operations": [operation.value for operation in command.operations],
        "details": list(command.details),
        "grammar": command.grammar.value,
        "wrappers": [plain_name(each.executable.rpartition("/")[2]) for each in command.wrappers],
        "redirects": [
            {
                "fd": redirect.fd,
                "access": redirect.access.value,
                "target": _text(redirect.target),
                "expands": redirect.expands,
            }
            for redirect in command.redirects
        ],
        "suspected_child": _text(command.suspected_child),
    }


def _path(subject: Subject, fact: PathFact) -> dict[str, Any]:
    path = fact.resolved or fact.value
    return {
        "command_id": fact.command_id,
        "access": fact.access.value,
        "value": _text(fact.value),
        "resolved": _text(fact.resolved),
        "name": _text(path.rstrip("/").rpartition("/")[2]),
        "place": PLACES[where(subject, fact)],
        "labels": list(_labels(subject, path)),
        "expands": fact.expands,
        "globs": fact.globs,
        "recursive": fact.recursive,
    }


def _labels(subject: Subject, path: str) -> Iterator[str]:
    home = subject.home
    for label, found in (
        ("credential", credential(path, home)),
        ("persistence", persistence(path, home)),
        ("control-plane", control_plane(path, home)),
        ("hook-file", hook_file(path, home)),
        ("own", own(path, home)),
        ("protected", protected(path, home, subject.policy.protected)),
    ):
        if found:
            yield label


def _text(value: str) -> str:
    if len(value) > MAX_TEXT:
        raise BudgetSpent(f"a text is longer than {MAX_TEXT} characters")
    return value


def _view(facts: Mapping[str, Any]) -> View:
    sizes = {name: len(facts[name]) for name in _LISTS}
    for name in _OF_COMMANDS:
        sizes[f"commands.{name}"] = sum(len(command[name]) for command in facts["commands"])
    sizes["paths.labels"] = sum(len(path["labels"]) for path in facts["paths"])
    return View(facts, sizes)
