"""Turns that are over, in a capped catalogue, and what it has dropped. Inside the caller's transaction.

Order is the database's sequence, so a late event can't be told by its time. What tells it is its turn:
one that was ended by the next, or with its session. Over the cap the oldest ends are dropped, and one
number, the barrier, stands for all of them: in a session that is older than it, a turn that is neither
the latest nor catalogued may be one of the dropped, and counts as over. That can cost a step and never
makes one.
"""

from __future__ import annotations

from typing import Final

from latchd.store.database import Database

MOST: Final = 16_384


def end(database: Database, session: bytes, turn: bytes, seq: int) -> None:
    """This turn is over; b"" is none."""
    if turn:
        database.run(
            "INSERT INTO turns (session, turn, seq) VALUES (?1, ?2, ?3) "
            "ON CONFLICT (session, turn) DO UPDATE SET seq = ?3",
            (session, turn, seq),
        )


def is_over(database: Database, session: bytes, turn: bytes, latest: bytes, first_seq: int) -> bool:
    """Whether what comes under this turn is late. ``latest`` and ``first_seq`` are the session's own."""
    if not turn:
        return False
    if database.row("SELECT 1 FROM turns WHERE session = ? AND turn = ?", (session, turn)) is not None:
        return True
    return bool(latest) and turn != latest and first_seq <= barrier(database, "turn")


def barrier(database: Database, kind: str) -> int:
    """Up to where this catalogue has dropped ends; 0 = nowhere."""
    row = database.row("SELECT seq FROM barriers WHERE kind = ?", (kind,))
    return 0 if row is None else int(row[0])


def raise_barrier(database: Database, kind: str, seq: int) -> None:
    """It never moves back."""
    if seq > 0:
        database.run(
            "INSERT INTO barriers (kind, seq) VALUES (?1, ?2) "
            "ON CONFLICT (kind) DO UPDATE SET seq = max(seq, ?2)",
            (kind, seq),
        )


def drop_oldest(database: Database, count: int) -> int:
    """Drop so many of the oldest ends, for the barrier to stand in; how many there were."""
    row = database.row("SELECT max(seq) FROM (SELECT seq FROM turns ORDER BY seq LIMIT ?)", (count,))
    last = 0 if row is None or row[0] is None else int(row[0])
    raise_barrier(database, "turn", last)
    return database.run("DELETE FROM turns WHERE seq <= ?", (last,))
