"""The database file: opening, committing, reading beside the writer. The only importer of apsw.

One connection writes, on the daemon's own thread. ``BEGIN IMMEDIATE`` always: a transaction that
reads first and writes later can fail at once whatever the time-out says.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (apsw's stubs name a type that this Python has not; values from it are typed where they leave here)

from __future__ import annotations

import contextlib
import os
import time
from array import array
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw

from latchd.store import backup, migrations, quarantine
from latchd.store.migrations import APPLICATION_ID, VERSION, Migration, NoPath, Schema, Shape

SCHEMA: Final = VERSION
# The agent waits: a foreign lock holder costs at most this much, then the floor answers.
BUSY_MS: Final = 250
# Nobody waits for a reader from outside, and at a daemon's start and end it may have to.
READER_BUSY_MS: Final = 5000
# A start looks for damage this long: enough for a database within its bound on a slow disk. What it
# has not come to by then is met when it is used.
CHECK_SECONDS: Final = 2.0
# A log that exists costs a commit less than one that must grow, so some of it is kept.
LOG_KEPT: Final = 16 * 1024 * 1024
_CHECK_STEPS: Final = 50_000  # of SQLite's machine between two looks at the time, some milliseconds
_SIDES: Final = ("", "-wal", "-shm")
_SCHEMA_ROWS: Final = "SELECT type, name, sql FROM sqlite_schema"


class StoreError(Exception):
    """The store could not do it. Nothing of the transaction is kept; the text is one line for a person."""


class StoreUnusable(StoreError):
    """The file can't be opened as ours (newer schema, foreign database, read-only place). Do not start."""


class StoreDamaged(StoreUnusable):
    """What is there is no sound database. Whoever writes moves it aside; a reader is told."""


