"""Schemas that never were, one made from another: what a later release will look like to the machinery."""

from __future__ import annotations

from typing import Final

from latchd.store.migrations import Migration, Schema

_ITEMS_1: Final = """
-- What there is.
CREATE TABLE items (
    id    INTEGER NOT NULL PRIMARY KEY,
    name  TEXT    NOT NULL  -- may repeat
) STRICT;
"""
_ITEMS_2: Final = """
CREATE TABLE items (
    id      INTEGER NOT NULL PRIMARY KEY,
    name    TEXT    NOT NULL,  -- may repeat
    weight  INTEGER NOT NULL DEFAULT 7 CHECK (weight > 0)
) STRICT;
CREATE INDEX items_by_name ON items (name);
"""
_ITEMS_3: Final = """
CREATE TABLE items (
    name    TEXT    NOT NULL,
    id      INTEGER NOT NULL,
    weight  INTEGER NOT NULL,
    PRIMARY KEY (name, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE totals (
    name    TEXT    NOT NULL PRIMARY KEY,
    weight  INTEGER NOT NULL
) STRICT;
"""

TO_2: Final = Migration(
    2,
    (
        "ALTER TABLE items ADD COLUMN weight INTEGER NOT NULL DEFAULT 7 CHECK (weight > 0)",
        "CREATE INDEX items_by_name ON items (name)",
        "UPDATE items SET weight = length(name)",
    ),
)
TO_3: Final = Migration(
    3,
    (
        "CREATE TABLE ordered (name TEXT NOT NULL, id INTEGER NOT NULL, weight INTEGER NOT NULL, "
        "PRIMARY KEY (name, id)) STRICT, WITHOUT ROWID",
        "INSERT INTO ordered SELECT name, id, weight FROM items",
        "DROP TABLE items",
        "ALTER TABLE ordered RENAME TO items",
        "CREATE TABLE totals (name TEXT NOT NULL PRIMARY KEY, weight INTEGER NOT NULL) STRICT",
        "INSERT INTO totals SELECT name, sum(weight) FROM items GROUP BY name",
    ),
)

V1: Final = Schema(1, _ITEMS_1)
V2: Final = Schema(2, _ITEMS_2, (TO_2,))
V3: Final = Schema(3, _ITEMS_3, (TO_2, TO_3))
ALL: Final = {one.version: one for one in (V1, V2, V3)}

ROWS: Final = [(1, "pear"), (2, "fig"), (3, "fig")]
ITEMS_AT_3: Final = [("fig", 2, 3), ("fig", 3, 3), ("pear", 1, 4)]
TOTALS_AT_3: Final = [("fig", 6), ("pear", 4)]
