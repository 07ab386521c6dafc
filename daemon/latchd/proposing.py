"""Carries a judged proposal out: its row and its records, in one transaction."""

from __future__ import annotations

from typing import Final

from latch_contracts.contract import Compatibility, Contract, Level, Route
from latch_contracts.events import HookEvent
from latch_contracts.outcome import State
from latch_contracts.records import DenialRecord, ExpiryRecord, Record, VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latchd.chains.catalogue import MOST_EVENTS, SECOND_STEPS, Step
from latchd.chains.matching import Past, match
from latchd.chains.verdict import completed
from latchd.judging import Bindings, Judged
from latchd.keys import Keys, shown
from latchd.ledger import ADMISSION_NOTES, Admission, admit
from latchd.lifecycle import Signal, after
from latchd.policy import Policy
from latchd.recording import Identity, common, findings, reason, subject_head, tool_name
from latchd.store.database import StoreError
from latchd.store.store import Bounds, CallRow, Store
from latchd.windows import Instant


class Proposals:
    def __init__(self, store: Store, keys: Keys, policy: Policy, bindings: Bindings, bounds: Bounds) -> None:
        self._store = store
        self._keys = keys
        self._policy = policy
        self._bindings = bindings
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
        call = event.the_call
        compatibility = contract.compatibility(version)
        pairable = (
            not probe
            and event.event.route is Route.ACTION
            and contract.level is Level.PAIRED
            and compatibility is not Compatibility.UNKNOWN
            and bool(call.id)
        )
        fingerprint = self._keys.content(event.fingerprint)
        policy = self._bindings.of(contract, version)
        verdict = judged.verdict
        records: list[Record] = []
        try:
            with self._store.database.transaction():
                verdict = self._with_chains(judged, identity, policy, now)
                row = self._store.call(identity.session, identity.call) if pairable else None
                admission = admit(row, fingerprint, pairable=pairable)
                overruled = admission is Admission.REPLAY and row is not None and _is_stricter(verdict, row)
                if admission is Admission.REPLAY and row is not None and not overruled:
                    return _replayed(row, verdict), []
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
                    note=OVERRULED
                    if overruled
                    else _note(admission, contract, compatibility, event, probe=probe),
                    latency_us=latency_us,
                    policy=shown(policy),
                )
                records.append(self._store.append_record(record, identity.name))
                seq = records[0].seq
                if not probe:
                    self._store.touch_session(identity.session, event.connector, now.wall_ms, seq)
                if compatibility is Compatibility.UNKNOWN and not probe:
                    self._store.cut_pending(identity.session, None, seq, fingerprint)
                if overruled:
                    rule = verdict.rule or ""
                    self._store.overrule(identity.session, identity.call, verdict.action, rule, seq)
                if admission is Admission.CONFLICT and row is not None:
                    self._store.close_call(row, after(row.state, Signal.CONFLICT), seq, fingerprint)
                if state is not None:
                    self._store.open_call(
                        CallRow(
                            session=identity.session,
                            call=identity.call,
                            agent=identity.agent,
                            state=state,
                            fingerprint=fingerprint,
                            input=self._keys.content(call.input_digest),
                            policy=policy,
                            action=verdict.action,
                            rule=verdict.rule or "",
                            operations=judged.operations,
                            detection=judged.projection.detection,
                            enforcement=judged.projection.enforcement,
                            opened=now,
                            opened_seq=seq,
                            closed_seq=seq if state is State.DENIED else 0,
                        )
                    )
                    records += self._evict(event, identity, seq, now)
                if verdict.action is Action.DENY and not probe:  # a probe refuses no call
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
            if row is None or row.fingerprint != fingerprint or _is_stricter(verdict, row):
                raise
            mine = records != [] and row.opened_seq == records[0].seq
            return _replayed(row, verdict), records if mine else []
        return verdict, records

    def _with_chains(self, judged: Judged, identity: Identity, policy: bytes, now: Instant) -> Verdict:
        """The verdict, with the chains that this call completes after what its session has proven."""
        if not judged.projection.detection & SECOND_STEPS:
            return judged.verdict
        rows = self._store.chain_events(identity.session, policy, MOST_EVENTS)
        history = [
            Past(row.seq, Step(row.detection), Step(row.enforcement), row.at)
            for row in rows
            if row.call != identity.call or not identity.call  # a call does not precede itself
        ]
        return completed(judged.verdict, match(history, judged.projection, now), self._policy.profile)

    def _evict(self, event: HookEvent, identity: Identity, seq: int, now: Instant) -> list[Record]:
        """Keep a session's pending calls bounded: its own oldest goes, never another session's."""
        row = self._store.oldest_pending_over(identity.session, self._bounds.pending_per_session)
        if row is None:
            return []
        self._store.close_call(row, after(row.state, Signal.EXPIRED), seq, b"")
        record = ExpiryRecord(**common(event, identity, self._policy.redaction, now.wall_ms), expired=1)
        return [self._store.append_record(record)]


OVERRULED: Final = "this very call was answered more mildly before; the policy or the disk has changed"


def _is_stricter(verdict: Verdict, row: CallRow) -> bool:
    """Whether today's answer to a redelivery is stricter than the first: then it stands, and is recorded.

    Ids come from the model, so a redelivery may be a second call. It never lifts a denial, and what
    would not be let through today is not let through on yesterday's word.
    """
    order = (Action.ALLOW, Action.ASK, Action.DENY)
    return order.index(verdict.action) > order.index(row.action)


def _replayed(row: CallRow, verdict: Verdict) -> Verdict:
    """The stored answer, with today's words where they speak of the same rule."""
    if verdict.action is row.action and (verdict.rule or "") == row.rule:
        return verdict
    if row.action is Action.ALLOW:
        return Verdict(action=Action.ALLOW)
    return Verdict(
        action=row.action,
        rule=row.rule,
        participant="ledger",
        reason=f"[{row.rule}]: this very call was answered before, and the answer stands.",
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
    return event.the_call.id_fault
