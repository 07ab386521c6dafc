"""The names a rule may speak of: every field of the view `f`, and the closed words each may hold.

INVARIANT (a name that is wrong is told): CEL itself finds an unknown key only when it runs, so the loader
checks every field and every closed word against this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec

from latch_contracts.contract import Surface
from latch_contracts.facts import (
    Access,
    Dialect,
    Effect,
    End,
    Grammar,
    Kind,
    NetAction,
    Operation,
    Reach,
    Scope,
    Status,
)
from latchd.guard.paths import Place
from latchd.shell.grammar.description import DETAILS

# The words for places, as a rule writes them: `project-root`, not the title that people read.
PLACES: Final[Mapping[Place, str]] = MappingProxyType(
    {place: place.name.lower().replace("_", "-") for place in Place}
)
LABELS: Final = ("credential", "persistence", "control-plane", "hook-file", "own", "protected")


class Scalar(msgspec.Struct, frozen=True):
    """``kind`` is bool, int or string; ``words`` the only values there are, None where any may be."""

    kind: str
    words: frozenset[str] | None = None


class ListShape(msgspec.Struct, frozen=True):
    of: Shape


class Record(msgspec.Struct, frozen=True):
    name: str  # of a row of RECORDS


Shape = Scalar | ListShape | Record

BOOL: Final = Scalar("bool")
INT: Final = Scalar("int")
STRING: Final = Scalar("string")
_STRINGS: Final = ListShape(STRING)


def _closed(*words: str) -> Scalar:
    return Scalar("string", frozenset(words))


def _enum(values: type[StrEnum]) -> Scalar:
    return _closed(*(value.value for value in values))


# record -> field -> (shape, what it says). docs/rules.md shows this table.
RECORDS: Final[Mapping[str, Mapping[str, tuple[Shape, str]]]] = MappingProxyType(
    {
        "facts": {
            "status": (_enum(Status), "always `complete` where an expression is asked"),
            "dialect": (_enum(Dialect), "the language of the text"),
            "tool": (STRING, "the agent's name of the tool"),
            "family": (_enum(Surface), "what kind of tool it is"),
            "commands": (ListShape(Record("command")), "every command that can run, in order"),
            "paths": (ListShape(Record("path")), "every path that a command touches"),
            "network": (ListShape(Record("contact")), "every peer that a command speaks to"),
            "data_flows": (ListShape(Record("flow")), "where bytes move"),
        },
        "command": {
            "id": (INT, "counts from 1"),
            "parent": (INT, "the command it is part of, 0 = none"),
            "pipeline": (INT, "the pipeline it is in, 0 = none"),
            "kind": (_enum(Kind), "a process, a redirection alone, or a tool call"),
            "program": (STRING, "lower-case name without directory or `.exe`; empty when not known"),
            "executable": (STRING, "the command word as typed"),
            "argv": (_STRINGS, "program first; a dynamic part is one NUL"),
            "words": (_STRINGS, "argv without the program and without options"),
            "options": (_STRINGS, "the words that begin with `-`, up to their `=`"),
            "line": (STRING, "program and arguments with one blank between them"),
            "argv_complete": (BOOL, "no word is known only when it runs"),
            "reach": (_enum(Reach), "when it runs, if the text is run"),
            "effect": (_enum(Effect), "whether it acts or only shows"),
            "acts": (BOOL, "not proven to only show something"),
            "operations": (ListShape(_enum(Operation)), "what it does"),
            "details": (ListShape(_closed(*DETAILS)), "what its operand grammar proves of it"),
            "grammar": (_enum(Grammar), "whether its operands are understood"),
            "wrappers": (_STRINGS, "programs that start it, outermost first"),
            "redirects": (ListShape(Record("redirect")), "its redirections"),
            "suspected_child": (STRING, "a dangerous tail behind a program that is not known"),
        },
        "redirect": {
            "fd": (INT, "-1 = both outputs"),
            "access": (_enum(Access), "read, write or append"),
            "target": (STRING, "as typed"),
            "expands": (BOOL, "known only when it runs"),
        },
        "path": {
            "command_id": (INT, "the command that touches it"),
            "access": (_enum(Access), "in which way"),
            "value": (STRING, "as typed"),
            "resolved": (STRING, "absolute; empty when that can't be told"),
            "name": (STRING, "the last component"),
            "place": (_closed(*PLACES.values()), "which part of the machine it lies in"),
            "labels": (ListShape(_closed(*LABELS)), "sensitive tables it is in"),
            "expands": (BOOL, "known only when it runs"),
            "globs": (BOOL, "stands for any number of paths"),
            "recursive": (BOOL, "everything below it too"),
        },
        "contact": {
            "command_id": (INT, "the command that speaks to it"),
            "action": (_enum(NetAction), "in which way"),
            "host": (STRING, "lower case; empty when not known"),
            "scheme": (STRING, "of the URL"),
            "port": (INT, "0 = not given"),
            "scope": (_enum(Scope), "how far away it is"),
            "expands": (BOOL, "known only when it runs"),
        },
        "flow": {
            "from_command": (INT, "0 = a file or the network"),
            "to_command": (INT, "0 = a file or the network"),
            "source": (_enum(End), "where bytes come from"),
            "sink": (_enum(End), "where they go"),
            "source_path": (STRING, "when the source is a file"),
            "sink_path": (STRING, "when the sink is a file"),
            "host": (STRING, "when either end is the network"),
        },
    }
)
