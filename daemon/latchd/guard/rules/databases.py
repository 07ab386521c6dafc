"""SQL that tools send: statements that drop, empty or rewrite everything.

What the shell's clients get as arguments is in the grammar and in latchd/rules/packs, as are the tasks of
frameworks; what they get on standard input, and what other tools send, is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from latch_contracts.contract import Surface
from latch_contracts.facts import End
from latch_contracts.strict_json import as_array, as_object
from latch_contracts.verdict import Route, Severity
from latchd.guard.bodies import heredocs, herestrings
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_KEYS: Final = frozenset(("sql", "query", "statement", "queries", "statements", "command", "text"))
_TOOL: Final = re.compile(
    r"sql|quer|database|postgres|mysql|mongo|supabase|bigquery|snowflake|duckdb|\bdb\b|_db_|db_",
    re.IGNORECASE,
)
_TALK: Final = re.compile(r"--[^\n]*|/\*.{0,2000}?\*/|'(?:[^']|'')*'", re.DOTALL)
_LOSS: Final = re.compile(
    r"\s*(?:drop\s+(?:table|database|schema|user|role|materialized\s+view|owned|collection)\b|truncate\b"
    r"|alter\s+table\b.{0,400}\bdrop\s+(?:column\b|partition\b)|flush(?:all|db)\b)",
    re.IGNORECASE | re.DOTALL,
)
_EVERY_ROW: Final = re.compile(
    r"\s*(?:with\b.{0,2000}\)\s{0,8})?(?:delete\s+from|update\s+\S{1,128}\s+set)\b(?!.*\bwhere\b)",
    re.IGNORECASE | re.DOTALL,
)
_OPAQUE: Final = (Surface.MCP, Surface.GENERIC)
_MAX_TEXT: Final = 65_536


def loses(text: str) -> str:
    """The first words of the first statement that loses data for good; "" when there is none."""
    for statement in _TALK.sub(" ", text[:_MAX_TEXT]).split(";"):
        if _LOSS.match(statement) or _EVERY_ROW.match(statement):
            return " ".join(statement.split()[:2]).lower()
    return ""


def _texts(value: Any, key: str, depth: int) -> Iterator[str]:
    if depth > 4:
        return
    if (members := as_object(value)) is not None:
        for name, member in members.items():
            yield from _texts(member, name.lower(), depth + 1)
    elif (array := as_array(value)) is not None:
        for member in array:
            yield from _texts(member, key, depth + 1)
    elif isinstance(value, str) and key in _KEYS:
        yield value


def _by_tool(subject: Subject) -> Iterator[Hit]:
    call = subject.event.call
    if call is None or call.surface not in _OPAQUE or not _TOOL.search(call.tool):
        return
    for text in _texts(call.arguments, "", 0):
        if words := loses(text):
            yield Hit(
                1, words, f"`{words}` removes data for good", "work on a copy, or let the person run it"
            )


_CLIENTS: Final = frozenset(
    "mysql mariadb psql sqlite3 sqlite sqlcmd sqlplus mongosh mongo redis-cli clickhouse-client duckdb "
    "cockroach cqlsh usql pgcli mycli snowsql bq".split()
)
_SPEAKERS: Final = frozenset(("echo", "printf"))


def _by_input(subject: Subject) -> Iterator[Hit]:
    """SQL that a client gets from a here-document, or from an echo before the pipe."""
    text = subject.text
    for command in subject.acting():
        if command.program not in _CLIENTS:
            continue
        feeders = (
            subject.facts.command(flow.from_command)
            for flow in subject.facts.flows
            if flow.to_command == command.id and flow.sink is End.STDIN
        )
        spoken = [" ".join(feeder.argv[1:]) for feeder in feeders if feeder and feeder.program in _SPEAKERS]
        for sql in (*spoken, *heredocs(text), *herestrings(text)):
            if words := loses(sql):
                yield Hit(
                    command.id,
                    words,
                    f"`{words}` removes data for good",
                    "work on a copy, or let the person run it",
                )


RULES: Final = (
    Rule(
        "db.tool-loss",
        "a tool removes tables, a database or every row",
        Group.DESTROY,
        Severity.CRITICAL,
        _by_tool,
    ),
    Rule(
        "db.input-loss",
        "a client's input removes tables, a database or every row",
        Group.DESTROY,
        Severity.CRITICAL,
        _by_input,
        denies=(
            "echo 'DELETE FROM users;' | mysql app",
            "psql app <<'E'\nDROP TABLE users;\nE",
            "psql <<< 'truncate x'",
        ),
        passes=("echo 'select 1' | mysql app", "cat <<'E'\nDROP TABLE users;\nE", "echo 'drop table x'"),
        route=Route.FALLBACK,
    ),
)
