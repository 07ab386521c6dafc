"""What is remembered, in functions named after facts. Each runs inside the caller's transaction.

Values in and out are keyed digests, states, masks, sequences and instants; SQL stays in here.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from latch_contracts.outcome import State
from latch_contracts.records import GapRecord, Record
from latch_contracts.verdict import Action
from latchd.lifecycle import Signal, after
from latchd.store import denials, taints, turns
from latchd.store.database import Database, StoreError
from latchd.windows import Instant


class CallRow(msgspec.Struct, frozen=True):
    """One call's row. Digests are 32 bytes; ``agent`` is b"" for the main agent."""

    session: bytes
    call: bytes
    agent: bytes
    state: State
    fingerprint: bytes
    input: bytes
    policy: bytes
    action: Action
    rule: str
    operations: int
    opened: Instant
    detection: int = 0
    enforcement: int = 0
    opened_seq: int = 0
    closed_seq: int = 0
    result: bytes = b""
    flows: bytes = b""  # chains.held: what its success does to the files that hold secrets


class ChainRow(msgspec.Struct, frozen=True):
    """One chain-relevant event. ``call`` is b"" when it named none; the masks are chains.catalogue.Step."""

    seq: int
    session: bytes
    call: bytes
    policy: bytes
    detection: int
    enforcement: int
    at: Instant


class SessionRow(msgspec.Struct, frozen=True):
    session: bytes
    connector: str
    turn: bytes
    closed_seq: int
    first_ms: int
    last_ms: int
    last_seq: int
    first_seq: int = 0
    ended: bytes = b""  # fingerprint of its latest boundary, and the sequence of that one's record
    ended_seq: int = 0
    begun: int = 0  # chains.catalogue.Step proven in its open window
    tainting: int = 0  # whether a call that puts a secret into a file was let through in it


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


_CALL_COLUMNS: Final = (
    "session, call, agent, state, fingerprint, input, policy, action, rule, operations, "
    "boot, boot_ns, wall_ms, detection, enforcement, opened_seq, closed_seq, result, flows"
)
_CHAIN_COLUMNS: Final = "seq, session, call, policy, detection, enforcement, boot, boot_ns, wall_ms"
_SESSION_COLUMNS: Final = (
    "session, connector, turn, closed_seq, first_ms, last_ms, last_seq, first_seq, ended, ended_seq, begun, "
    "tainting"
)
_CUT: Final = after(State.PENDING, Signal.CUT)
_DENIED: Final = after(State.PENDING, Signal.DENIED)
_ENDS: Final = tuple(state for state in State if state is not State.PENDING)
_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(Record)


