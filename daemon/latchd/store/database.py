"""The database file as the store uses it: transactions, rows, and whether it is still the one at its path."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (apsw's stubs name a type that this Python has not; values from it are typed where they leave here)

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from latchd.store import migrations, opening, presence, quarantine, sqlite
from latchd.store.errors import StoreDamaged, StoreError, StoreUnusable
from latchd.store.migrations import Schema, Shape


class Database:
    """An open database. ``moved_aside`` names where a corrupt predecessor went, "" when there was none."""

    def __init__(
        self, connection: sqlite.Connection, path: Path, *, moved_aside: str = "", full_sync: bool = True
    ) -> None:
        self._connection = connection
        self.path = path
        self.moved_aside = moved_aside
        self.is_damaged = False  # SQLite has found it so while it was used
        self.log_bytes = 0  # of the log in use, as of the last commit
        self._is_mixed = False  # file and log are of several moments
        self._full_sync = full_sync
        self._files = presence.of(path).files
        if not connection.readonly("main"):
            self.log_bytes = sqlite.log_state(connection).length
            connection.set_wal_hook(self._committed)

    @classmethod
    def open(cls, path: Path, *, full_sync: bool = True, schema: Schema | None = None) -> Database:
        """Open, create or migrate. A corrupt file is moved aside whole; a newer or foreign one is refused."""
        wanted = schema or migrations.current()
        moved = opening.moved(path, quarantine.finish)
        with opening.one_line(path):
            try:
                connection = opening.connect(path, full_sync, wanted)
            except (sqlite.NotADBError, sqlite.CorruptError):
                moved = opening.moved(path, quarantine.move_aside)
                connection = opening.connect(path, full_sync, wanted)
        return cls(connection, path, moved_aside=moved, full_sync=full_sync)

    @classmethod
    def open_to_read(cls, path: Path, *, schema: Schema | None = None) -> Database:
        """Open what is there, beside a running daemon or without one; nothing in it can be changed.

        Raises StoreUnusable: there is none, it is not ours, or of another schema; StoreDamaged.
        """
        wanted = schema or migrations.current()
        if not path.exists():
            raise StoreUnusable(f"there is no database `{path}`")
        with opening.one_line(path):
            try:
                connection = opening.reader(path)
                opening.check_identity(connection, path, wanted)
                version = connection.pragma("user_version")
            except (sqlite.NotADBError, sqlite.CorruptError) as error:
                raise StoreDamaged(f"database `{path}` is damaged: {sqlite.text(error)}") from error
        if version != wanted.version:
            connection.close()
            raise StoreUnusable(
                f"database `{path}` has schema {version}, this latchd works with {wanted.version}; "
                "starting the daemon migrates it"
            )
        return cls(connection, path)

    def opened_again(self) -> Database:
        """What is at the path now, or a new one. Close this one first: SQLite removes its log by name."""
        parted = ""
        if self._is_mixed:
            parted = opening.moved(self.path, quarantine.move_aside)
        elif self.has_lost_file():
            parted = opening.moved(self.path, quarantine.part_log)
        opened = Database.open(self.path, full_sync=self._full_sync)
        opened.moved_aside = opened.moved_aside or parted
        return opened

    @contextlib.contextmanager
    def transaction(self) -> Generator[None]:
        """All of the block or nothing of it. Raises StoreError; never await inside.

        INVARIANT (a failed commit is not an answer): when COMMIT raises, what is on disk is unknown;
        the caller must give the stricter answer or read again.
        """
        if not self.is_in_place():  # what is written to an unlinked file is kept for nobody
            if self.has_cut_log():
                raise StoreError("the database log was cut short")
            what = "file" if self.has_lost_file() else "log"
            raise StoreError(f"the database {what} was removed or replaced")
        try:
            with sqlite.transaction(self._connection):
                yield
        except sqlite.Error as error:
            raise self._failed(error) from error

    @contextlib.contextmanager
    def snapshot(self) -> Generator[None]:
        """All that is read in the block is of one moment, whatever is committed meanwhile. StoreError."""
        self.run("BEGIN DEFERRED")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite.Error):  # there is nothing to keep
                self._connection.execute("ROLLBACK")

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute one statement; the number of rows it changed. Raises StoreError."""
        try:
            self._connection.execute(sql, values)
            return self._connection.changes()
        except sqlite.Error as error:
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
        except (sqlite.Error, UnicodeDecodeError) as error:
            raise self._failed(error) from error
        return found

    def each(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, for what is too much to hold."""
        try:
            yield from self._connection.execute(sql, values)
        except (sqlite.Error, UnicodeDecodeError) as error:
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
        return migrations.shape(self.rows(sqlite.SCHEMA_ROWS))

    def is_in_place(self) -> bool:
        """Whether the path still names what we write, file and log. SQLite goes on with unlinked ones."""
        found = presence.of(self.path)
        return found.files == self._files and self._is_whole(found.log_bytes)

    def has_lost_file(self) -> bool:
        """Whether the file itself is gone; a log that is gone has not taken its content along."""
        return presence.of(self.path).files[0] != self._files[0]

    def has_cut_log(self) -> bool:
        """Whether the log is there and has lost its end: SQLite would go on behind the hole."""
        found = presence.of(self.path)
        return found.files == self._files and not self._is_whole(found.log_bytes)

    def copy_into(self, target: str) -> None:
        """A whole copy of this moment in an empty file; the writer goes on meanwhile. Raises StoreError."""
        self.run("VACUUM INTO ?", (target,))

    def close(self) -> None:
        with contextlib.suppress(sqlite.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def abandon(self) -> None:
        """Close a database whose log was cut short, and move nothing out of that log.

        What is left of it is history up to a commit, and is read at the next opening. Not so where the file
        has later pages already: then it is the whole history, if all was moved, or a mixture of moments,
        which is moved aside.
        """
        kept = sqlite.frames_in(presence.of(self.path).log_bytes)
        with contextlib.suppress(sqlite.Error):
            log = sqlite.log_state(self._connection)
            self._is_mixed = kept < log.moved < log.frames
            if kept < log.moved == log.frames:
                os.truncate(f"{self.path}-wal", 0)
        sqlite.let_be_at_close(self._connection)
        self._connection.close()

    def _is_whole(self, log_bytes: int) -> bool:
        if log_bytes >= self.log_bytes:
            return True
        # Another program may have moved all of the log and cut it: its index knows.
        try:
            self.log_bytes = sqlite.log_state(self._connection).length
        except sqlite.Error:
            return False
        return log_bytes >= self.log_bytes

    def _committed(self, _connection: sqlite.Connection, _database: str, pages: int) -> int:
        self.log_bytes = sqlite.length_of(pages)
        return sqlite.OK

    def _failed(self, error: sqlite.Error | UnicodeDecodeError) -> StoreError:
        if isinstance(error, UnicodeDecodeError):  # of one row: the file as such may be sound
            return StoreError("a stored text is damaged")
        self.is_damaged |= isinstance(error, sqlite.CorruptError | sqlite.NotADBError)
        return StoreError(sqlite.text(error))
