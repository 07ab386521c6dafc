"""Carries out what is no proposal: results, batches, boundaries, prompts, expiry; one transaction each."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.contract import Kind
from latch_contracts.events import HookEvent
from latch_contracts.outcome import Outcome, State
from latch_contracts.records import BoundaryRecord, ExpiryRecord, LifecycleRecord, OutcomeRecord, Record
from latchd import disk
from latchd.arrival import Arrival
from latchd.chains import held
from latchd.chains.catalogue import Step
from latchd.chains.projection import Projection, denied
from latchd.judging import Bindings, known_paths
from latchd.keys import Keys
from latchd.ledger import settle
from latchd.lifecycle import Signal, after, promotes
from latchd.policy import Policy
from latchd.recording import notice, tool_name
from latchd.store import late_results, taints, turns
from latchd.store.rows import CallRow, ChainRow, SessionRow
from latchd.store.store import Store
from latchd.text.detection import NOTHING, Noticed
from latchd.windows import Instant, is_expired

_EXPIRY_BATCH: Final = 500  # rows one sweep closes, so that no decision waits for a long one


class Results:
    def __init__(self, store: Store, keys: Keys, policy: Policy, bindings: Bindings) -> None:
        self._store = store
        self._keys = keys
        self._policy = policy
        self._bindings = bindings

    def settle(self, came: Arrival, noticed: Noticed = NOTHING) -> list[Record]:
        """Carry out an event that is no proposal; its records. Raises StoreError.

        ``noticed`` is what its texts hold; it is told with them, unless the event came before.
        """
        with self._store.database.transaction():
            records = self._carried_out(came)
            if records and (noticed.findings or noticed.unexamined):
                told = notice(came.event, came.identity, noticed, self._policy.redaction, came.now.wall_ms)
                records.append(self._store.append_record(told, came.identity.name))
            return records

    def _carried_out(self, came: Arrival) -> list[Record]:
        match came.event.event.kind:
            case Kind.RESULT | Kind.DENIAL:
                return self._result(came)
            case Kind.BATCH:
                return self._batch(came)
            case Kind.TURN_END | Kind.SESSION_END:
                return self._boundary(came)
            case Kind.PROMPT:
                return self._prompt(came)
            case _:
                return [self._lifecycle(came)]

    def expire(self, now: Instant) -> list[Record]:
        """Expire every pending call whose window is over. Raises StoreError."""
        window = self._policy.pending_ms
        rows = [row for row in self._store.pending(_EXPIRY_BATCH) if is_expired(row.opened, now, window)]
        if not rows:
            return []
        with self._store.database.transaction():
            record = self._store.append_record(ExpiryRecord(at_ms=now.wall_ms, expired=len(rows)))
            for row in rows:
                self._store.close_call(row, after(row.state, Signal.EXPIRED), record.seq, b"")
        return [record]

    def _result(self, came: Arrival) -> list[Record]:
        event, identity, now = came.event, came.identity, came.now
        call = event.the_call
        outcome = event.outcome or Outcome.UNKNOWN
        result = self._keys.content(event.fingerprint)
        row = self._store.call(identity.session, identity.call) if identity.call else None
        settlement = settle(
            row,
            outcome,
            why=event.outcome_why,
            result=result,
            input_digest=self._keys.content(call.input_digest),
            policy=self._bindings.of(came.contract, came.version, came.own),
            now=now,
            window_ms=self._policy.pending_ms,
        )
        if settlement.replay:
            return []
        signal = settlement.signal
        before = None if row is None else row.state
        next_state = before if row is None or signal is None else after(row.state, signal)
        record: OutcomeRecord = OutcomeRecord(
            **came.common(self._policy.redaction),
            outcome=outcome,
            tool=tool_name(call, self._policy.redaction),
            before=before,
            after=next_state,
            why=settlement.why if identity.call else call.id_fault or "the event names no call",
            alarm=settlement.alarm,
        )
        stored = self._keep(record, came)
        if row is not None and next_state is not None and signal is not None:
            self._store.close_call(row, next_state, stored.seq, result)
        elif row is not None:
            late_results.remember(self._store.database, row, result)
        if event.event.kind is Kind.DENIAL:
            # Exact only when it is the very call that was proposed, and this is what ended it.
            self._chain_event(denied(matched=signal is Signal.DENIED), came, stored.seq)
        if row is not None and signal is not None and promotes(row.state, signal):
            self._promote(row, came, stored.seq)
            return [self._store.amend_record(msgspec.structs.replace(stored, step=stored.seq))]
        return [stored]

    def _promote(self, row: CallRow, came: Arrival, seq: int) -> None:
        """The call was carried out: its step, what it counts for chains, and what it did to files."""
        self._store.promote(row, seq, came.now)
        self._chain_event(Projection(Step(row.detection), Step(row.enforcement)), came, seq)
        self._move_secrets(row, came, seq)
        for path in known_paths(came.event.the_call, came.event.cwd):
            # Knowledge comes from results: what the tool proved to have read or written is what
            # later writes are compared with.
            if (stamp := disk.stamp(path)) is not None:
                session = came.identity.session
                key = self._keys.path(session, path)
                self._store.see_file(session, key, seq, msgspec.msgpack.encode(stamp))

    def _chain_event(self, steps: Projection, came: Arrival, seq: int) -> None:
        """Keep what counts for chains; a call that is no step of one leaves nothing."""
        if steps.detection:
            identity, policy = came.identity, self._binding(came)
            row = ChainRow(
                seq, identity.session, identity.call, policy, steps.detection, steps.enforcement, came.now
            )
            self._store.add_chain_event(row)

    def _move_secrets(self, row: CallRow, came: Arrival, seq: int) -> None:
        """Apply what the proven call did to the files that hold secrets."""
        if changes := held.read(row.flows):
            database, policy = self._store.database, self._binding(came)
            files = held.recent(taints.held(database, row.session, policy), came.now)
            kept, gone = held.after(changes, files, seq, came.now)
            taints.release(database, row.session, gone)
            taints.hold(database, row.session, policy, kept)

    def _binding(self, came: Arrival) -> bytes:
        """What a session's proofs are bound to; a project's own part is not in it."""
        return self._bindings.of(came.contract, came.version)

    def _batch(self, came: Arrival) -> list[Record]:
        """Every id the batch lists is over: what had no result of its own proves nothing."""
        result = self._keys.content(came.event.fingerprint)
        rows = [
            row
            for call_id in came.event.batch
            if (row := self._open_row(came, call_id)) is not None and row.state is State.PENDING
        ]
        record = BoundaryRecord(**came.common(self._policy.redaction), scope="batch", pending_cut=len(rows))
        stored = self._keep(record, came)
        for row in rows:
            self._store.close_call(row, after(row.state, Signal.UNKNOWN), stored.seq, result)
        return [stored]

    def _open_row(self, came: Arrival, call_id: str) -> CallRow | None:
        event = came.event
        key = self._keys.call(event.connector, event.session, event.agent, call_id)
        return self._store.call(came.identity.session, key)

    def _boundary(self, came: Arrival) -> list[Record]:
        """A turn's end cuts its own agent's pending calls; a session's end cuts all and closes its steps.

        INVARIANT (a boundary ends what was before it): the very same one again does nothing, and one of
        a turn that another has replaced comes late and ends nothing of that other.
        """
        event, identity = came.event, came.identity
        fingerprint = self._keys.content(event.fingerprint)
        session = self._store.session(identity.session)
        if session is not None and session.ended == fingerprint and session.ended_seq == session.last_seq:
            return []
        late = session is not None and self._is_replaced(event, session)
        whole = event.event.cutoff == "session"
        record: BoundaryRecord = BoundaryRecord(
            **came.common(self._policy.redaction), scope="session" if whole else "turn", late=late
        )
        stored = self._keep(record, came)
        if late:
            return [stored]
        agent = None if whole else identity.agent
        cut = self._store.cut_pending(identity.session, agent, stored.seq, fingerprint)
        closed = 0
        if whole:
            closed = self._store.close_session(identity.session, stored.seq)
            if session is not None:
                turns.end(self._store.database, identity.session, session.turn, stored.seq)
        self._store.set_ended(identity.session, fingerprint, stored.seq)
        return [
            self._store.amend_record(msgspec.structs.replace(stored, pending_cut=cut, steps_closed=closed))
        ]

    def _is_replaced(self, event: HookEvent, session: SessionRow) -> bool:
        """Whether the main agent's event names a turn that another has come after."""
        if event.agent or not event.turn:
            return False
        turn = self._keys.turn(event.connector, event.session, event.turn)
        if turn == session.turn:
            return False
        return turns.is_over(self._store.database, session.session, turn, session.turn, session.first_seq)

    def _prompt(self, came: Arrival) -> list[Record]:
        """A prompt under a new turn id ends the turn before: an interrupt sends no event of its own."""
        event, identity = came.event, came.identity
        stored = self._lifecycle(came)
        if event.agent or not event.turn:
            return [stored]
        session = self._store.session(identity.session)
        turn = self._keys.turn(event.connector, event.session, event.turn)
        if session is None or session.turn == turn or self._is_replaced(event, session):
            return [stored]
        self._store.set_turn(identity.session, turn)
        turns.end(self._store.database, identity.session, session.turn, stored.seq)
        if not session.turn:
            return [stored]
        cut = self._store.cut_pending(
            identity.session, identity.agent, stored.seq, self._keys.content(event.fingerprint)
        )
        if not cut:
            return [stored]
        record = BoundaryRecord(**came.common(self._policy.redaction), scope="turn", pending_cut=cut)
        return [stored, self._store.append_record(record)]

    def _lifecycle(self, came: Arrival) -> Record:
        record = LifecycleRecord(**came.common(self._policy.redaction), note=came.event.note)
        return self._keep(record, came)

    def _keep(self, record: Record, came: Arrival) -> Record:
        """Store an event's own record, under its call's name when it speaks of one, and see its session."""
        stored = self._store.append_record(record, came.identity.name)
        session, connector = came.identity.session, came.event.connector
        self._store.touch_session(session, connector, came.now.wall_ms, stored.seq)
        return stored