class Store:
    def __init__(self, database: Database) -> None:
        self.database = database
        self._over: dict[str, int] = {}  # rows over each table's bound, as counted last

    # records

    def append_record(self, record: Record, name: bytes = b"") -> Record:
        """Store the record; the same one with its sequence: the next one, unless it brings its own."""
        tag = str(record.__struct_config__.tag)
        body = _encoder.encode(msgspec.structs.replace(record, seq=0) if record.seq else record)
        seq = self.database.insert(
            "INSERT INTO records (seq, at_ms, kind, name, body) VALUES (?, ?, ?, ?, ?)",
            (record.seq or None, record.at_ms, tag, name, body),
        )
        return msgspec.structs.replace(record, seq=seq)

    def amend_record(self, record: Record) -> Record:
        """Complete a record of this very transaction, once what it counts is known."""
        self.database.run(
            "UPDATE records SET body = ? WHERE seq = ?",
            (_encoder.encode(msgspec.structs.replace(record, seq=0)), record.seq),
        )
        return record

    def records_after(self, seq: int, limit: int) -> list[Record]:
        rows = self.database.rows(
            "SELECT seq, body FROM records WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit)
        )
        return [_record(*row) for row in rows]

    def records_named(self, name: bytes, limit: int) -> list[Record]:
        """The newest records of that id, in order."""
        rows = self.database.rows(
            "SELECT seq, body FROM records WHERE name = ? AND name <> x'' ORDER BY seq DESC LIMIT ?",
            (name, limit),
        )
        return [_record(*row) for row in reversed(rows)]

    def record(self, seq: int) -> Record | None:
        row = self.database.row("SELECT seq, body FROM records WHERE seq = ?", (seq,))
        return None if row is None else _record(*row)

    def newest_seq(self) -> int:
        row = self.database.row("SELECT max(seq) FROM records")
        return 0 if row is None or row[0] is None else int(row[0])

    # sessions

    def session(self, session: bytes) -> SessionRow | None:
        row = self.database.row(
            f"SELECT {_SESSION_COLUMNS} FROM sessions WHERE session = ?",
            (session,),
        )
        return None if row is None else SessionRow(*row)

    def touch_session(self, session: bytes, connector: str, at_ms: int, seq: int) -> None:
        """It was seen. One that is new, or whose row a bound has taken, knows nothing before the barrier."""
        self.database.run(
            "INSERT INTO sessions (session, connector, closed_seq, first_ms, last_ms, last_seq, first_seq) "
            "VALUES (?1, ?2, coalesce((SELECT seq FROM barriers WHERE kind = 'session'), 0), ?3, ?3, ?4, ?4) "
            "ON CONFLICT (session) DO UPDATE SET last_ms = ?3, last_seq = ?4",
            (session, connector, at_ms, seq),
        )

    def set_turn(self, session: bytes, turn: bytes) -> None:
        self.database.run("UPDATE sessions SET turn = ? WHERE session = ?", (turn, session))

    def set_tainting(self, session: bytes) -> None:
        self.database.run("UPDATE sessions SET tainting = 1 WHERE session = ? AND tainting = 0", (session,))

    def set_ended(self, session: bytes, fingerprint: bytes, seq: int) -> None:
        """A boundary of it was carried out, recorded as ``seq``."""
        self.database.run(
            "UPDATE sessions SET ended = ?, ended_seq = ? WHERE session = ?", (fingerprint, seq, session)
        )

    def close_session(self, session: bytes, seq: int) -> int:
        """Close the committed window at ``seq`` and forget what files were seen; the steps it closed."""
        row = self.database.row("SELECT steps FROM sessions WHERE session = ?", (session,))
        self.database.run(
            "UPDATE sessions SET closed_seq = ?, steps = 0, begun = 0, tainting = 0 WHERE session = ?",
            (seq, session),
        )
        self.database.run("DELETE FROM files WHERE session = ?", (session,))
        taints.release_all(self.database, session)
        return 0 if row is None else int(row[0])

    def sessions(self, limit: int) -> list[tuple[SessionRow, dict[str, int]]]:
        """The latest sessions, each with how many calls came to which end and how many steps count."""
        rows = self.database.rows(f"{_SESSIONS} ORDER BY last_seq DESC LIMIT ?", (limit,))
        return [_counted(row) for row in rows]

    def sessions_like(self, key: bytes, odd: int | None) -> list[tuple[SessionRow, dict[str, int]]]:
        """Up to two sessions whose digest begins with ``key`` and, if given, ``odd`` as half a byte more."""
        low = key + (b"" if odd is None else bytes([odd << 4]))
        high = key + (b"" if odd is None else bytes([odd << 4 | 15]))
        rows = self.database.rows(
            f"{_SESSIONS} WHERE session BETWEEN ? AND ? ORDER BY session LIMIT 2",
            (low.ljust(32, b"\x00"), high.ljust(32, b"\xff")),
        )
        return [_counted(row) for row in rows]

    def calls_of(self, session: SessionRow, limit: int, *, many: bool) -> list[CallRow]:
        """The newest calls of one session, oldest first. ``many``: it has more than are worth sorting."""
        # Either way a session costs its own calls, not everybody's.
        index = "NOT INDEXED" if many else "INDEXED BY calls_by_key"
        rows = self.database.rows(
            f"SELECT {_CALL_COLUMNS} FROM calls {index} WHERE session = ? AND opened_seq <= ? "
            "ORDER BY opened_seq DESC LIMIT ?",
            (session.session, session.last_seq, limit),
        )
        return [_call(row) for row in reversed(rows)]

    # calls

    def call(self, session: bytes, call: bytes) -> CallRow | None:
        row = self.database.row(
            f"SELECT {_CALL_COLUMNS} FROM calls WHERE session = ? AND call = ?",
            (session, call),
        )
        if row is None:
            return None
        found = _call(row)
        if (found.session, found.call) != (session, call):  # SQLite believes its index
            raise StoreError("an index of calls is damaged; see `latchctl db check`")
        return found

    def calls_named(self, name: bytes, limit: int) -> list[CallRow]:
        """The newest calls of that id, in order, found through the records of their verdicts."""
        rows = self.database.rows(
            f"SELECT {_CALL_COLUMNS} FROM calls WHERE opened_seq IN "
            "(SELECT seq FROM records WHERE name = ? AND name <> x'') ORDER BY opened_seq DESC LIMIT ?",
            (name, limit),
        )
        return [_call(row) for row in reversed(rows)]

    def open_call(self, row: CallRow) -> None:
        self.database.run(
            f"INSERT INTO calls ({_CALL_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                *(row.session, row.call, row.agent, row.state.value, row.fingerprint, row.input),
                *(row.policy, row.action.value, row.rule, row.operations),
                *(row.opened.boot, row.opened.boot_ns, row.opened.wall_ms),
                *(row.detection, row.enforcement, row.opened_seq, row.closed_seq, row.result, row.flows),
            ),
        )

    def close_call(self, row: CallRow, state: State, seq: int, result: bytes) -> None:
        self.database.run(
            "UPDATE calls SET state = ?, closed_seq = ?, result = ? "
            "WHERE session = ? AND call = ? AND state = ?",
            (state.value, seq, result, row.session, row.call, State.PENDING.value),
        )

    def promote(self, row: CallRow, seq: int, at: Instant) -> None:
        """The step that a pending call became, under the sequence of the result that proved it.

        An older step under the same id is one whose call has been pruned; this one takes its place.
        """
        self.database.run(
            "INSERT OR REPLACE INTO steps (seq, session, call, policy, operations, boot, boot_ns, wall_ms) "
            "VALUES (?,?,?,?,?,?,?,?)",
            (seq, row.session, row.call, row.policy, row.operations, at.boot, at.boot_ns, at.wall_ms),
        )
        self.database.run("UPDATE sessions SET steps = steps + 1 WHERE session = ?", (row.session,))

    def step_of(self, session: bytes, call: bytes) -> int | None:
        row = self.database.row("SELECT seq FROM steps WHERE session = ? AND call = ?", (session, call))
        return None if row is None else int(row[0])

    def cut_pending(self, session: bytes | None, agent: bytes | None, seq: int, result: bytes) -> int:
        """Cut what is pending of a session, of one agent of it or (None) of all; how many.

        ``session`` None: of every session.
        """
        whose = "session = ?4" if session is not None else "?4 IS NULL"
        return self.database.run(
            "UPDATE calls SET state = ?1, closed_seq = ?2, result = ?3 "
            f"WHERE state = 'pending' AND {whose} AND (?5 IS NULL OR agent = ?5)",
            (_CUT.value, seq, result, session, agent),
        )

    def overrule(self, session: bytes, call: bytes, action: Action, rule: str, seq: int) -> None:
        """Answer a known call otherwise from now on; one that is pending and refused is denied."""
        self.database.run(
            "UPDATE calls SET action = ?1, rule = ?2 WHERE session = ?3 AND call = ?4",
            (action.value, rule, session, call),
        )
        if action is Action.DENY:
            self.database.run(
                "UPDATE calls SET state = ?1, closed_seq = ?2 "
                "WHERE session = ?3 AND call = ?4 AND state = 'pending'",
                (_DENIED.value, seq, session, call),
            )

    def pending(self, limit: int) -> list[CallRow]:
        """The oldest pending calls of all sessions."""
        rows = self.database.rows(
            # By the small index, else SQLite walks every tombstone to find that nothing is pending.
            f"SELECT {_CALL_COLUMNS} FROM calls INDEXED BY calls_pending WHERE state = 'pending' "
            "ORDER BY opened_seq LIMIT ?",
            (limit,),
        )
        return [_call(row) for row in rows]

    def oldest_pending_over(self, session: bytes, cap: int) -> CallRow | None:
        """The session's oldest pending call when it has more than ``cap``, else None."""
        row = self.database.row(
            f"SELECT {_CALL_COLUMNS} FROM calls WHERE session = ?1 AND state = 'pending' "
            "AND (SELECT count(*) FROM calls WHERE session = ?1 AND state = 'pending') > ?2 "
            "ORDER BY opened_seq LIMIT 1",
            (session, cap),
        )
        return None if row is None else _call(row)

    # chains

    def add_chain_event(self, event: ChainRow) -> None:
        self.database.run(
            f"INSERT INTO chain_events ({_CHAIN_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",
            (
                *(event.seq, event.session, event.call, event.policy, event.detection, event.enforcement),
                *(event.at.boot, event.at.boot_ns, event.at.wall_ms),
            ),
        )
        self.database.run(
            "UPDATE sessions SET begun = begun | ? WHERE session = ?", (event.detection, event.session)
        )

    def chain_events(self, session: bytes, policy: bytes | None, limit: int) -> list[ChainRow]:
        """The newest events of the session's open window, oldest first; of one policy or (None) of all."""
        rows = self.database.rows(
            f"SELECT {_CHAIN_COLUMNS} FROM chain_events WHERE session = ?1 "
            "AND seq > coalesce((SELECT closed_seq FROM sessions WHERE session = ?1), 0) "
            "AND (?2 IS NULL OR policy = ?2) ORDER BY seq DESC LIMIT ?3",
            (session, policy, limit),
        )
        return [
            ChainRow(seq, owner, call, bound, detection, enforcement, Instant(*at))
            for seq, owner, call, bound, detection, enforcement, *at in reversed(rows)
        ]

    # files

    def see_file(self, session: bytes, path: bytes, seq: int, stamp: bytes) -> None:
        self.database.run(
            "INSERT INTO files (session, path, seq, stamp) VALUES (?1, ?2, ?3, ?4) "
            "ON CONFLICT (session, path) DO UPDATE SET seq = ?3, stamp = ?4",
            (session, path, seq, stamp),
        )

    def seen_file(self, session: bytes, path: bytes) -> bytes | None:
        row = self.database.row("SELECT stamp FROM files WHERE session = ? AND path = ?", (session, path))
        return None if row is None else bytes(row[0])

    # bounds

    def prune(self, bounds: Bounds, now_ms: int) -> bool:
        """Remove a batch of what is over its bound, oldest first; whether more of it may be left."""
        database, batch = self.database, bounds.batch
        if not any(self._over.values()):  # counting a full table takes as long as removing a batch
            for table, _, cap, _ in _BOUNDED:
                row = database.row(f"SELECT count(*) FROM {table}")
                self._over[table] = max(0, (0 if row is None else int(row[0])) - getattr(bounds, cap))
        for table, order, _, only in _BOUNDED:
            wanted = min(batch, self._over[table])
            if wanted:
                # Names come from the table below, never from outside.
                oldest = f"SELECT {order} FROM {table} WHERE {only} ORDER BY {order} LIMIT ?"
                if table == "turns":
                    removed = turns.drop_oldest(database, wanted)
                else:
                    if table == "sessions":
                        self._keep_ends(oldest, wanted)
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

    def _keep_ends(self, oldest: str, count: int) -> None:
        """Before sessions go: where their windows were closed must not be forgotten with them."""
        row = self.database.row(
            f"SELECT max(closed_seq) FROM sessions WHERE last_seq IN ({oldest})", (count,)
        )
        turns.raise_barrier(self.database, "session", 0 if row is None else int(row[0] or 0))


