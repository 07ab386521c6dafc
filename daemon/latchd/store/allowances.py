"""The refusals that a person may lift, and those that were, in functions named after facts.

Each runs inside the caller's transaction; the table is bounded by itself whenever it grows.
"""

from __future__ import annotations

from typing import Any, Final

from latchd.allowances import KEPT, Refusal
from latchd.store.database import Database
from latchd.windows import Instant

_SELECT: Final = (
    "SELECT seq, session, deed, rule, policy, boot, boot_ns, wall_ms, "
    "grant_seq, grant_boot, grant_boot_ns, grant_wall_ms, used_seq FROM refusals "
)


def add(database: Database, refusal: Refusal) -> None:
    """Keep one more refusal; the oldest over the bound goes."""
    at = refusal.refused
    database.run(
        "INSERT INTO refusals (seq, session, deed, rule, policy, boot, boot_ns, wall_ms) "
        "VALUES (?,?,?,?,?,?,?,?)",
        (
            *(refusal.seq, refusal.session, refusal.deed, refusal.rule, refusal.policy),
            *(at.boot, at.boot_ns, at.wall_ms),
        ),
    )
    database.run(
        "DELETE FROM refusals WHERE seq <= (SELECT seq FROM refusals ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        (KEPT,),
    )


def newest_first(database: Database) -> list[Refusal]:
    """All that are kept, used ones too."""
    return [_refusal(row) for row in database.rows(_SELECT + "ORDER BY seq DESC")]


def of_record(database: Database, seq: int) -> Refusal | None:
    """The refusal whose verdict has this sequence."""
    row = database.row(_SELECT + "WHERE seq = ?", (seq,))
    return None if row is None else _refusal(row)


def name_of_record(database: Database, seq: int) -> bytes:
    """The digest of the call id that a record is found by, b"" without one."""
    row = database.row("SELECT name FROM records WHERE seq = ?", (seq,))
    return b"" if row is None else bytes(row[0])


def granted(database: Database, session: bytes, deed: bytes) -> list[Refusal]:
    """Those of this session and deed that the person allowed, used or not, oldest first."""
    rows = database.rows(
        _SELECT + "WHERE session = ? AND deed = ? AND grant_seq > 0 ORDER BY seq",
        (session, deed),
    )
    return [_refusal(row) for row in rows]


def grant(database: Database, seq: int, grant_seq: int, at: Instant) -> None:
    database.run(
        "UPDATE refusals SET grant_seq = ?, grant_boot = ?, grant_boot_ns = ?, grant_wall_ms = ? "
        "WHERE seq = ? AND grant_seq = 0",
        (grant_seq, at.boot, at.boot_ns, at.wall_ms, seq),
    )


def use(database: Database, seq: int, used_seq: int) -> None:
    """It let one call pass, the one of record ``used_seq``, and lets no other."""
    database.run("UPDATE refusals SET used_seq = ? WHERE seq = ? AND used_seq = 0", (used_seq, seq))


def _refusal(row: tuple[Any, ...]) -> Refusal:
    seq, session, deed, rule, policy, boot, boot_ns, wall_ms, grant_seq, *given, used_seq = row
    return Refusal(
        seq=seq,
        session=session,
        deed=deed,
        rule=rule,
        policy=policy,
        refused=Instant(boot, boot_ns, wall_ms),
        granted=Instant(*given) if grant_seq else None,
        grant_seq=grant_seq,
        used_seq=used_seq,
    )
