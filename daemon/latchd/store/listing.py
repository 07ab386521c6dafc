"""What a person is shown of sessions and calls. Each costs what it shows, however much is stored."""

from __future__ import annotations

from typing import Any, Final

from latch_contracts.outcome import State
from latchd.store.database import Database
from latchd.store.rows import CALL_COLUMNS, SESSION_COLUMNS, CallRow, SessionRow, call_of

_ENDS: Final = tuple(state for state in State if state is not State.PENDING)
_SESSIONS: Final = (
    f"SELECT {SESSION_COLUMNS}, steps, {', '.join(_ENDS)}, "
    # Of what is pending there are never more than a session's bound.
    "(SELECT count(*) FROM calls INDEXED BY calls_pending "
    "WHERE calls.session = sessions.session AND state = 'pending') FROM sessions"
)
_SESSION_WIDTH: Final = len(SESSION_COLUMNS.split(","))


def sessions(database: Database, limit: int) -> list[tuple[SessionRow, dict[str, int]]]:
    """The latest sessions, each with how many calls came to which end and how many steps count."""
    rows = database.rows(f"{_SESSIONS} ORDER BY last_seq DESC LIMIT ?", (limit,))
    return [_counted(row) for row in rows]


def sessions_like(database: Database, key: bytes, odd: int | None) -> list[tuple[SessionRow, dict[str, int]]]:
    """Up to two sessions whose digest begins with ``key`` and, if given, ``odd`` as half a byte more."""
    low = key + (b"" if odd is None else bytes([odd << 4]))
    high = key + (b"" if odd is None else bytes([odd << 4 | 15]))
    rows = database.rows(
        f"{_SESSIONS} WHERE session BETWEEN ? AND ? ORDER BY session LIMIT 2",
        (low.ljust(32, b"\x00"), high.ljust(32, b"\xff")),
    )
    return [_counted(row) for row in rows]


def calls_of(database: Database, session: SessionRow, limit: int, *, many: bool) -> list[CallRow]:
    """The newest calls of one session, oldest first. ``many``: it has more than are worth sorting."""
    # Either way a session costs its own calls, not everybody's.
    index = "NOT INDEXED" if many else "INDEXED BY calls_by_key"
    rows = database.rows(
        f"SELECT {CALL_COLUMNS} FROM calls {index} WHERE session = ? AND opened_seq <= ? "
        "ORDER BY opened_seq DESC LIMIT ?",
        (session.session, session.last_seq, limit),
    )
    return [call_of(row) for row in reversed(rows)]


def calls_named(database: Database, name: bytes, limit: int) -> list[CallRow]:
    """The newest calls of that id, in order, found through the records of their verdicts."""
    rows = database.rows(
        f"SELECT {CALL_COLUMNS} FROM calls WHERE opened_seq IN "
        "(SELECT seq FROM records WHERE name = ? AND name <> x'') ORDER BY opened_seq DESC LIMIT ?",
        (name, limit),
    )
    return [call_of(row) for row in reversed(rows)]


def _counted(row: tuple[Any, ...]) -> tuple[SessionRow, dict[str, int]]:
    """A session with how many of its calls stand where; only what there is, and the steps in any case."""
    steps, *ends, pending = row[_SESSION_WIDTH:]
    counts = dict(zip((State.PENDING, *_ENDS), (pending, *ends), strict=True))
    found = {state.value: int(count) for state, count in counts.items() if count}
    return SessionRow(*row[:_SESSION_WIDTH]), found | {"steps": int(steps)}
