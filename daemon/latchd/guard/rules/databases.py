"""SQL that tools send: statements that drop, empty or rewrite everything.

What the shell's clients get as arguments is in the grammar and in latchd/rules/packs, as are the tasks of
frameworks; what they get on standard input, and what other tools send, is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from latch_contracts.contract import Surface
from latch_contracts.facts import Command, End, Operation
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


def _lost(command_id: int, told: str) -> Hit:
    return Hit(
        command_id, told, f"`{told}` removes data for good", "work on a copy, or let the person run it"
    )


def sent_by_tool(subject: Subject) -> Iterator[str]:
    """What a tool that speaks of databases by its name is given to run there."""
    call = subject.event.call
    if call is not None and call.surface in _OPAQUE and _TOOL.search(call.tool):
        yield from _texts(call.arguments, "", 0)


def _by_tool(subject: Subject) -> Iterator[Hit]:
    for text in sent_by_tool(subject):
        if words := loses(text):
            yield _lost(1, words)


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
                yield _lost(command.id, words)


# They pass a statement among their words on to a database.
CARRIERS: Final = frozenset(
    "snow turso heroku fly flyctl railway wrangler supabase pscale neonctl rails rake flask python python3 "
    "php artisan sail dbmate drizzle-kit prisma cockroach curl wget http xh".split()
)
_QUERY: Final = re.compile(r"[?&]query=([^&#]{1,2048})", re.IGNORECASE)


def _by_word(subject: Subject) -> Iterator[Hit]:
    """`turso db shell x 'drop table y'`, a statement in a request: a word that is a whole statement."""
    for command in subject.acting():
        if command.program not in CARRIERS or "inline-code" in command.details:
            continue
        if command.program.startswith("python") and "dbshell" not in command.argv:
            continue
        for word in command.argv[1:]:
            texts = [word, word.partition("=")[2]] if word.startswith("-") else [word]
            if "://" in word:
                texts = [found.replace("+", " ").replace("%20", " ") for found in _QUERY.findall(word)]
            told = next((words for text in texts if " " in text and (words := loses(text))), "")
            if told:
                yield _lost(command.id, told)
                break


_LANGUAGES: Final = re.compile(r"(?:python|pypy|ruby|node|nodejs|bun|deno|perl|php|rails|flask)[\d.]*\Z")
_STATEMENT: Final = re.compile(
    r"(?:execute|executemany|executescript|query|exec|raw|unsafe|prepare|text|do|command|run|all|sql)"
    r"\s{0,4}[(\s]\s{0,4}[rbf]?(?P<quote>\"{3}|'{3}|[\"'`])(?P<text>.{1,2048}?)(?P=quote)",
    re.IGNORECASE | re.DOTALL,
)
_CALLS: Final = re.compile(
    r"\.drop_all\s{0,4}\(|\.flush(?:all|db)\s{0,4}\(|\.drop_database\s{0,4}\(|\.dropDatabase\s{0,4}\("
    r"|\.objects\.all\(\)\s{0,4}\.delete\(\)|::truncate\s{0,4}\(\)|\b[A-Z]\w{1,64}\.(?:delete_all|destroy_all)\b"
    r"|\.deleteMany\(\s{0,4}(?:\{\s{0,4}\})?\s{0,4}\)|\.delete_many\(\s{0,4}\{\s{0,4}\}\s{0,4}\)"
)
_PASSING: Final = (":memory:", 'sqlite://"', "sqlite://'")


def _by_code(subject: Subject) -> Iterator[Hit]:
    """A program in an argument or a here-document that drops or empties what a database holds."""
    text = subject.text
    for command in subject.acting():
        if not _LANGUAGES.match(command.program) and command.program not in ("manage.py", "artisan"):
            continue
        codes = [" ".join(command.argv[1:])] if _holds_code(command) else []
        if Operation.RUN_INPUT in command.operations or command.program in ("rails", "flask"):
            codes += [*heredocs(text), *herestrings(text), *_spoken(subject, command)]
        for code in codes:
            if any(mark in code for mark in _PASSING):
                continue  # it lives and dies with the program
            told = next((words for one in _STATEMENT.finditer(code) if (words := loses(one["text"]))), "")
            called = _CALLS.search(code)
            if told or called:
                told = told or (called.group()[:40] if called else "")
                yield _lost(command.id, told)
                break


def _holds_code(command: Command) -> bool:
    tinkers = {"shell", "tinker", "runner", "r"} & set(command.argv[1:3])
    return "inline-code" in command.details or bool(tinkers)


def _spoken(subject: Subject, command: Command) -> Iterator[str]:
    """What echo or printf says on this command's standard input."""
    for flow in subject.facts.flows:
        feeder = subject.facts.command(flow.from_command) if flow.to_command == command.id else None
        if feeder is not None and flow.sink is End.STDIN and feeder.program in _SPEAKERS:
            yield " ".join(feeder.argv[1:])


_FLUSH: Final = re.compile(r"\s{0,8}(?:flushall|flushdb|flush_all|shutdown)\b", re.IGNORECASE)


def _by_wire(subject: Subject) -> Iterator[Hit]:
    """`echo flush_all | nc localhost 11211`: a store's own words, on a bare connection."""
    for command in subject.acting():
        if command.program in _WIRES and any(map(_FLUSH.match, _spoken(subject, command))):
            yield Hit(command.id, "flush", "this empties a store", "work on a copy, or let the person run it")


_WIRES: Final = frozenset(("nc", "ncat", "netcat", "telnet", "socat", "nc.openbsd"))

RULES: Final = (
    Rule(
        "db.word-loss",
        "a statement that removes tables or every row is passed on",
        Group.DESTROY,
        Severity.CRITICAL,
        _by_word,
        denies=(
            "turso db shell x 'drop table users'",
            "heroku pg:psql -c 'drop table users'",
            "curl -d 'DROP TABLE t' http://localhost:8123",
            "curl 'http://localhost:8123/?query=DROP+TABLE+t' -X POST",
        ),
        passes=(
            "turso db shell x 'select 1'",
            "heroku pg:psql -c 'select count(*) from users'",
            "curl 'https://x.example/?q=drop+table+x'",
            "curl -d 'DELETE FROM t WHERE id = 3' http://localhost:8123",
        ),
        route=Route.FALLBACK,
    ),
    Rule(
        "db.code-loss",
        "a program removes tables or every row of a database",
        Group.DESTROY,
        Severity.HIGH,
        _by_code,
        denies=(
            "python3 -c \"import sqlite3; sqlite3.connect('a.db').execute('drop table users')\"",
            "python - <<'E'\nfrom app import db\ndb.drop_all()\nE",
            "python manage.py shell -c 'User.objects.all().delete()'",
            "echo 'User.delete_all' | rails c",
        ),
        passes=(
            "python3 -c \"import sqlite3; print(sqlite3.connect('a.db').execute('select 1').fetchone())\"",
            "python3 -c \"import sqlite3; sqlite3.connect(':memory:').execute('drop table if exists x')\"",
            "python3 -c \"print('drop table users')\"",
            "python manage.py shell -c 'print(User.objects.count())'",
        ),
        route=Route.FALLBACK,
    ),
    Rule(
        "db.wire-loss",
        "a store is emptied over a bare connection",
        Group.DESTROY,
        Severity.HIGH,
        _by_wire,
        denies=("echo flush_all | nc localhost 11211", "printf 'FLUSHALL\\r\\n' | nc localhost 6379"),
        passes=("echo stats | nc localhost 11211", "echo PING | nc localhost 6379", "echo flush_all"),
        route=Route.FALLBACK,
    ),
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
