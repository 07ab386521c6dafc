"""Carries a judged proposal out: its row and its records, in one transaction."""

from __future__ import annotations

from collections.abc import Callable

from latch_contracts.contract import Compatibility, Contract, Level, Route
from latch_contracts.events import HookEvent
from latch_contracts.outcome import State
from latch_contracts.records import DenialRecord, ExpiryRecord, Record, VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latchd.allowances import Refusal
from latchd.allowing import Allowances
from latchd.chains import held
from latchd.chains.catalogue import MOST_EVENTS, SECOND_STEPS, Step
from latchd.chains.matching import Past, match
from latchd.chains.verdict import completed
from latchd.judging import Bindings, Judged
from latchd.keys import Keys, shown
from latchd.ledger import ADMISSION_NOTES, Admission, admit
from latchd.lifecycle import Signal, after
from latchd.policy import Policy
from latchd.recording import Identity, common, findings, reason, subject_head, tool_name
from latchd.repeating import OVERRULED, is_stricter, same_answer, same_refusal
from latchd.store import denials, taints, turns
from latchd.store.database import StoreError
from latchd.store.denials import DenialRow
from latchd.store.store import Bounds, CallRow, SessionRow, Store
from latchd.windows import Instant


class Proposals:
    def __init__(
        self,
        store: Store,
        keys: Keys,
        policy: Policy,
        bindings: Bindings,
        bounds: Bounds,
        allowances: Allowances,
    ) -> None:
        self._allowances = allowances
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
        rejudge: Callable[[frozenset[str]], Judged],
        *,
        probe: bool,
        latency_us: int,
    ) -> tuple[Verdict, list[Record]]:
        """Settle one judged proposal: the verdict that stands, and its records. Raises StoreError.

        ``rejudge`` judges it anew where the person lets it break these rules.
        """
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
        binding = self._bindings.of(contract, version, judged.own)
        verdict = judged.verdict
        denial: DenialRow | None = None
        records: list[Record] = []
        database = self._store.database
        try:
            with database.transaction():
                session = self._store.session(identity.session)
                verdict = self._with_chains(judged, session, identity, policy, now)
                row = self._store.call(identity.session, identity.call) if pairable else None
                admission = admit(
                    row, fingerprint, pairable=pairable, late=self._is_late(event, session, identity)
                )
                if pairable and (row is None or row.fingerprint != fingerprint or row.action is Action.DENY):
                    denial = denials.of(database, identity.session, identity.call, fingerprint, now)
                if denial is not None:
                    denials.delivered(database, denial, now.wall_ms)
                overruled = admission is Admission.REPLAY and row is not None and is_stricter(verdict, row)
                if admission is Admission.REPLAY and row is not None and not overruled:
                    seq = row.opened_seq if denial is None else denial.seq
                    same = same_answer(self._store, row, denial, verdict)
                    return self._allowances.again(same, seq, now), []
                if denial is not None:
                    verdict = same_refusal(self._store, denial, verdict)
                    verdict = self._allowances.again(verdict, denial.seq, now)
                    if admission is not Admission.CONFLICT:  # which has an id to poison yet
                        return verdict, []
                leave: list[Refusal] = []
                # A probe is no call, and what was answered before is no new one: they use nothing up.
                if not probe and denial is None and not overruled:
                    leave = self._allowances.holding(verdict, event, identity, contract, now)
                if leave:
                    lifted = frozenset(refusal.rule for refusal in leave)
                    judged = rejudge(lifted)
                    verdict = self._with_chains(judged, session, identity, policy, now, lifted)
                    if verdict.action is Action.DENY:  # by another rule, so this leave is not used up
                        leave = []
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
                    note=_joined(
                        OVERRULED
                        if overruled
                        else _note(admission, contract, compatibility, event, probe=probe),
                        *(f"allowed by the person, record {refusal.grant_seq}" for refusal in leave),
                    ),
                    latency_us=latency_us,
                    policy=shown(binding),
                    rules=shown(judged.rules),
                )
                records.append(self._store.append_record(record, identity.name))
                seq = records[0].seq
                self._allowances.use(leave, event, seq)
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
                    flows = self._flows(judged, session, identity) if state is State.PENDING else b""
                    self._store.open_call(
                        CallRow(
                            session=identity.session,
                            call=identity.call,
                            agent=identity.agent,
                            state=state,
                            fingerprint=fingerprint,
                            input=self._keys.content(call.input_digest),
                            policy=binding,
                            action=verdict.action,
                            rule=verdict.rule or "",
                            operations=judged.operations,
                            detection=judged.projection.detection,
                            enforcement=judged.projection.enforcement,
                            opened=now,
                            opened_seq=seq,
                            closed_seq=seq if state is State.DENIED else 0,
                            flows=flows,
                        )
                    )
                    records += self._evict(event, identity, seq, now)
                if verdict.action is Action.DENY and not probe:  # a probe refuses no call
                    entry = DenialRecord(
                        **common(event, identity, self._policy.redaction, now.wall_ms),
                        rule=verdict.rule or "",
                        participant=verdict.participant or "",
                    )
                    records.append(self._store.append_record(entry, identity.name))
                    if denial is None:
                        verdict = self._allowances.refused(verdict, event, identity, contract, seq, now)
                    if pairable and denial is None:
                        rule = verdict.rule or ""
                        denials.add(
                            database, DenialRow(identity.session, identity.call, fingerprint, seq, rule, now)
                        )
        except StoreError:
            # INVARIANT (a failed commit is not an answer): what the disk holds is unknown until it
            # is read again. Only a row that is really there lets the verdict stand.
            row = self._store.call(identity.session, identity.call) if pairable else None
            if row is None or row.fingerprint != fingerprint or is_stricter(verdict, row):
                if denial is not None and not records:  # a refusal that stood before needs no new row
                    return same_refusal(self._store, denial, verdict), []
                raise
            mine = records != [] and row.opened_seq == records[0].seq
            return same_answer(self._store, row, denial, verdict), records if mine else []
        return verdict, records

    def _is_late(self, event: HookEvent, session: SessionRow | None, identity: Identity) -> bool:
        """Whether its turn is over. Background agents outlive a turn, so only the main agent's is asked."""
        if session is None or event.agent or not event.turn:
            return False
        turn = self._keys.turn(event.connector, event.session, event.turn)
        return turns.is_over(self._store.database, identity.session, turn, session.turn, session.first_seq)

    def _with_chains(
        self,
        judged: Judged,
        session: SessionRow | None,
        identity: Identity,
        policy: bytes,
        now: Instant,
        lifted: frozenset[str] = frozenset(),
    ) -> Verdict:
        """The verdict, with the chains that this call completes after what its session has proven."""
        steps = judged.projection
        if session is None or not (steps.detection & SECOND_STEPS or steps.flows.sent):
            return judged.verdict
        rows = self._store.chain_events(identity.session, policy, MOST_EVENTS)
        history = [
            Past(row.seq, Step(row.detection), Step(row.enforcement), row.at)
            for row in rows
            if row.call != identity.call or not identity.call  # a call does not precede itself
        ]
        carried: tuple[held.Carried, ...] = ()
        if session.tainting and steps.flows.sent:
            files = taints.held(self._store.database, identity.session, policy)
            carried = held.carried(steps.flows.sent, held.recent(files, now), self._path_key(identity))
        matches = match(history, steps, now, carried)
        return completed(judged.verdict, matches, self._policy.profile, lifted)

    def _flows(self, judged: Judged, session: SessionRow | None, identity: Identity) -> bytes:
        """What this call's success will say of files that hold secrets, where that can matter."""
        flows = judged.projection.flows
        if flows.origin:
            self._store.set_tainting(identity.session)
        elif session is None or not session.tainting:
            return b""  # no file of this session holds a secret, and this call puts none into one
        return held.written(flows, self._path_key(identity))

    def _path_key(self, identity: Identity) -> held.Key:
        return lambda path: self._keys.path(identity.session, path)

    def _evict(self, event: HookEvent, identity: Identity, seq: int, now: Instant) -> list[Record]:
        """Keep a session's pending calls bounded: its own oldest goes, never another session's."""
        row = self._store.oldest_pending_over(identity.session, self._bounds.pending_per_session)
        if row is None:
            return []
        self._store.close_call(row, after(row.state, Signal.EXPIRED), seq, b"")
        record = ExpiryRecord(**common(event, identity, self._policy.redaction, now.wall_ms), expired=1)
        return [self._store.append_record(record)]


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


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
