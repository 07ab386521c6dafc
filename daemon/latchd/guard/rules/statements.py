"""SQL that reaches out of its tables: programs that the server starts, files it writes, rights it hands out.

No row is lost by it. The statement may stand in an argument of a client, on its standard input, or in what a
tool of another server is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Command, End
from latch_contracts.verdict import Route, Severity
from latchd.guard.bodies import heredocs, herestrings
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.rules.databases import sent_by_tool
from latchd.guard.subject import Subject

SQL_CLIENTS: Final = frozenset(
    "psql pgcli mysql mariadb mycli sqlite3 sqlite sqlcmd sqlplus duckdb clickhouse-client clickhouse cqlsh "
    "usql cockroach snowsql bq mssql-cli isql db2 presto trino".split()
)
_SPEAKERS: Final = frozenset(("echo", "printf", "cat"))
_MAX_TEXT: Final = 65_536
_COMMENT: Final = re.compile(r"--[^\n]*|/\*.{0,500}?\*/", re.DOTALL)

# What a server runs, loads, or reads and writes as a file of its own machine.
_REACHES: Final = re.compile(
    r"\bcopy\b[^;]{1,200}?\b(?:to|from)\s+program\b"
    r"|\bxp_(?:cmdshell|reg\w{1,32}|dirtree|fileexist)\b|\bsp_oa(?:create|method)\b|\bsp_execute_external_script\b"
    r"|\binto\s+(?:outfile|dumpfile)\b|\bload_file\s*\(|\bload\s+data\s+(?!local\b)(?:\w{1,16}\s+){0,2}infile\b"
    r"|\blo_(?:export|import)\s*\(|\bpg_(?:read_file|read_binary_file|ls_dir|file_write|execute_server_program)\s*\("
    r"|\bsys_(?:exec|eval)\s*\(|\bload_extension\s*\(|\butl_(?:file|http)\.|\bdbms_(?:scheduler|java|xslprocessor)\."
    r"|\bcreate\s+(?:or\s+replace\s+)?(?:trusted\s+)?(?:function|procedure)\b[^;]{1,200}?\blanguage\s+'?(?:c|plpython3?u|plperlu|plsh)\b"
    r"|\bcreate\s+extension\s+(?:if\s+not\s+exists\s+)?\"?(?:plpython3?u|plperlu|plsh|file_fdw|dblink|adminpack)\b"
    r"|\bcreate\s+function\s+\w{1,64}\s+returns\s+\w{1,16}\s+soname\b",
    re.IGNORECASE,
)
# Rights that reach to everything, or to everybody, and settings that decide what the server may do.
_RIGHTS: Final = re.compile(
    r"\bgrant\b[^;]{1,200}?\bto\s+public\b|\bgrant\s+all(?:\s+privileges)?\s+on\s+\*\s*\.\s*\*"
    r"|\bgrant\s+(?:pg_(?:execute_server_program|write_server_files|read_server_files|read_all_data|write_all_data)|"
    r"sysadmin|dba|sysdba|rds_superuser|super|accountadmin)\b"
    r"|\b(?:alter|create)\s+(?:role|user)\s+[^;]{1,200}?\b(?:superuser|bypassrls|createrole)\b"
    r"|\balter\s+(?:role|user)\s+[\"'`]?(?:postgres|root|admin|sa|sys|system)\b[^;]{0,200}?\b(?:password|identified)\b"
    r"|\bset\s+password\s+for\s+[\"'`]?(?:root|admin|postgres)\b|\balter\s+login\s+\W?sa\b"
    r"|\balter\s+system\s+set\b|\bset\s+global\s+(?:super_)?(?:read_only|general_log\w{0,8}|log_bin|local_infile|"
    r"secure_file_priv|max_connections|sql_log_bin)\b|\bsp_configure\b"
    r"|\breset\s+(?:master|slave|replica|binary\s+logs)\b|\bpurge\s+(?:binary|master)\s+logs\b"
    r"|\bpg_terminate_backend\s*\([^;]{1,200}?\bfrom\s+pg_stat_activity\s*(?:;|\"|'|\Z)"
    r"|\bdisable\s+row\s+level\s+security\b|\bdrop\s+policy\b|\balter\s+table\b[^;]{1,200}?\bdisable\s+trigger\s+all\b",
    re.IGNORECASE,
)


def statements(subject: Subject) -> Iterator[tuple[int, str]]:
    """Each text of SQL that a client or a tool is given, and the command that takes it; without comments."""
    for text in sent_by_tool(subject):
        yield 1, _COMMENT.sub(" ", text[:_MAX_TEXT])
    for command in subject.acting():
        if command.program not in SQL_CLIENTS:
            continue
        fed = (*_spoken(subject, command), *heredocs(subject.text), *herestrings(subject.text))
        for text in (" ".join(command.argv[1:]), *fed):
            yield command.id, _COMMENT.sub(" ", text[:_MAX_TEXT])


def _spoken(subject: Subject, command: Command) -> Iterator[str]:
    for flow in subject.facts.flows:
        feeder = subject.facts.command(flow.from_command) if flow.to_command == command.id else None
        if feeder is not None and flow.sink is End.STDIN and feeder.program in _SPEAKERS:
            yield " ".join(feeder.argv[1:])


def _found(subject: Subject, pattern: re.Pattern[str], says: str, instead: str) -> Iterator[Hit]:
    for command_id, text in statements(subject):
        if found := pattern.search(text):
            yield Hit(command_id, " ".join(found.group(0).replace("\0", "$…").split())[:60], says, instead)


def _reaches(subject: Subject) -> Iterator[Hit]:
    return _found(
        subject,
        _REACHES,
        "this lets the database server run a program, or touch files of its machine",
        "use the client's own copy command (`\\copy`), or let the person run it",
    )


def _rights(subject: Subject) -> Iterator[Hit]:
    return _found(
        subject,
        _RIGHTS,
        "this changes who may do what on the whole server, or cuts off who is on it",
        "grant the one right on the one table, or let the person do it",
    )


RULES: Final = (
    Rule(
        "db.reaches-out",
        "a statement runs programs or touches files of the server",
        Group.UNUSUAL,
        Severity.CRITICAL,
        _reaches,
        denies=(
            "psql -c \"COPY (SELECT 1) TO PROGRAM 'sh -c x'\"",
            "psql app <<'E'\nCOPY t FROM PROGRAM 'x';\nE",
            "sqlcmd -S h -Q \"EXEC xp_cmdshell 'dir'\"",
            "mysql -e \"SELECT a FROM t INTO OUTFILE '/srv/x'\"",
            "echo \"SELECT lo_export(1, '/srv/x')\" | psql app",
            "psql -c 'CREATE EXTENSION plpython3u'",
        ),
        passes=(
            "psql -c \"\\copy t TO 'a.csv' CSV\"",
            "psql -c 'COPY t TO STDOUT'",
            "mysql -e \"LOAD DATA LOCAL INFILE 'a.csv' INTO TABLE t\"",
            "psql -c 'CREATE EXTENSION IF NOT EXISTS pgcrypto'",
            "grep -rn xp_cmdshell docs",
            "psql -c \"SELECT 'program' FROM t\"",
        ),
        route=Route.FALLBACK,
    ),
    Rule(
        "db.rights",
        "rights or settings of a whole database server are changed",
        Group.UNUSUAL,
        Severity.HIGH,
        _rights,
        denies=(
            "psql -c 'ALTER ROLE app SUPERUSER'",
            "psql -c 'grant all on all tables in schema public to public'",
            "mysql -e \"GRANT ALL PRIVILEGES ON *.* TO 'a'@'%'\"",
            "psql -c \"alter user postgres password 'x'\"",
            "mysql -e 'RESET MASTER'",
            "mysql -e 'SET GLOBAL read_only=1'",
            "psql -c 'select pg_terminate_backend(pid) from pg_stat_activity'",
        ),
        passes=(
            "psql -c 'CREATE ROLE app LOGIN'",
            "psql -c 'CREATE ROLE app NOSUPERUSER LOGIN'",
            "psql -c 'GRANT SELECT ON t TO app'",
            "psql -c 'GRANT ALL PRIVILEGES ON DATABASE app TO app'",
            "mysql -e 'SHOW GRANTS'",
            "psql -c 'SHOW ALL'",
            "psql -c 'select pg_terminate_backend(pid) from pg_stat_activity where pid = 12'",
            "git commit -m 'alter role app superuser'",
        ),
        route=Route.FALLBACK,
    ),
)