class Database:
    """An open database. ``moved_aside`` names where a corrupt predecessor went, "" when there was none."""

    def __init__(
        self, connection: apsw.Connection, path: Path, *, moved_aside: str = "", full_sync: bool = True
    ) -> None:
        self._connection = connection
        self.path = path
        self.moved_aside = moved_aside
        self.is_damaged = False  # SQLite has found it so while it was used
        self._full_sync = full_sync
        self._identity = _identity(path)

    @classmethod
    def open(cls, path: Path, *, full_sync: bool = True, schema: Schema | None = None) -> Database:
        """Open, create or migrate. A corrupt file is moved aside whole; a newer or foreign one is refused."""
        wanted = schema or migrations.current()
        moved = _moved(path, quarantine.finish)
        with _one_line(path):
            try:
                connection = _connect(path, full_sync, wanted)
            except (apsw.NotADBError, apsw.CorruptError):
                moved = _moved(path, quarantine.move_aside)
                connection = _connect(path, full_sync, wanted)
        return cls(connection, path, moved_aside=moved, full_sync=full_sync)

    @classmethod
    def open_to_read(cls, path: Path, *, schema: Schema | None = None) -> Database:
        """Open what is there, beside a running daemon or without one; nothing in it can be changed.

        Raises StoreUnusable: there is none, it is not ours, or of another schema; StoreDamaged.
        """
        wanted = schema or migrations.current()
        if not path.exists():
            raise StoreUnusable(f"there is no database `{path}`")
        with _one_line(path):
            try:
                connection = _reader(path)
                _check_identity(connection, path, wanted)
                version = connection.pragma("user_version")
            except (apsw.NotADBError, apsw.CorruptError) as error:
                raise StoreDamaged(f"database `{path}` is damaged: {_text(error)}") from error
        if version != wanted.version:
            connection.close()
            raise StoreUnusable(
                f"database `{path}` has schema {version}, this latchd works with {wanted.version}; "
                "starting the daemon migrates it"
            )
        return cls(connection, path)

    def opened_again(self) -> Database:
        """What is at the path now, or a new one. Close this one first: SQLite removes its log by name."""
        return Database.open(self.path, full_sync=self._full_sync)

    @contextlib.contextmanager
    def transaction(self) -> Generator[None]:
        """All of the block or nothing of it. Raises StoreError; never await inside.

        INVARIANT (a failed commit is not an answer): when COMMIT raises, what is on disk is unknown;
        the caller must give the stricter answer or read again.
        """
        if not self.is_in_place():  # what is written to an unlinked file is kept for nobody
            what = "file" if self.has_lost_file() else "log"
            raise StoreError(f"the database {what} was removed or replaced")
        try:
            with _transaction(self._connection):
                yield
        except apsw.Error as error:
            raise self._failed(error) from error

    @contextlib.contextmanager
    def snapshot(self) -> Generator[None]:
        """All that is read in the block is of one moment, whatever is committed meanwhile. StoreError."""
        self.run("BEGIN DEFERRED")
        try:
            yield
        finally:
            with contextlib.suppress(apsw.Error):  # there is nothing to keep
                self._connection.execute("ROLLBACK")

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute one statement; the number of rows it changed. Raises StoreError."""
        try:
            self._connection.execute(sql, values)
            return self._connection.changes()
        except apsw.Error as error:
            raise self._failed(error) from error

    def insert(self, sql: str, values: Sequence[Any]) -> int:
        """Execute one INSERT; its rowid."""
        self.run(sql, values)
        return self._connection.last_insert_rowid()

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        rows = self.rows(sql, values)
        return rows[0] if rows else None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            found: list[tuple[Any, ...]] = self._connection.execute(sql, values).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._failed(error) from error
        return found

    def each(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, for what is too much to hold."""
        try:
            yield from self._connection.execute(sql, values)
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._failed(error) from error

    def sync(self, *, full: bool) -> None:
        """From the next commit on, wait for the disk at each one, or (not full) at checkpoints alone."""
        self._full_sync = full
        self.run(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")

    def size(self) -> int:
        """Bytes in use; pages that pruning has freed don't count."""
        page, count, free = (
            self.row(f"PRAGMA {name}") for name in ("page_size", "page_count", "freelist_count")
        )
        return 0 if page is None or count is None or free is None else int(page[0] * (count[0] - free[0]))

    def shape(self) -> Shape:
        """What tables and indexes there are, and of what."""
        return migrations.shape(self.rows(_SCHEMA_ROWS))

    def is_in_place(self) -> bool:
        """Whether the path still names what we write: file and log. SQLite goes on with unlinked ones."""
        return _identity(self.path) == self._identity

    def has_lost_file(self) -> bool:
        """Whether the file itself is gone; a log that is gone has not taken its content along."""
        return _identity(self.path)[0] != self._identity[0]

    def copy_into(self, target: str) -> None:
        """A whole copy of this moment in an empty file; the writer goes on meanwhile. Raises StoreError."""
        self.run("VACUUM INTO ?", (target,))

    def close(self) -> None:
        with contextlib.suppress(apsw.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _failed(self, error: apsw.Error | UnicodeDecodeError) -> StoreError:
        if isinstance(error, UnicodeDecodeError):  # of one row: the file as such may be sound
            return StoreError("a stored text is damaged")
        self.is_damaged |= isinstance(error, apsw.CorruptError | apsw.NotADBError)
        return StoreError(_text(error))


def checkpoint(path: Path) -> None:
    """Move the log into the database from a connection of its own; safe beside the writer, in a thread.

    Raises StoreError. PASSIVE: it takes what it can get and never makes the writer wait. A large log that
    was moved whole is given back to the disk, which takes the writer's place for a moment or is let be.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MS)
            ((_, pages, moved),) = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if pages == moved and os.stat(f"{path}-wal").st_size > LOG_KEPT:  # noqa: PTH116 (no Path is made)
                connection.set_busy_timeout(0)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
    except (apsw.Error, OSError) as error:
        raise StoreError(_text(error)) from error


def vacuum(path: Path) -> None:
    """Rewrite a database that nobody has open, without the room that pruning left. Raises StoreError."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(READER_BUSY_MS)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
    except apsw.Error as error:
        raise StoreError(_text(error)) from error


def shape_of(schema: Schema) -> Shape:
    """What ``schema`` makes of nothing."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(schema.sql)
        return _shape(connection)
    finally:
        connection.close()


# opening


def _connect(path: Path, full_sync: bool, schema: Schema) -> apsw.Connection:
    existed = path.exists() and path.stat().st_size > 0
    old_mask = os.umask(0o077)
    try:
        connection = apsw.Connection(str(path))
    finally:
        os.umask(old_mask)
    try:
        connection.set_busy_timeout(BUSY_MS)  # before journal_mode, which takes a lock itself
        if existed:
            # Closing a damaged database deletes its log; until it is proven sound the log stays.
            _keep_log(connection, True)
            try:
                _check_identity(connection, path, schema)
                _check_sound(connection)
            except apsw.SQLError as error:  # what was written there once was no such nonsense
                raise apsw.CorruptError(f"its schema makes no sense: {_text(error)}") from error
            _keep_log(connection, False)
        _use_log(connection, path)
        connection.pragma("wal_autocheckpoint", 0)  # checkpoints are the scheduler's, off the hot path
        connection.pragma("journal_size_limit", LOG_KEPT)
        connection.pragma("trusted_schema", 0)
        connection.pragma("cell_size_check", 1)
        connection.pragma("foreign_keys", 1)
        connection.pragma("temp_store", "memory")
        connection.pragma("cache_size", -20000)
        connection.pragma("synchronous", "FULL")  # schemas are made and changed with nothing less
        _bring_up(connection, path, schema)
        connection.pragma("synchronous", "FULL" if full_sync else "NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(READER_BUSY_MS)
        connection.pragma("user_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        # Readers of a log share a file beside it. Where none can be made and there is no log, nobody
        # writes either, and the file is read as it lies.
        if _identity(path)[1] is not None:
            raise
        uri = f"file:{quote(str(path.absolute()))}?immutable=1"
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except BaseException:
        connection.close()
        raise
    connection.pragma("trusted_schema", 0)
    connection.pragma("cell_size_check", 1)
    return connection


def _use_log(connection: apsw.Connection, path: Path) -> None:
    mode = connection.pragma("journal_mode", "wal")  # its answer is the mode that really holds
    if mode != "wal":
        raise StoreUnusable(f"database `{path}` can't use a write-ahead log here (journal mode {mode})")


def _keep_log(connection: apsw.Connection, keep: bool) -> None:
    flag = array("i", [keep])  # the call takes the address of a C int
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, flag.buffer_info()[0])


def _check_identity(connection: apsw.Connection, path: Path, schema: Schema) -> None:
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


def _check_sound(connection: apsw.Connection) -> None:
    """Look for damage as long as a start may take. Raises CorruptError."""
    end = time.monotonic() + CHECK_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, _CHECK_STEPS)
    try:
        if connection.pragma("quick_check", 1) != "ok":
            raise apsw.CorruptError("quick_check found damage")
    except apsw.InterruptError:
        pass
    finally:
        connection.set_progress_handler(None)


def _bring_up(connection: apsw.Connection, path: Path, schema: Schema) -> None:
    """Make what is there the wanted schema: nothing yet, an older one, or it already."""
    version = connection.pragma("user_version")
    if version == 0:
        with _transaction(connection):
            connection.execute(schema.sql)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", schema.version)
        return
    if version != schema.version:
        _migrate(connection, path, version, schema)
    different = sorted(f"{kind} {name}" for kind, name, _ in shape_of(schema) - _shape(connection))
    if different:  # a start that goes on would fail at every call
        raise apsw.CorruptError(f"not as schema {schema.version} has it: {', '.join(different)}")


def _migrate(connection: apsw.Connection, path: Path, version: int, schema: Schema) -> None:
    try:
        steps = schema.path_from(version)
    except NoPath as error:
        raise StoreUnusable(f"database `{path}` has schema {version}: {error}") from error

    def copy_into(target: str) -> None:
        connection.execute("VACUUM INTO ?", (target,))

    try:
        copy = backup.write_dated(copy_into, path, version, time.time_ns() // 1_000_000)
    except (OSError, apsw.Error) as error:
        raise StoreUnusable(
            f"database `{path}` can't be copied before it is migrated, and is as it was: {_text(error)}"
        ) from error
    try:
        for step in steps:
            _step(connection, step)
    except apsw.Error as error:
        raise StoreUnusable(
            f"database `{path}` can't be migrated to schema {schema.version}: {_text(error)}; "
            f"it is as it was after the last whole step, and as it was before in `{copy}`"
        ) from error
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _step(connection: apsw.Connection, step: Migration) -> None:
    """One migration with the number it leads to, or nothing of it."""
    with _transaction(connection):
        for statement in step.statements:
            connection.execute(statement)
        connection.pragma("user_version", step.to)


# the small parts


@contextlib.contextmanager
def _transaction(connection: apsw.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # After FULL or IOERR SQLite has rolled back already; a bare ROLLBACK would then
        # raise and hide the cause.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _one_line(path: Path) -> Generator[None]:
    """What SQLite or the system refuses while a database is opened, as StoreUnusable."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise StoreUnusable(f"database `{path}`: {_text(error)}") from error


def _moved(path: Path, move: Callable[[Path], Path | None]) -> str:
    """Where the database went, "" when nothing had to. Raises StoreUnusable."""
    try:
        aside = move(path)
    except OSError as error:
        raise StoreUnusable(f"corrupt database `{path}` can't be moved aside: {_text(error)}") from error
    return "" if aside is None else str(aside)


def _shape(connection: apsw.Connection) -> Shape:
    try:
        return migrations.shape(connection.execute(_SCHEMA_ROWS).fetchall())
    except UnicodeDecodeError as error:
        raise apsw.CorruptError("the schema is no text") from error


def _identity(path: Path) -> tuple[tuple[int, int] | None, ...]:
    """Which files lie at the path and beside it: device and inode, None for none."""
    found: list[tuple[int, int] | None] = []
    for side in _SIDES:
        try:
            status = os.stat(f"{path}{side}")  # noqa: PTH116 (once per transaction: no Path is made)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino))
    return tuple(found)


def _text(error: Exception) -> str:
    said = (error.strerror or "").lower() if isinstance(error, OSError) else ""
    return " ".join((said or str(error)).split()) or type(error).__name__
