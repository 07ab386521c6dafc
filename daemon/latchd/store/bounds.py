"""How much is kept of everything, and taking the oldest over it in small batches."""

from __future__ import annotations

from typing import Final

import msgspec

from latchd.store import denials, turns
from latchd.store.database import Database


class Bounds(msgspec.Struct, frozen=True):
    """How much is kept. Final rows are tombstones for redeliveries, so they outlive the window by far."""

    sessions: int = 4096
    pending_per_session: int = 256
    calls: int = 262_144
    steps: int = 262_144
    files: int = 262_144
    chain_events: int = 262_144
    taints: int = 65_536
    turns: int = turns.MOST
    denials: int = denials.MOST
    records_ms: int = 30 * 24 * 3600 * 1000
    bytes: int = 256 * 1024 * 1024  # of the whole database; over it the oldest records go
    batch: int = 500  # rows a sweep removes of one kind, so that no decision waits for a long one


# table, its order, the bound's name, which rows may go
BOUNDED: Final = (
    ("calls", "opened_seq", "calls", "state <> 'pending'"),
    ("steps", "seq", "steps", "true"),
    ("files", "seq", "files", "true"),
    ("chain_events", "seq", "chain_events", "true"),
    ("taints", "seq", "taints", "true"),
    ("turns", "seq", "turns", "true"),
    ("denials", "seq", "denials", "true"),
    (
        "sessions",
        "last_seq",
        "sessions",
        "session NOT IN (SELECT session FROM calls WHERE state = 'pending')",
    ),
)


class Pruning:
    """Remembers between batches how much is over which bound: counting takes as long as removing a batch."""

    def __init__(self) -> None:
        self._over: dict[str, int] = {}  # rows over each table's bound, as counted last

    def prune(self, database: Database, bounds: Bounds, now_ms: int) -> bool:
        """Remove a batch of what is over its bound, oldest first; whether more of it may be left."""
        batch = bounds.batch
        if not any(self._over.values()):  # counting a full table takes as long as removing a batch
            for table, _, cap, _ in BOUNDED:
                row = database.row(f"SELECT count(*) FROM {table}")
                self._over[table] = max(0, (0 if row is None else int(row[0])) - getattr(bounds, cap))
        for table, order, _, only in BOUNDED:
            wanted = min(batch, self._over[table])
            if wanted:
                # Names come from the table above, never from outside.
                oldest = f"SELECT {order} FROM {table} WHERE {only} ORDER BY {order} LIMIT ?"
                if table == "turns":
                    removed = turns.drop_oldest(database, wanted)
                else:
                    if table == "sessions":
                        _keep_ends(database, oldest, wanted)
                    removed = database.run(
                        f"DELETE FROM {table} WHERE {only} AND {order} IN ({oldest})", (wanted,)
                    )
                # Fewer than wanted: what is left is pending and may not go.
                self._over[table] = self._over[table] - removed if removed == wanted else 0
        removed = database.run(
            "DELETE FROM records WHERE seq IN "
            "(SELECT seq FROM records WHERE (at_ms < ?1 OR ?2) AND seq < (SELECT max(seq) FROM records) "
            "ORDER BY seq LIMIT ?3)",
            (now_ms - bounds.records_ms, database.size() > bounds.bytes, batch),
        )
        return removed >= batch or any(self._over.values())


def _keep_ends(database: Database, oldest: str, count: int) -> None:
    """Before sessions go: where their windows were closed must not be forgotten with them."""
    row = database.row(f"SELECT max(closed_seq) FROM sessions WHERE last_seq IN ({oldest})", (count,))
    turns.raise_barrier(database, "session", 0 if row is None else int(row[0] or 0))
