"""Refusals by call and content, so that each is given again as it was. Inside the caller's transaction."""

from __future__ import annotations

from typing import Final

import msgspec

from latchd.store.database import Database
from latchd.windows import Instant, age_ms

KEPT_MS: Final = 7 * 24 * 3600 * 1000
MOST: Final = 65_536  # the oldest give way


class DenialRow(msgspec.Struct, frozen=True):
    """``seq`` is that of the verdict's record; ``deliveries`` counts how often it was given."""

    session: bytes
    call: bytes
    fingerprint: bytes
    seq: int
    rule: str
    at: Instant
    deliveries: int = 1
    last_ms: int = 0


def add(database: Database, row: DenialRow) -> None:
    """The refusal of this content under this id, from now on; an older one of the same gives way."""
    database.run(
        "INSERT OR REPLACE INTO denials (session, call, fingerprint, seq, rule, deliveries, boot, boot_ns, "
        "wall_ms, last_ms) VALUES (?,?,?,?,?,?,?,?,?,?)",
        (
            *(row.session, row.call, row.fingerprint, row.seq, row.rule, row.deliveries),
            *(row.at.boot, row.at.boot_ns, row.at.wall_ms, row.last_ms or row.at.wall_ms),
        ),
    )


def of(database: Database, session: bytes, call: bytes, fingerprint: bytes, now: Instant) -> DenialRow | None:
    """The refusal, unless its time is over. An age that can't be is none: a set clock lifts no refusal."""
    row = database.row(
        "SELECT seq, rule, boot, boot_ns, wall_ms, deliveries, last_ms FROM denials "
        "WHERE session = ? AND call = ? AND fingerprint = ?",
        (session, call, fingerprint),
    )
    if row is None:
        return None
    seq, rule, boot, boot_ns, wall_ms, deliveries, last_ms = row
    at = Instant(boot, boot_ns, wall_ms)
    if (age_ms(at, now) or 0) >= KEPT_MS:
        return None
    return DenialRow(session, call, fingerprint, seq, rule, at, deliveries, last_ms)


def delivered(database: Database, row: DenialRow, at_ms: int) -> None:
    """It was given once more. The latest delivery never moves back, whatever the clock does."""
    database.run(
        "UPDATE denials SET deliveries = deliveries + 1, last_ms = max(last_ms, ?4) "
        "WHERE session = ?1 AND call = ?2 AND fingerprint = ?3",
        (row.session, row.call, row.fingerprint, at_ms),
    )
