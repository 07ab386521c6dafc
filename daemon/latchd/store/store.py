"""What is remembered, in functions named after facts. Each runs inside the caller's transaction.

Values in and out are keyed digests, states, masks, sequences and instants; SQL stays in here.
"""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.outcome import State
from latch_contracts.records import GapRecord, Record
from latch_contracts.verdict import Action
from latchd.lifecycle import Signal, after
from latchd.store import taints
from latchd.store.bounds import Bounds, Pruning
from latchd.store.database import Database
from latchd.store.errors import StoreError
from latchd.store.rows import (
    CALL_COLUMNS,
    CHAIN_COLUMNS,
    SESSION_COLUMNS,
    CallRow,
    ChainRow,
    SessionRow,
    call_of,
)
from latchd.windows import Instant

_CUT: Final = after(State.PENDING, Signal.CUT)
_DENIED: Final = after(State.PENDING, Signal.DENIED)
_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(Record)


class Store:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.given = 0  # the newest sequence that this process has given, kept or not
        self._pruning = Pruning()

    # records

    def append_record(self, record: Record, name: bytes = b"") -> Record:
        """Store the record; the same one with its sequence: the next one, unless it brings its own."""
        tag = str(record.__struct_config__.tag)
        body = _encoder.encode(msgspec.structs.replace(record, seq=0) if record.seq else record)
        seq = self.database.insert(
            "INSERT INTO records (seq, at_ms, kind, name, body) VALUES (?, ?, ?, ?, ?)",
            (record.seq or None, record.at_ms, tag, name, body),
        )
        self.given = max(self.given, seq)
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
            f"SELECT {SESSION_COLUMNS} FROM sessions WHERE session = ?",
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

    # calls

    def call(self, session: bytes, call: bytes) -> CallRow | None:
        row = self.database.row(
            f"SELECT {CALL_COLUMNS} FROM calls WHERE session = ? AND call = ?",
            (session, call),
        )
        if row is None:
            return None
        found = call_of(row)
        if (found.session, found.call) != (session, call):  # SQLite believes its index
            raise StoreError("an index of calls is damaged; see `latchctl db check`")
        return found

    def open_call(self, row: CallRow) -> None:
        self.database.run(
            f"INSERT INTO calls ({CALL_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
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
            f"SELECT {CALL_COLUMNS} FROM calls INDEXED BY calls_pending WHERE state = 'pending' "
            "ORDER BY opened_seq LIMIT ?",
            (limit,),
        )
        return [call_of(row) for row in rows]

    def oldest_pending_over(self, session: bytes, cap: int) -> CallRow | None:
        """The session's oldest pending call when it has more than ``cap``, else None."""
        # Counted first and alone: asked in one, SQLite compiles the whole anew for each session.
        row = self.database.row(
            "SELECT count(*) FROM calls INDEXED BY calls_pending WHERE session = ? AND state = 'pending'",
            (session,),
        )
        if row is None or int(row[0]) <= cap:
            return None
        row = self.database.row(
            f"SELECT {CALL_COLUMNS} FROM calls INDEXED BY calls_pending "
            "WHERE session = ? AND state = 'pending' ORDER BY opened_seq LIMIT 1",
            (session,),
        )
        return None if row is None else call_of(row)

    # chains

    def add_chain_event(self, event: ChainRow) -> None:
        self.database.run(
            f"INSERT INTO chain_events ({CHAIN_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",
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
            f"SELECT {CHAIN_COLUMNS} FROM chain_events WHERE session = ?1 "
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
        return self._pruning.prune(self.database, bounds, now_ms)


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
