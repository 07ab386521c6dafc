"""Carries the ledger's decisions out: rows, steps, boundaries and records, one transaction an event."""

from __future__ import annotations

import msgspec

from latch_contracts.contract import Compatibility, Contract, Kind, Level, Route
from latch_contracts.events import HookEvent
from latch_contracts.outcome import Outcome, State
from latch_contracts.records import (
    BoundaryRecord,
    DenialRecord,
    ExpiryRecord,
    LifecycleRecord,
    OutcomeRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action, Verdict
from latchd.disk import stamp_of
from latchd.files import encode_stamp
from latchd.judging import Judged, binding
from latchd.keys import Keys, shown
from latchd.ledger import ADMISSION_NOTES, Admission, admit, settle
from latchd.lifecycle import Signal, after, promotes
from latchd.policy import Policy
from latchd.recording import Identity, common, findings, reason, subject_head, tool_name
from latchd.store.database import StoreError
from latchd.store.store import Bounds, CallRow, Store
from latchd.windows import Instant, is_expired

_EXPIRY_BATCH = 500


class Ledger:
    def __init__(self, store: Store, keys: Keys, policy: Policy, bounds: Bounds) -> None:
        self._store = store
        self._keys = keys
        self._policy = policy
        self._bounds = bounds

    def propose(
        self,
        contract: Contract,
        event: HookEvent,
        identity: Identity,
        judged: Judged,
        version: str,
        now: Instant,
        *,
        probe: bool,
        latency_us: int,
    ) -> tuple[Verdict, list[Record]]:
        """Settle one judged proposal: the verdict that stands, and its records. Raises StoreError."""
        call = event.call
        assert call is not None, "a proposal always carries a call"  # noqa: S101 (held by the contract self-checks)
        compatibility = contract.compatibility(version)
        pairable = (
            not probe
            and event.event.route is Route.ACTION
            and contract.level is Level.PAIRED
            and compatibility is not Compatibility.UNKNOWN
            and bool(call.id)
        )
        fingerprint = self._keys.content(event.fingerprint)
        policy = binding(self._policy, contract, version)
        verdict = judged.verdict
        try:
            with self._store.database.transaction():
                row = self._store.call(identity.session, identity.call) if pairable else None
                admission = admit(row, fingerprint, pairable=pairable)
                if admission is Admission.REPLAY and row is not None:
                    return _replayed(row, verdict, policy), []
                state = None
                if admission is Admission.OPEN:
                    state = State.DENIED if verdict.action is Action.DENY else State.PENDING
                record = VerdictRecord(
                    **common(event, identity, self._policy.redaction, now.wall_ms),
                    action=verdict.action,
                    tool=tool_name(call, self._policy.redaction),
                    surface=call.surface.value,
                    rule=verdict.rule,
                    reason=reason(verdict, self._policy.redaction),
                    participant=verdict.participant,
                    findings=findings(verdict, self._policy.redaction),
                    head=subject_head(call, self._policy.redaction),
                    status=judged.facts.status.value,
                    state=state,
                    probe=probe,
                    note=_note(admission, contract, compatibility, event, probe=probe),
                    latency_us=latency_us,
                    policy=shown(policy),
                )
                records: list[Record] = [self._store.append_record(record, identity.name)]
                seq = records[0].seq
                if not probe:
                    self._store.touch_session(identity.session, event.connector, now.wall_ms, seq)
                if compatibility is Compatibility.UNKNOWN and not probe:
                    self._store.cut_pending(identity.session, None, seq, fingerprint)
                if admission is Admission.CONFLICT and row is not None:
                    self._store.close_call(row, after(row.state, Signal.CONFLICT), seq, fingerprint)
                if state is not None:
                    self._store.open_call(
                        CallRow(
                            session=identity.session,
                            call=identity.call,
                            name=identity.name,
                            agent=identity.agent,
                            state=state,
                            fingerprint=fingerprint,
                            input=self._keys.content(call.input_digest),
                            policy=policy,
                            action=verdict.action,
                            rule=verdict.rule or "",
                            operations=judged.operations,
                            opened=now,
                            opened_seq=seq,
                            closed_seq=seq if state is State.DENIED else 0,
                        )
                    )
                    records += self._evict(event, identity, seq, now)
                if verdict.action is Action.DENY:
                    denial = DenialRecord(
                        **common(event, identity, self._policy.redaction, now.wall_ms),
                        rule=verdict.rule or "",
                        participant=verdict.participant or "",
                    )
                    records.append(self._store.append_record(denial, identity.name))
        except StoreError:
            # INVARIANT (a failed commit is not an answer): what the disk holds is unknown until it
            # is read again. Only a row that is really there lets the verdict stand.
            row = self._store.call(identity.session, identity.call) if pairable else None
            if row is None or row.fingerprint != fingerprint:
                raise
            return _replayed(row, verdict, policy), []
        return verdict, records

    def settle(
        self, contract: Contract, event: HookEvent, identity: Identity, version: str, now: Instant
    ) -> list[Record]:
        """Carry out an event that is no proposal; its records. Raises StoreError."""
        with self._store.database.transaction():
            match event.event.kind:
                case Kind.RESULT | Kind.DENIAL:
                    return self._result(contract, event, identity, version, now)
                case Kind.BATCH:
                    return self._batch(event, identity, now)
                case Kind.TURN_END | Kind.SESSION_END:
                    return self._boundary(event, identity, now)
                case Kind.PROMPT:
                    return self._prompt(event, identity, now)
                case _:
                    return [self._lifecycle(event, identity, now)]

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

    def _result(
        self, contract: Contract, event: HookEvent, identity: Identity, version: str, now: Instant
    ) -> list[Record]:
        call = event.call
        assert call is not None, "a result always carries a call"  # noqa: S101 (held by the contract self-checks)
        outcome = event.outcome or Outcome.UNKNOWN
        result = self._keys.content(event.fingerprint)
        row = self._store.call(identity.session, identity.call) if identity.call else None
        settlement = settle(
            row,
            outcome,
            why=event.outcome_why,
            result=result,
            input_digest=self._keys.content(call.input_digest),
            policy=binding(self._policy, contract, version),
            now=now,
            window_ms=self._policy.pending_ms,
        )
        if settlement.replay:
            return []
        before = None if row is None else row.state
        next_state = before
        step = False
        if row is not None and settlement.signal is not None:
            next_state = after(row.state, settlement.signal)
            step = promotes(row.state, settlement.signal)
        record: OutcomeRecord = OutcomeRecord(
            **common(event, identity, self._policy.redaction, now.wall_ms),
            outcome=outcome,
            tool=tool_name(call, self._policy.redaction),
            before=before,
            after=next_state,
            why=settlement.why if identity.call else call.id_fault or "the event names no call",
            alarm=settlement.alarm,
        )
        stored = self._store.append_record(record, identity.name)
        self._store.touch_session(identity.session, event.connector, now.wall_ms, stored.seq)
        if row is not None and next_state is not None and next_state is not before:
            self._store.close_call(row, next_state, stored.seq, result)
        if row is not None and step:
            self._store.promote(row, stored.seq, now)
            for path in call.paths:
                # Knowledge comes from results: what the tool proved to have read or written is what
                # later writes are compared with.
                if (stamp := stamp_of(path)) is not None:
                    key = self._keys.path(identity.session, path)
                    self._store.see_file(identity.session, key, stored.seq, encode_stamp(stamp))
            return [self._store.amend_record(msgspec.structs.replace(stored, step=stored.seq))]
        return [stored]

    def _batch(self, event: HookEvent, identity: Identity, now: Instant) -> list[Record]:
        """Every id the batch lists is over: what had no result of its own proves nothing."""
        result = self._keys.content(event.fingerprint)
        rows = [
            row
            for call_id in event.batch
            if (row := self._open_row(event, identity, call_id)) is not None and row.state is State.PENDING
        ]
        record = BoundaryRecord(
            **common(event, identity, self._policy.redaction, now.wall_ms), scope="batch", pending_cut=len(rows)
        )
        stored = self._store.append_record(record)
        self._store.touch_session(identity.session, event.connector, now.wall_ms, stored.seq)
        for row in rows:
            self._store.close_call(row, after(row.state, Signal.UNKNOWN), stored.seq, result)
        return [stored]

    def _open_row(self, event: HookEvent, identity: Identity, call_id: str) -> CallRow | None:
        key = self._keys.call(event.connector, event.session, event.agent, call_id)
        return self._store.call(identity.session, key)

    def _boundary(self, event: HookEvent, identity: Identity, now: Instant) -> list[Record]:
        """A turn's end cuts its own agent's pending calls; a session's end cuts all and closes its steps."""
        record: BoundaryRecord = BoundaryRecord(
            **common(event, identity, self._policy.redaction, now.wall_ms),
            scope="session" if event.event.cutoff == "session" else "turn",
        )
        stored = self._store.append_record(record)
        self._store.touch_session(identity.session, event.connector, now.wall_ms, stored.seq)
        agent = None if record.scope == "session" else identity.agent
        cut = self._store.cut_pending(
            identity.session, agent, stored.seq, self._keys.content(event.fingerprint)
        )
        closed = self._store.close_session(identity.session, stored.seq) if record.scope == "session" else 0
        return [self._store.amend_record(msgspec.structs.replace(stored, pending_cut=cut, steps_closed=closed))]

    def _prompt(self, event: HookEvent, identity: Identity, now: Instant) -> list[Record]:
        """A prompt under a new turn id ends the turn before: an interrupt sends no event of its own."""
        stored = self._lifecycle(event, identity, now)
        if event.agent or not event.turn:
            return [stored]
        session = self._store.session(identity.session)
        turn = self._keys.turn(event.connector, event.session, event.turn)
        if session is None or session.turn == turn:
            return [stored]
        self._store.set_turn(identity.session, turn)
        if not session.turn:
            return [stored]
        cut = self._store.cut_pending(
            identity.session, identity.agent, stored.seq, self._keys.content(event.fingerprint)
        )
        if not cut:
            return [stored]
        record = BoundaryRecord(
            **common(event, identity, self._policy.redaction, now.wall_ms), scope="turn", pending_cut=cut
        )
        return [stored, self._store.append_record(record)]

    def _lifecycle(self, event: HookEvent, identity: Identity, now: Instant) -> Record:
        record = LifecycleRecord(**common(event, identity, self._policy.redaction, now.wall_ms), note=event.note)
        stored = self._store.append_record(record)
        self._store.touch_session(identity.session, event.connector, now.wall_ms, stored.seq)
        return stored

    def _evict(self, event: HookEvent, identity: Identity, seq: int, now: Instant) -> list[Record]:
        """Keep a session's pending calls bounded: its own oldest goes, never another session's."""
        row = self._store.oldest_pending_over(identity.session, self._bounds.pending_per_session)
        if row is None:
            return []
        self._store.close_call(row, after(row.state, Signal.EXPIRED), seq, b"")
        record = ExpiryRecord(**common(event, identity, self._policy.redaction, now.wall_ms), expired=1)
        return [self._store.append_record(record)]


def _replayed(row: CallRow, verdict: Verdict, policy: bytes) -> Verdict:
    """The stored answer, with today's words where they speak of the same rule.

    After a policy change the stricter of then and now stands: a redelivery never lifts a denial.
    """
    order = (Action.ALLOW, Action.ASK, Action.DENY)
    if row.policy != policy and order.index(verdict.action) > order.index(row.action):
        return verdict
    if verdict.action is row.action and (verdict.rule or "") == row.rule:
        return verdict
    if row.action is Action.ALLOW:
        return Verdict(action=Action.ALLOW)
    return Verdict(
        action=row.action,
        rule=row.rule,
        participant="ledger",
        reason=f"this very call was answered before; the answer stands [{row.rule}]",
    )


def _note(
    admission: Admission, contract: Contract, compatibility: Compatibility, event: HookEvent, *, probe: bool
) -> str:
    """Why no row was opened, in words; "" when one was."""
    if admission in ADMISSION_NOTES:
        return ADMISSION_NOTES[admission]
    if admission is not Admission.UNPAIRED or probe:
        return ""
    if event.event.route is Route.DIRECT:
        return "this event is judged alone and never paired"
    if compatibility is Compatibility.UNKNOWN:
        return f"this agent version is outside contract {contract.contract_id}; no state is kept"
    if contract.level is not Level.PAIRED:
        return f"results of {contract.connector} prove nothing; no state is kept"
    return event.call.id_fault if event.call is not None else ""
