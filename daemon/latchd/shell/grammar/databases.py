"""Database clients: literal statements are read, scripts and stdin are executed unseen."""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar import sql
from latchd.shell.grammar.description import Contact, Context, Description, Target, unique
from latchd.shell.grammar.options import Parsed
from latchd.shell.grammar.program import Judge, aimed, flags, program
from latchd.shell.grammar.verbs import ASKS, by_verb


def client(code: str, script: str, host: str, *, positional_code: bool = False) -> Judge:
    """A judge by option names: ``code`` holds statements, ``script`` files of them, ``host`` the peer."""

    def judge(parsed: Parsed, context: Context) -> Description:
        texts = list(parsed.values(*code.split()))
        files = parsed.values(*script.split()) if script else ()
        operands = parsed.operands
        if positional_code and len(operands) > 1:
            texts += operands[1:]
        piped = not texts and not files and context.piped
        if piped and context.text is not None:
            texts.append(Argument(context.text, expands="\0" in context.text))
        contacts = _contacts(parsed.values(*host.split()) if host else (), operands)
        found = [Operation.CONNECT] if contacts else []
        details: list[str] = []
        for text in texts:
            found += sql.operations(text.value)
            if sql.loses(text.value):
                details.append("database-loss")
            if _escapes(text.value):
                found.append(Operation.EXECUTE)
                details.append("child-command")
            if text.expands:
                details.append("opaque-code")
        if files or (piped and not texts):
            found.append(Operation.EXECUTE)
            details.append("opaque-code")
        if piped:
            found.append(Operation.RUN_INPUT)
        reading = bool(texts) and set(found) <= {Operation.READ, Operation.CONNECT, Operation.RUN_INPUT}
        local = aimed(Access.READ if reading else Access.APPEND, operands[:1]) if positional_code else ()
        return Description(
            known=True,
            operations=unique(found),
            targets=(
                *local,
                *(Target(Access.EXECUTE, word) for word in files),
                *aimed(Access.WRITE, parsed.values("output")),
            ),
            contacts=contacts,
            details=tuple(dict.fromkeys(details)),
            reads_stdin=piped or (not texts and not files),
        )

    return judge


def _subcommand(parsed: Parsed, context: Context) -> Description:
    """`bq query SQL`, `cockroach sql -e SQL`: other first words say nothing about rows."""
    verb = parsed.operands[0].value if parsed.operands else ""
    if verb not in ("query", "sql", "mk"):
        return ASKS
    texts = [word.value for word in (*parsed.operands[1:], *parsed.values("query", "execute"))]
    if not texts and context.text is not None:
        texts.append(context.text)
    return Description(
        known=True,
        operations=unique(found for text in texts for found in sql.operations(text)),
        details=("database-loss",) if any(map(sql.loses, texts)) else (),
        reads_stdin=not texts,
    )


_ESCAPES: Final = re.compile(r"^[^\S\n]*(?:\\!|\.shell|\.system|system |\\o \||\\g \|)", re.MULTILINE)


def _escapes(text: str) -> bool:
    """psql's ``\\!`` and sqlite's ``.shell`` start programs."""
    return _ESCAPES.search(text) is not None


def _contacts(hosts: tuple[Argument, ...], operands: tuple[Argument, ...]) -> tuple[Contact, ...]:
    words = [*hosts, *(word for word in operands if "://" in word.value)]
    return tuple(Contact(NetAction.CONNECT, word) for word in words if not word.value.startswith("/"))


_REDIS_LOSS: Final = frozenset(("FLUSHALL", "FLUSHDB", "SHUTDOWN", "SWAPDB"))
_REDIS_READS: Final = frozenset(
    "GET KEYS SCAN INFO PING TTL TYPE EXISTS LLEN LRANGE HGET HGETALL SMEMBERS DBSIZE MGET STRLEN "
    "MONITOR".split()
)


def _redis(parsed: Parsed, context: Context) -> Description:
    words = [word.value.upper() for word in parsed.operands]
    contacts = _contacts((*parsed.values("h"), *parsed.values("u")), ())
    base = (Operation.CONNECT,)
    loss = bool(words) and words[0] in _REDIS_LOSS
    piped = not words and context.piped
    change = bool(words) and words[0] not in _REDIS_READS
    return Description(
        known=True,
        operations=(
            *base,
            *((Operation.WRITE,) if change else ()),
            *((Operation.RUN_INPUT,) if piped else ()),
        ),
        targets=tuple(Target(Access.EXECUTE, word) for word in parsed.values("eval")),
        contacts=contacts,
        details=("database-loss",)
        if loss
        else ("opaque-code",)
        if piped or words[:1] in (["EVAL"], ["CONFIG"])
        else (),
        reads_stdin=not words,
    )


