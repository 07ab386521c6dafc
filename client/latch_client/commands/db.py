"""`latchctl db`: look at the database, copy it, shrink it, read it out. The daemon may run, but for vacuum.

A person's own file, so it is opened here and not asked for over a socket: it must work when the daemon
does not. It is only read; nothing is migrated and nothing repaired.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from latch_client import locate
from latch_client.errors import DONE, FAILED, CommandError
from latch_client.output import print_json, with_json
from latch_client.paint import printable
from latch_client.subparsers import Subparsers

if TYPE_CHECKING:
    from latchd.store.database import Database

# What of the state can be read out: digests, masks, times and counters, as hexadecimal where it is bytes.
STATE: Final = ("sessions", "calls", "steps", "chain_events")
_PAGE: Final = 1000  # records read at once


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "db", help="check, copy, shrink or export the database", description="The daemon's database."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="check|backup|vacuum|export")
    check = verbs.add_parser(
        "check",
        help="say whether the database is whole and its state makes sense",
        description="Check the file, its schema, and every promise about what is stored. Exit code 1 when "
        "one is broken. The daemon may run meanwhile.",
    )
    with_json(check)
    check.set_defaults(func=run_check)
    copied = verbs.add_parser(
        "backup",
        help="copy the database of this moment into a new file",
        description="Copy the database of this moment into FILE, which must not exist. The daemon may run "
        "meanwhile. A copy is of use only with the key file beside it: digests are made with that.",
    )
    copied.add_argument("file", metavar="FILE", help="where the copy goes")
    copied.set_defaults(func=run_backup)
    vacuum = verbs.add_parser(
        "vacuum",
        help="give back the room that pruned records left",
        description="Rewrite the database without the room of pruned records. The daemon must be down.",
    )
    vacuum.set_defaults(func=run_vacuum)
    export = verbs.add_parser(
        "export",
        help="print the records as JSON, oldest first",
        description="Print the stored records, oldest first, one JSON object per line. They hold what "
        "records.redaction let in when they were made.",
    )
    export.add_argument("--since", type=int, default=0, metavar="SEQ", help="only records after this one")
    export.add_argument(
        "--state", action="store_true", help="the rows of sessions, calls, steps and chain events instead"
    )
    export.set_defaults(func=run_export)


def run_check(arguments: argparse.Namespace) -> int:
    from latchd.store.bounds import Bounds
    from latchd.store.checks import examine

    with _opened() as database:
        findings = examine(database, Bounds())
    for finding in findings:
        if arguments.json:
            print_json(msgspec.to_builtins(finding))
        elif finding.breaches:
            print(f"✗ {finding.check}: not so that {finding.promise} ({finding.breaches})")
            print("".join(f"    {printable(example)}\n" for example in finding.examples), end="")
        else:
            print(f"✓ {finding.check}: {finding.promise}")
    return FAILED if any(finding.breaches for finding in findings) else DONE


def run_backup(arguments: argparse.Namespace) -> int:
    from latchd.store import backup
    from latchd.store.errors import StoreError

    target = Path(arguments.file)
    with _opened() as database:
        try:
            backup.write(database.copy_into, target)
        except FileExistsError:
            raise CommandError(f"`{target}` exists; name a new file") from None
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise CommandError(f"`{target}` can't be written: {why}") from None
        except StoreError as error:
            raise CommandError(f"`{target}` can't be written: {error}") from None
    print(f"copied to {printable(str(target))}")
    return DONE


def run_vacuum(arguments: argparse.Namespace) -> int:
    from latchd import lock
    from latchd.store import sqlite

    places = locate.places()
    path = Path(places.database)
    with _opened():
        pass  # it is ours, whole, and of this schema
    try:
        with lock.held(f"{places.state}/latchd.lock"), _told():  # the lock that goes with the file
            before = path.stat().st_size
            sqlite.vacuum(path)
            after = path.stat().st_size
    except lock.RefusedToStart as error:
        raise CommandError(f"the daemon must be down (`latchctl down`): {error}") from None
    print(f"{before:,} bytes before, {after:,} after")
    return DONE


def run_export(arguments: argparse.Namespace) -> int:
    with _opened() as database:
        if not arguments.state:
            for row in _records(database, arguments.since):
                print_json(row)
            return DONE
        with database.snapshot():
            for row in _state(database):
                print_json(row)
    return DONE


def _records(database: Database, since: int) -> Iterator[Any]:
    from latch_contracts.records import Record

    decoder = msgspec.msgpack.Decoder(Record)
    # Page by page: records are only ever appended, and one long read, into a pager that nobody scrolls,
    # would keep the daemon's log from starting over.
    while rows := database.rows(
        "SELECT seq, body FROM records WHERE seq > ? ORDER BY seq LIMIT ?", (since, _PAGE)
    ):
        for seq, body in rows:
            try:
                record = decoder.decode(body)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise CommandError(f"record {seq} can't be read: {error}; see `latchctl db check`") from None
            yield msgspec.to_builtins(msgspec.structs.replace(record, seq=seq))
        since = rows[-1][0]


def _state(database: Database) -> Iterator[Any]:
    for table in STATE:
        columns = [name for (name,) in database.each("SELECT name FROM pragma_table_info(?)", (table,))]
        for row in database.each(f"SELECT {', '.join(columns)} FROM {table}"):  # noqa: S608 - names of our schema
            values = (value.hex() if isinstance(value, bytes) else value for value in row)
            yield {"table": table, **dict(zip(columns, values, strict=True))}


@contextlib.contextmanager
def _opened() -> Generator[Database]:
    """The database here, to read. Raises CommandError with one line for whatever is wrong with it."""
    from latchd.store.database import Database

    with _told():
        database = Database.open_to_read(Path(locate.places().database))
        try:
            yield database
        finally:
            database.close()


@contextlib.contextmanager
def _told() -> Generator[None]:
    from latchd.store.errors import StoreError

    try:
        yield
    except StoreError as error:
        raise CommandError(str(error)) from None