# table, its order, the bound's name, which rows may go
_BOUNDED: Final = (
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


_SESSIONS: Final = (
    f"SELECT {_SESSION_COLUMNS}, steps, {', '.join(_ENDS)}, "
    # Of what is pending there are never more than a session's bound.
    "(SELECT count(*) FROM calls INDEXED BY calls_pending "
    "WHERE calls.session = sessions.session AND state = 'pending') FROM sessions"
)
_SESSION_WIDTH: Final = len(_SESSION_COLUMNS.split(","))


def _counted(row: tuple[Any, ...]) -> tuple[SessionRow, dict[str, int]]:
    """A session with how many of its calls stand where; only what there is, and the steps in any case."""
    steps, *ends, pending = row[_SESSION_WIDTH:]
    counts = dict(zip((State.PENDING, *_ENDS), (pending, *ends), strict=True))
    found = {state.value: int(count) for state, count in counts.items() if count}
    return SessionRow(*row[:_SESSION_WIDTH]), found | {"steps": int(steps)}


def _call(row: tuple[Any, ...]) -> CallRow:
    session, call, agent, state, fingerprint, input_digest, policy, action, rule, operations, *rest = row
    boot, boot_ns, wall_ms, detection, enforcement, opened_seq, closed_seq, result, flows = rest
    try:
        stands, answered = State(state), Action(action)
    except ValueError as error:
        raise StoreError(f"the row of the call opened at {opened_seq} is damaged") from error
    return CallRow(
        session=session,
        call=call,
        agent=agent,
        state=stands,
        fingerprint=fingerprint,
        input=input_digest,
        policy=policy,
        action=answered,
        rule=rule,
        operations=operations,
        opened=Instant(boot, boot_ns, wall_ms),
        detection=detection,
        enforcement=enforcement,
        opened_seq=opened_seq,
        closed_seq=closed_seq,
        result=result,
        flows=flows,
    )


def _record(seq: int, body: bytes) -> Record:
    """The stored record, or the gap that stands for one whose bytes the disk has changed."""
    try:
        return msgspec.structs.replace(_decoder.decode(body), seq=seq)
    except msgspec.MsgspecError:
        return GapRecord(
            seq=seq,
            what="unreadable",
            from_seq=seq,
            to_seq=seq,
            count=1,
            detail="a stored record is damaged; see `latchctl db check`",
        )
