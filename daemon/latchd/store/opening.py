"""Making a file our database: its identity, its soundness, its schema, brought up from an older one.

What is not ours or newer is refused and left alone; nothing is migrated before there is a copy.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (apsw's stubs name a type that this Python has not; values from it are typed where they leave here)

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from latchd.store import backup, presence, sqlite
from latchd.store.errors import StoreUnusable
from latchd.store.migrations import APPLICATION_ID, Migration, NoPath, Schema


def connect(path: Path, full_sync: bool, schema: Schema) -> sqlite.Connection:
    existed = path.exists() and path.stat().st_size > 0
    connection = sqlite.to_write(path)
    try:
        if existed:
            # Closing a damaged database deletes its log; until it is proven sound the log stays.
            sqlite.keep_log(connection, True)
            try:
                check_identity(connection, path, schema)
                sqlite.check_sound(connection)
            except sqlite.SQLError as error:  # what was written there once was no such nonsense
                raise sqlite.CorruptError(f"its schema makes no sense: {sqlite.text(error)}") from error
            sqlite.keep_log(connection, False)
        sqlite.use_log(connection, path)
        sqlite.settle(connection)
        connection.pragma("synchronous", "FULL")  # schemas are made and changed with nothing less
        _bring_up(connection, path, schema)
        connection.pragma("synchronous", "FULL" if full_sync else "NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def reader(path: Path) -> sqlite.Connection:
    connection = sqlite.to_read(str(path))
    try:
        connection.set_busy_timeout(sqlite.READER_BUSY_MS)
        connection.pragma("user_version")
    except (sqlite.CantOpenError, sqlite.ReadOnlyError):
        connection.close()
        # Readers of a log share a file beside it. Where none can be made and there is no log, nobody
        # writes either, and the file is read as it lies.
        if presence.of(path).files[1] is not None:
            raise
        uri = f"file:{quote(str(path.absolute()))}?immutable=1"
        connection = sqlite.to_read(uri, uri=True)
    except BaseException:
        connection.close()
        raise
    sqlite.trust_nothing(connection)
    return connection


def check_identity(connection: sqlite.Connection, path: Path, schema: Schema) -> None:
    version = connection.pragma("user_version")
    application = connection.pragma("application_id")
    if application != APPLICATION_ID:
        tables: Any = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]
        if application != 0 or tables:
            raise StoreUnusable(f"database `{path}` belongs to another program")
    elif version > schema.version:
        raise StoreUnusable(
            f"database `{path}` has schema {version}, this latchd knows {schema.version}; upgrade latchd"
        )


def _bring_up(connection: sqlite.Connection, path: Path, schema: Schema) -> None:
    """Make what is there the wanted schema: nothing yet, an older one, or it already."""
    version = connection.pragma("user_version")
    if version == 0:
        with sqlite.transaction(connection):
            connection.execute(schema.sql)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", schema.version)
        return
    if version != schema.version:
        _migrate(connection, path, version, schema)
    different = sorted(
        f"{kind} {name}" for kind, name, _ in sqlite.shape_of(schema) - sqlite.shape(connection)
    )
    if different:  # a start that goes on would fail at every call
        raise sqlite.CorruptError(f"not as schema {schema.version} has it: {', '.join(different)}")


def _migrate(connection: sqlite.Connection, path: Path, version: int, schema: Schema) -> None:
    try:
        steps = schema.path_from(version)
    except NoPath as error:
        raise StoreUnusable(f"database `{path}` has schema {version}: {error}") from error

    def copy_into(target: str) -> None:
        connection.execute("VACUUM INTO ?", (target,))

    try:
        copy = backup.write_dated(copy_into, path, version, time.time_ns() // 1_000_000)
    except (OSError, sqlite.Error) as error:
        raise StoreUnusable(
            f"database `{path}` can't be copied before it is migrated, and is as it was: {sqlite.text(error)}"
        ) from error
    try:
        for step in steps:
            _step(connection, step)
    except sqlite.Error as error:
        raise StoreUnusable(
            f"database `{path}` can't be migrated to schema {schema.version}: {sqlite.text(error)}; "
            f"it is as it was after the last whole step, and as it was before in `{copy}`"
        ) from error
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _step(connection: sqlite.Connection, step: Migration) -> None:
    """One migration with the number it leads to, or nothing of it."""
    with sqlite.transaction(connection):
        for statement in step.statements:
            connection.execute(statement)
        connection.pragma("user_version", step.to)


@contextlib.contextmanager
def one_line(path: Path) -> Generator[None]:
    """What SQLite or the system refuses while a database is opened, as StoreUnusable."""
    try:
        yield
    except (sqlite.Error, OSError) as error:
        raise StoreUnusable(f"database `{path}`: {sqlite.text(error)}") from error


def moved(path: Path, move: Callable[[Path], Path | None]) -> str:
    """Where the database went, "" when nothing had to. Raises StoreUnusable."""
    try:
        aside = move(path)
    except OSError as error:
        raise StoreUnusable(
            f"corrupt database `{path}` can't be moved aside: {sqlite.text(error)}"
        ) from error
    return "" if aside is None else str(aside)
