"""The database file: opening, migrating, quarantining, committing. The only importer of apsw.

One connection writes, on the daemon's own thread. ``BEGIN IMMEDIATE`` always: a transaction that
reads first and writes later can fail at once whatever the time-out says.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (apsw's stubs name a type that this Python has not; values from it are typed where they leave here)

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Generator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import apsw

APPLICATION_ID: Final = 0x6C746364  # "ltcd"
SCHEMA: Final = 1
# The agent waits: a foreign lock holder costs at most this much, then the floor answers.
BUSY_MS: Final = 250
_COMPANIONS: Final = ("", "-wal", "-shm")


class StoreError(Exception):
    """The store could not do it. Nothing of the transaction is kept; the text is one line for a person."""


class StoreUnusable(StoreError):
    """The file can't be opened as ours (newer schema, foreign database, read-only place). Do not start."""


class Database:
    """An open database. ``moved_aside`` names where a corrupt predecessor went, "" when there was none."""

    def __init__(self, connection: apsw.Connection, path: Path, moved_aside: str, full_sync: bool) -> None:
        self._connection = connection
        self.path = path
        self.moved_aside = moved_aside
        self.is_damaged = False  # SQLite has found it so while it was used
        self._full_sync = full_sync
        self._identity = _identity(path)

    @classmethod
    def open(cls, path: Path, *, full_sync: bool = True) -> Database:
        """Open or create. A corrupt file is moved aside whole; a newer or foreign one is refused."""
        try:
            return cls(_connect(path, full_sync), path, "", full_sync)
        except (apsw.NotADBError, apsw.CorruptError):
            try:
                aside = _quarantine(path)
            except OSError as error:
                why = (error.strerror or str(error)).lower()
                raise StoreUnusable(f"corrupt database `{path}` can't be moved aside: {why}") from error
        except apsw.Error as error:
            raise StoreUnusable(f"database `{path}`: {_text(error)}") from error
        try:
            return cls(_connect(path, full_sync), path, str(aside), full_sync)
        except apsw.Error as error:
            raise StoreUnusable(f"database `{path}`: {_text(error)}") from error

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
            raise StoreError("the database file was removed or replaced")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # After FULL or IOERR SQLite has rolled back already; a bare ROLLBACK would then
                # raise and hide the cause.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        except apsw.Error as error:
            raise self._failed(error) from error

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
        except apsw.Error as error:
            raise self._failed(error) from error
        return found

    def size(self) -> int:
        """Bytes in use; pages that pruning has freed don't count."""
        page, count, free = (
            self.row(f"PRAGMA {name}") for name in ("page_size", "page_count", "freelist_count")
        )
        return 0 if page is None or count is None or free is None else int(page[0] * (count[0] - free[0]))

    def is_in_place(self) -> bool:
        """Whether the path still names the file we write. SQLite keeps writing to an unlinked one."""
        return _identity(self.path) == self._identity

    def close(self) -> None:
        with contextlib.suppress(apsw.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _failed(self, error: apsw.Error) -> StoreError:
        self.is_damaged |= isinstance(error, apsw.CorruptError | apsw.NotADBError)
        return StoreError(_text(error))


def checkpoint(path: Path) -> None:
    """Move the log into the database from a connection of its own; safe beside the writer, in a thread.

    Raises StoreError. PASSIVE: it takes what it can get and never makes the writer wait.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MS)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        finally:
            connection.close()
    except apsw.Error as error:
        raise StoreError(_text(error)) from error


def _connect(path: Path, full_sync: bool) -> apsw.Connection:
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
            _check_ours(connection, path)
            _keep_log(connection, False)
        _use_log(connection, path)
        connection.pragma("synchronous", "FULL" if full_sync else "NORMAL")
        connection.pragma("wal_autocheckpoint", 0)  # checkpoints are the scheduler's, off the hot path
        connection.pragma("journal_size_limit", 16 * 1024 * 1024)
        connection.pragma("trusted_schema", 0)
        connection.pragma("cell_size_check", 1)
        connection.pragma("foreign_keys", 1)
        connection.pragma("temp_store", "memory")
        connection.pragma("cache_size", -20000)
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: apsw.Connection, path: Path) -> None:
    mode = connection.pragma("journal_mode", "wal")  # its answer is the mode that really holds
    if mode != "wal":
        raise StoreUnusable(f"database `{path}` can't use a write-ahead log here (journal mode {mode})")


def _keep_log(connection: apsw.Connection, keep: bool) -> None:
    flag = array("i", [keep])  # the call takes the address of a C int
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, flag.buffer_info()[0])


def _check_ours(connection: apsw.Connection, path: Path) -> None:
    version = connection.pragma("user_version")
    application = connection.pragma("application_id")
    if application != APPLICATION_ID:
        tables: Any = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]
        if application != 0 or tables:
            raise StoreUnusable(f"database `{path}` belongs to another program")
    elif version > SCHEMA:
        raise StoreUnusable(
            f"database `{path}` has schema {version}, this latchd knows {SCHEMA}; upgrade latchd"
        )
    if connection.pragma("quick_check", 1) != "ok":
        raise apsw.CorruptError("quick_check found damage")


def _migrate(connection: apsw.Connection) -> None:
    if connection.pragma("user_version") == SCHEMA:
        return
    schema = resources.files("latchd.store").joinpath("schema.sql").read_text("utf-8")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.pragma("user_version") == 0:
            connection.execute(schema)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", SCHEMA)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _quarantine(path: Path) -> Path:
    """Rename the file and its companions together, so that no stale log is replayed into a new one."""
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    for suffix in _COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
    return aside


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _text(error: apsw.Error) -> str:
    return " ".join(str(error).split()) or type(error).__name__