_MONGO_LOSS: Final = (
    "dropDatabase(",
    ".drop(",
    "deleteMany({})",
    "remove({})",
    "dropCollection(",
    "dropIndexes(",
    "deleteMany()",
    "shutdown:1",
    "shutdownServer(",
    "deleteMany( {} )",
)


def _mongo(parsed: Parsed, context: Context) -> Description:
    texts = parsed.values("eval")
    files = tuple(word for word in parsed.operands if word.value.endswith((".js", ".mongodb")))
    places = tuple(
        word for word in parsed.operands if word not in files and ("://" in word.value or "/" in word.value)
    )
    told = [word.value for word in texts] or [context.text or ""]
    tight = ["".join(text.split()) for text in told]
    loss = any(mark.replace(" ", "") in text for mark in _MONGO_LOSS for text in tight)
    opaque = bool(files) or (not texts and context.piped)
    return Description(
        known=True,
        operations=(Operation.CONNECT, *((Operation.EXECUTE,) if opaque or texts else ())),
        targets=tuple(Target(Access.EXECUTE, word) for word in files),
        contacts=tuple(Contact(NetAction.CONNECT, word) for word in (*parsed.values("host"), *places)),
        details=("database-loss",) if loss else ("opaque-code",) if opaque else (),
        reads_stdin=not texts and not files,
    )


def _drops(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.DELETE),
        contacts=_contacts(parsed.values("host"), ()),
        details=("database-loss", *flags(parsed, "force")),
    )


def _dumps(parsed: Parsed, _context: Context) -> Description:
    written = parsed.values("file", "result-file", "out", "archive")
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.READ, *((Operation.WRITE,) if written else ())),
        targets=aimed(Access.WRITE, written),
        contacts=_contacts(parsed.values("host"), parsed.operands),
        writes_stdout=not written,
    )


def _restores(parsed: Parsed, _context: Context) -> Description:
    clean = parsed.has("clean", "drop")
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.WRITE),
        targets=aimed(Access.READ, parsed.operands or ()),
        contacts=_contacts(parsed.values("host"), ()),
        details=("database-loss",) if clean else (),
        reads_stdin=not parsed.operands,
    )


def _admin(parsed: Parsed, _context: Context) -> Description:
    words = [word.value.lower() for word in parsed.operands]
    loss = bool(words) and words[0] in ("drop", "shutdown", "flush-hosts")
    return Description(
        known=True,
        operations=(Operation.CONNECT, *((Operation.WRITE,) if loss else ())),
        contacts=_contacts(parsed.values("host"), ()),
        details=("database-loss",) if words[:1] == ["drop"] else (),
    )


_PRISMA: Final = """
migrate reset | db push --force-reset | db push --accept-data-loss | db drop |\
    push --force : write connect +database-loss
db execute : execute connect +opaque-code
migrate deploy | migrate dev | db push | db seed | migrate resolve : write connect
generate | format | validate | studio | version | init : execute
"""

