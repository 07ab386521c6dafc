"""Which schemas there have been, and how each becomes the next. Data and pure functions; nothing runs here.

schema.sql is always the whole schema of now. Whoever changes it after a release adds the migration that
makes the same of the schema before; a test builds both and compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

APPLICATION_ID: Final = 0x6C746364  # "ltcd"
_COMMENT: Final = re.compile(r"--[^\n]*")
_SPACE: Final = re.compile(r"\s+")


class Migration(msgspec.Struct, frozen=True):
    """To schema ``to`` from the one before. Each text is one statement; none begins or ends a transaction."""

    to: int
    statements: tuple[str, ...]


class Schema(msgspec.Struct, frozen=True):
    """A schema: its number (user_version), the SQL that makes it of nothing, and the way to it."""

    version: int
    sql: str
    migrations: tuple[Migration, ...] = ()

    def path_from(self, version: int) -> tuple[Migration, ...]:
        """The migrations a database of ``version`` needs, in order. Raises NoPath where one is missing."""
        wanted = range(version + 1, self.version + 1)
        found = {one.to: one for one in self.migrations}
        if missing := [number for number in wanted if number not in found]:
            raise NoPath(missing[0])
        return tuple(found[number] for number in wanted)


class NoPath(Exception):
    """No migration makes schema ``to``; the database is older than any that was released."""

    def __init__(self, to: int) -> None:
        super().__init__(f"nothing leads to schema {to}")
        self.to = to


VERSION: Final = 1
MIGRATIONS: Final[tuple[Migration, ...]] = ()  # 1 is the first schema that is released


@cache
def current() -> Schema:
    """The schema of this latchd."""
    sql = resources.files("latchd.store").joinpath("schema.sql").read_text("utf-8")
    return Schema(VERSION, sql, MIGRATIONS)


Shape = frozenset[tuple[str, str, str]]


def shape(rows: Iterable[Sequence[Any]]) -> Shape:
    """What ``SELECT type, name, sql FROM sqlite_schema`` says, without layout, comments and SQLite's own.

    A column that was added later stands at the end of its table, as ALTER TABLE leaves it; schema.sql
    writes new ones there too.
    """
    return frozenset((str(kind), str(name), _plain(sql)) for kind, name, sql in rows if sql is not None)


def _plain(sql: str) -> str:
    """One spelling for one meaning: ALTER TABLE quotes names and keeps the layout of each statement."""
    text = _SPACE.sub(" ", _COMMENT.sub(" ", sql)).replace('"', "")
    return re.sub(r" ?([(),]) ?", r"\1", text).strip()
