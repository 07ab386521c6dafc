"""Tools that keep a database's schema: what takes every table away, and what only moves it on.

A migration that is taken back is somebody's work too, but one step of it is everyday: only what empties
or drops the whole counts as a loss.
"""

from __future__ import annotations

from typing import Final

from latch_contracts.facts import Operation
from latchd.shell.grammar import sql
from latchd.shell.grammar.description import UNKNOWN, Context, Description
from latchd.shell.grammar.options import Parsed, Style
from latchd.shell.grammar.program import program
from latchd.shell.grammar.verbs import ASKS, by_verb

_LOST: Final = Description(
    known=True, operations=(Operation.CONNECT, Operation.WRITE), details=("database-loss",)
)


def _statements(parsed: Parsed, description: Description, context: Context) -> Description:
    """A statement among the words, or in what an option or stdin holds, that takes everything."""
    held = [word.value for word in (*parsed.operands, *parsed.values("query", "execute", "format"))]
    if context.text is not None:
        held.append(context.text)
    return _LOST if any(map(sql.loses, held)) else description


def _graph(parsed: Parsed, context: Context) -> Description:
    """Cypher: a match of everything that is deleted."""
    texts = [word.value for word in parsed.operands]
    if context.text is not None:
        texts.append(context.text)
    for text in texts:
        words = text.upper().replace(";", " ").split()
        if "DELETE" in words and "WHERE" not in words and "{" not in text:
            return _LOST
        if words[:2] in (["DROP", "DATABASE"], ["DROP", "CONSTRAINT"], ["DROP", "INDEX"]):
            return _LOST
    return Description(known=True, operations=(Operation.CONNECT,), reads_stdin=not texts)


PROGRAMS: Final = (
    program(
        "diesel sqlx sea-orm-cli hasura",
        "~ database-url= source= D= n= migration-dir= config-file= s= u= d= all y f force down= up= "
        "endpoint= admin-secret= database-name= project=",
        by_verb(
            "database reset | database drop | db drop | db reset | migrate fresh | migrate reset | "
            "migrate refresh | metadata clear : connect write +database-loss\n"
            "database setup | database create | migrate * | migration * | migrations * | prepare | "
            "generate * | metadata * : connect write",
            UNKNOWN,
        ),
        {
            "diesel database reset": "connect write +database-loss",
            "sqlx database drop -y": "connect write +database-loss",
            "sea-orm-cli migrate fresh": "connect write +database-loss",
            "sqlx migrate run": "connect write",
            "diesel migration run": "connect write",
            "sea-orm-cli migrate up": "connect write",
        },
    ),
    program(
        "migrate golang-migrate",
        "~ path= source= database= prefetch= lock-timeout= verbose all f ext= dir= seq",
        by_verb(
            "drop | down --all : connect write +database-loss\n"
            "up | down | goto | force | create : connect write"
        ),
        {
            "migrate -path m -database x drop -f": "connect write +database-loss",
            "migrate -path m -database x down -all": "connect write +database-loss",
            "migrate -path m -database x up": "connect write",
            "migrate -path m -database x down 1": "connect write",
        },
        style=Style.DASHED,
    ),
    program(
        "atlas",
        "~ u,url= env= c,config= var= auto-approve dry-run f,file= to= dev-url= dir= projectId= force",
        by_verb(
            "* * --dry-run : preview\n"
            "schema clean | schema apply --auto-approve | clusters delete | projects delete : "
            "connect write +database-loss\n"
            "schema * | migrate * | version | login : connect write",
            UNKNOWN,
        ),
        {
            "atlas schema clean -u x --auto-approve": "connect write +database-loss",
            "atlas schema inspect -u x": "connect write",
            "atlas migrate diff a": "connect write",
        },
    ),
    program(
        "cypher-shell",
        "~ a,address= u,username= p,password= d,database= f,file= P,param= format=",
        _graph,
        {
            "cypher-shell 'MATCH (n) DETACH DELETE n'": "connect write +database-loss",
            "cypher-shell 'MATCH (n) RETURN n'": "connect",
            "cypher-shell 'MATCH (n {id: 1}) DELETE n'": "connect",
        },
    ),
    program(
        "snow influx iql",
        "~ q,query= execute= host= port= username= password= database= format= precision= b,bucket= o,org= "
        "t,token= start= stop= predicate= n,name= i,id= c,connection=",
        by_verb(
            "delete | bucket delete | org delete | object drop | sql --drop : connect write +database-loss",
            ASKS,
            _statements,
        ),
        {
            "influx -execute 'DROP DATABASE x'": "connect write +database-loss",
            "snow sql -q 'drop table x'": "connect write +database-loss",
            "influx bucket delete -n b": "connect write +database-loss",
            "influx query 'from(bucket: 1)'": "connect",
            "snow sql -q 'select 1'": "connect",
            "snow --version": "preview",
        },
        style=Style.DASHED,
    ),
    program(
        "memcached-tool memcflush",
        "~ servers=",
        lambda parsed, _context: (
            _LOST if any(word.value == "flush" for word in parsed.operands) or parsed.has("servers") else ASKS
        ),
        {
            "memcached-tool localhost:11211 flush": "connect write +database-loss",
            "memcached-tool localhost:11211 stats": "connect",
        },
    ),
)