PROGRAMS: Final = (
    program(
        "psql pgcli",
        "~ c,command= f,file= h,host= p,port= U,username= d,dbname= o,output= v,set= F= R= P= L= T= t A",
        client("command", "file", "host"),
        {
            "psql -c 'DROP TABLE x'": "write +database-loss",
            "psql -h db.example.com -c 'select 1'": "connect read connect@db.example.com",
            "psql -f a.sql": "execute execute:a.sql +opaque-code",
            "| psql x": "execute run_input +opaque-code <stdin",
            "psql -c 'DELETE FROM x'": "write +database-loss",
            "psql -c 'DELETE FROM x WHERE id = 3'": "write",
            "psql postgres://example.com/x -c 'TRUNCATE x'": (
                "connect write connect@postgres://example.com/x +database-loss"
            ),
            "psql -l": "<stdin",
        },
    ),
    program(
        "mysql mariadb mycli",
        "~ e,execute= h,host= P,port= u,user= p,password? D,database= S,socket= init-command= "
        "default-character-set=",
        client("execute init-command", "", "host"),
        {
            "mysql -e 'DROP DATABASE x'": "write +database-loss",
            "mysql -u root -pX x -e 'show tables'": "read",
            "| mysql x": "execute run_input +opaque-code <stdin",
        },
    ),
    program(
        "sqlite3 sqlite duckdb litecli",
        "~ cmd,c= init= separator= s= nullvalue= f=",
        client("cmd", "init f", "", positional_code=True),
        {
            "sqlite3 a.db 'drop table x'": "write append:a.db +database-loss",
            "sqlite3 a.db 'select 1'": "read read:a.db",
            "sqlite3 -readonly a.db .tables": "read read:a.db",
            "| sqlite3 a.db": "execute run_input append:a.db +opaque-code <stdin",
        },
    ),
    program(
        "sqlcmd clickhouse-client clickhouse cqlsh snowsql usql osql isql sqlplus trino presto-cli "
        "beeline spark-sql hive impala-shell",
        "~ q,query,Q= e,execute= c,command= i,input-file,queries-file= f,file= h,host,S= o,output= "
        "d,database= u,user,U= p,password?",
        client("query execute command", "input-file file", "host"),
        {
            "clickhouse-client --query 'drop table x'": "write +database-loss",
            "clickhouse-client -q 'ALTER TABLE t DELETE WHERE 1'": "write +database-loss",
            "clickhouse-client -q 'ALTER TABLE t DELETE WHERE id = 3'": "write",
            "usql pg://h/db -c 'drop table x'": "connect write connect@pg://h/db +database-loss",
            "cqlsh -e 'select 1' db.example.com": "read",
        },
    ),
    program(
        "bq cockroach",
        "~ q,query= e,execute= f,format= r,recursive use_legacy_sql= nouse_legacy_sql project_id= location= "
        "dry_run url= host= insecure",
        _subcommand,
        {
            "bq query 'DELETE FROM d.t WHERE true'": "write +database-loss",
            "bq query --use_legacy_sql=false 'DROP TABLE d.t'": "write +database-loss",
            "bq query 'select 1'": "read",
            "bq ls d": "connect",
            "cockroach sql --execute='drop table t'": "write +database-loss",
            "cockroach sql -e 'select 1'": "read",
        },
    ),
    program(
        "redis-cli valkey-cli keydb-cli",
        "~ h= p= a= n= u= s= eval= x pipe user= pass= cacert= cert= key=",
        _redis,
        {
            "redis-cli FLUSHALL": "connect write +database-loss",
            "redis-cli -h example.com get x": "connect connect@example.com",
            "redis-cli -n 1 flushdb": "connect write +database-loss",
            "redis-cli set a 1": "connect write",
        },
    ),
    program(
        "mongosh mongo",
        "~ eval= host= port= u,username= p,password= authenticationDatabase= f,file= quiet",
        _mongo,
        {
            "mongosh --eval 'db.dropDatabase()'": "connect execute +database-loss",
            "mongosh x --eval 'db.a.find()'": "connect execute",
            "mongo a.js": "connect execute execute:a.js +opaque-code",
            "mongosh --eval 'db.a.deleteMany({b: 1})'": "connect execute",
        },
    ),
    program(
        "dropdb dropuser pg_dropcluster",
        "~ h,host= p= U= f,force e i",
        _drops,
        {
            "dropdb x": "connect delete +database-loss",
            "dropdb -h example.com -f x": "connect delete connect@example.com +database-loss +force",
        },
    ),
    program(
        "mysqladmin pg_ctl pg_isready createdb createuser mysqlcheck initdb",
        "~ h,host= u= p? P= S= D= l= U= w=",
        _admin,
        {"mysqladmin drop x": "connect write +database-loss", "createdb x": "connect"},
    ),
    program(
        "pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport pg_basebackup",
        "~ h,host= p? U= u= f,file= r,result-file= o,out= archive? d= t= n= F= Z= j= uri= c= P=",
        _dumps,
        {"pg_dump -f a.sql x": "connect read write write:a.sql >none", "mysqldump x": "connect read"},
    ),
    program(
        "pg_restore mongorestore mongoimport",
        "~ h,host= p= U= d= c,clean drop j= F= t= n= uri= file=",
        _restores,
        {
            "pg_restore -c -d x a.dump": "connect write read:a.dump +database-loss",
            "mongorestore dump": "connect write read:dump",
        },
    ),
    program(
        "prisma drizzle-kit sequelize knex typeorm alembic flyway liquibase dbmate",
        "~ schema= force-reset accept-data-loss f,force config= url=",
        by_verb(
            _PRISMA + "db:drop | clean | downgrade base | drop-all | schema:drop | down-to : write connect "
            "+database-loss\n",
            ASKS,
        ),
        {
            "prisma migrate reset --force": "write connect +database-loss",
            "prisma generate": "execute",
            "drizzle-kit push --force": "write connect +database-loss",
            "prisma db push --accept-data-loss": "write connect +database-loss",
            "alembic downgrade base": "write connect +database-loss",
        },
    ),
)
