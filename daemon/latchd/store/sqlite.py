"""SQLite as we use it: connections, their settings, what it says when it fails. The only importer of apsw.

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
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from latchd.store import migrations
from latchd.store.errors import StoreError, StoreUnusable
from latchd.store.migrations import Schema, Shape

Connection = apsw.Connection
Error = apsw.Error
CorruptError = apsw.CorruptError
NotADBError = apsw.NotADBError
SQLError = apsw.SQLError
CantOpenError = apsw.CantOpenError
ReadOnlyError = apsw.ReadOnlyError

# The agent waits: a foreign lock holder costs at most this much, then the floor answers.
BUSY_MS: Final = 250
# Nobody waits for a reader from outside, and at a daemon's start and end it may have to.
READER_BUSY_MS: Final = 5000
# A start looks for damage this long: enough for a database within its bound on a slow disk. What it
# has not come to by then is met when it is used.
CHECK_SECONDS: Final = 2.0
# A log that exists costs a commit less than one that must grow (see log_room), so much of it is kept:
# twice the size at which the scheduler empties it. What is longer is cut by the next commit.
LOG_KEPT: Final = 32 * 1024 * 1024
_FRAME: Final = 24 + 4096  # of a log: a header and SQLite's page
_LOG_HEADER: Final = 32
_CHECK_STEPS: Final = 50_000  # of SQLite's machine between two looks at the time, some milliseconds
SCHEMA_ROWS: Final = "SELECT type, name, sql FROM sqlite_schema"

OK: Final = apsw.SQLITE_OK


def to_write(path: Path) -> Connection:
    """A connection that makes the file, private, when there is none."""
    old_mask = os.umask(0o077)
    try:
        connection = apsw.Connection(str(path))
    finally:
        os.umask(old_mask)
    connection.set_busy_timeout(BUSY_MS)  # before journal_mode, which takes a lock itself
    return connection


def to_read(name: str, *, uri: bool = False) -> Connection:
    """A connection that changes nothing; ``uri``: the name is one."""
    flags = apsw.SQLITE_OPEN_READONLY | (apsw.SQLITE_OPEN_URI if uri else 0)
    return apsw.Connection(name, flags=flags)


def settle(connection: Connection) -> None:
    """What holds for the one that writes, but for ``synchronous``: that is the user's choice."""
    connection.pragma("wal_autocheckpoint", 0)  # checkpoints are the scheduler's, off the hot path
    connection.pragma("journal_size_limit", LOG_KEPT)
    trust_nothing(connection)
    connection.pragma("foreign_keys", 1)
    connection.pragma("temp_store", "memory")
    connection.pragma("cache_size", -20000)


def trust_nothing(connection: Connection) -> None:
    """The file may hold what was never ours: it runs nothing, and each page is looked at."""
    connection.pragma("trusted_schema", 0)
    connection.pragma("cell_size_check", 1)


def use_log(connection: apsw.Connection, path: Path) -> None:
    mode = connection.pragma("journal_mode", "wal")  # its answer is the mode that really holds
    if mode != "wal":
        raise StoreUnusable(f"database `{path}` can't use a write-ahead log here (journal mode {mode})")


def keep_log(connection: apsw.Connection, keep: bool) -> None:
    flag = array("i", [keep])  # the call takes the address of a C int
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, flag.buffer_info()[0])


def check_sound(connection: apsw.Connection) -> None:
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


@contextlib.contextmanager
def transaction(connection: apsw.Connection) -> Generator[None]:
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
        raise StoreError(text(error)) from error


class LogState(NamedTuple):
    """Frames that the log holds, and how many of them the file has too."""

    frames: int
    moved: int

    @property
    def length(self) -> int:
        """Bytes that the log has at least."""
        return length_of(self.frames)


def log_state(connection: Connection) -> LogState:
    """As the log's index has it, whoever wrote or moved them. Raises Error."""
    row: Any = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchall()[0]
    return LogState(int(row[1]), int(row[2]))


def length_of(frames: int) -> int:
    """Bytes of a log of so many frames."""
    return _LOG_HEADER + frames * _FRAME if frames > 0 else 0


def frames_in(length: int) -> int:
    """Whole frames that a log of so many bytes can hold."""
    return max(0, (length - _LOG_HEADER) // _FRAME)


def let_be_at_close(connection: Connection) -> None:
    """Closing moves nothing from the log into the file, and leaves it there."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


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
        raise StoreError(text(error)) from error


def shape_of(schema: Schema) -> Shape:
    """What ``schema`` makes of nothing."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(schema.sql)
        return shape(connection)
    finally:
        connection.close()


def shape(connection: apsw.Connection) -> Shape:
    try:
        return migrations.shape(connection.execute(SCHEMA_ROWS).fetchall())
    except UnicodeDecodeError as error:
        raise apsw.CorruptError("the schema is no text") from error


def text(error: Exception) -> str:
    said = (error.strerror or "").lower() if isinstance(error, OSError) else ""
    return " ".join((said or str(error)).split()) or type(error).__name__
