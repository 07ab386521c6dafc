"""Carries a judged proposal out: its row and its records, in one transaction."""

from __future__ import annotations

from latch_contracts.contract import Compatibility
from latch_contracts.outcome import State
from latch_contracts.records import DenialRecord, ExpiryRecord, Record, VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latchd.allowing import Allowances
from latchd.arrival import Arrival
from latchd.chaining import Chaining
from latchd.judging import Bindings
from latchd.keys import Keys, shown
from latchd.ledger import Admission, admit
from latchd.lifecycle import Signal, after
from latchd.policy import Policy
from latchd.proposal import Case, Proposal
from latchd.recording import findings, reason, subject_head, tool_name
from latchd.repeating import is_stricter, same_answer, same_refusal
from latchd.store import denials, turns
from latchd.store.bounds import Bounds
from latchd.store.denials import DenialRow
from latchd.store.errors import StoreError
from latchd.store.rows import CallRow, SessionRow
from latchd.store.store import Store


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
        self._chaining = Chaining(store, keys, policy, bindings)

    def propose(self, proposal: Proposal) -> tuple[Verdict, list[Record]]:
        """Settle one judged proposal: the verdict that stands, and its records. Raises StoreError."""
        case = Case(proposal, self._keys.content(proposal.came.event.fingerprint))
        try:
            with self._store.database.transaction():
                self._look_up(case)
                if not self._is_answered(case):
                    self._let_pass(case)
                    seq = self._record(case)
                    self._move(case, seq)
                    self._refuse(case, seq)
        except StoreError:
            if (kept := self._kept(case)) is None:
                raise
            return kept
        return case.verdict, case.records

    def _look_up(self, case: Case) -> None:
        """What the store knows of it, and the verdict with what its session has proven."""
        came, database = case.came, self._store.database
        identity = came.identity
        case.session = self._store.session(identity.session)
        case.verdict = self._chaining.verdict(case.judged, came, case.session)
        case.row = self._store.call(identity.session, identity.call) if case.pairable else None
        late = self._is_late(came, case.session)
        case.admission = admit(case.row, case.fingerprint, pairable=case.pairable, late=late)
        if case.pairable and case.row_differs:
            case.denial = denials.of(database, identity.session, identity.call, case.fingerprint, came.now)
        if case.denial is not None:
            denials.delivered(database, case.denial, came.now.wall_ms)

    def _is_answered(self, case: Case) -> bool:
        """Whether it was answered before and the answer stands: then nothing is written."""
        row, denial, now = case.row, case.denial, case.came.now
        replayed = case.admission is Admission.REPLAY
        case.overruled = replayed and row is not None and is_stricter(case.verdict, row)
        if replayed and row is not None and not case.overruled:
            seq = row.opened_seq if denial is None else denial.seq
            same = same_answer(self._store, row, denial, case.verdict)
            case.verdict = self._allowances.again(same, seq, now)
            return True
        if denial is None:
            return False
        same = same_refusal(self._store, denial, case.verdict)
        case.verdict = self._allowances.again(same, denial.seq, now)
        return case.admission is not Admission.CONFLICT  # which has an id to poison yet

    def _let_pass(self, case: Case) -> None:
        """Where the person lets it break the rules that refuse it, it is judged without them."""
        # A probe is no call, and what was answered before is no new one: they use nothing up.
        if case.proposal.probe or case.denial is not None or case.overruled:
            return
        came = case.came
        leave = self._allowances.holding(case.verdict, came.event, came.identity, came.contract, came.now)
        if leave:
            lifted = frozenset(refusal.rule for refusal in leave)
            case.judged = case.proposal.rejudge(lifted)
            case.verdict = self._chaining.verdict(case.judged, came, case.session, lifted)
            if case.verdict.action is not Action.DENY:  # else by another rule: this leave is not used up
                case.leave = leave

    def _record(self, case: Case) -> int:
        """Its record, under which everything else stands; the record's sequence."""
        came, verdict, redaction = case.came, case.verdict, self._policy.redaction
        call = came.event.the_call
        if case.admission is Admission.OPEN:
            case.state = State.DENIED if verdict.action is Action.DENY else State.PENDING
        record = VerdictRecord(
            **came.common(redaction),
            action=verdict.action,
            tool=tool_name(call, redaction),
            surface=call.surface.value,
            rule=verdict.rule,
            reason=reason(verdict, redaction),
            participant=verdict.participant,
            findings=findings(verdict, redaction),
            head=subject_head(call, redaction),
            status=case.judged.facts.status.value,
            state=case.state,
            probe=case.proposal.probe,
            note=case.note,
            latency_us=case.proposal.latency_us,
            policy=shown(self._binding(case)),
            rules=shown(case.judged.rules),
        )
        case.records.append(self._store.append_record(record, came.identity.name))
        return case.records[0].seq

    def _move(self, case: Case, seq: int) -> None:
        """What it changes of its session and of the row of its id, and the row that it opens."""
        came, identity = case.came, case.came.identity
        self._allowances.use(case.leave, came.event, seq)
        if not case.proposal.probe:
            self._store.touch_session(identity.session, came.event.connector, came.now.wall_ms, seq)
            if came.compatibility is Compatibility.UNKNOWN:
                self._store.cut_pending(identity.session, None, seq, case.fingerprint)
        if case.overruled:
            rule = case.verdict.rule or ""
            self._store.overrule(identity.session, identity.call, case.verdict.action, rule, seq)
        if case.admission is Admission.CONFLICT and case.row is not None:
            self._store.close_call(case.row, after(case.row.state, Signal.CONFLICT), seq, case.fingerprint)
        if case.state is not None:
            self._open(case, case.state, seq)
            case.records += self._evict(came, seq)

    def _open(self, case: Case, state: State, seq: int) -> None:
        came, judged = case.came, case.judged
        identity, pending = came.identity, state is State.PENDING
        self._store.open_call(
            CallRow(
                session=identity.session,
                call=identity.call,
                agent=identity.agent,
                state=state,
                fingerprint=case.fingerprint,
                input=self._keys.content(came.event.the_call.input_digest),
                policy=self._binding(case),
                action=case.verdict.action,
                rule=case.verdict.rule or "",
                operations=judged.operations,
                detection=judged.projection.detection,
                enforcement=judged.projection.enforcement,
                opened=came.now,
                opened_seq=seq,
                closed_seq=0 if pending else seq,
                flows=self._chaining.flows(judged, case.session, identity) if pending else b"",
            )
        )

    def _refuse(self, case: Case, seq: int) -> None:
        """A refusal leaves an entry of its own, and a receipt where the same call can come again."""
        came, verdict = case.came, case.verdict
        identity = came.identity
        if verdict.action is not Action.DENY or case.proposal.probe:  # a probe refuses no call
            return
        rule = verdict.rule or ""
        entry = DenialRecord(
            **came.common(self._policy.redaction), rule=rule, participant=verdict.participant or ""
        )
        case.records.append(self._store.append_record(entry, identity.name))
        if case.denial is not None:
            return
        case.verdict = self._allowances.refused(verdict, came.event, identity, came.contract, seq, came.now)
        if case.pairable:
            receipt = DenialRow(identity.session, identity.call, case.fingerprint, seq, rule, came.now)
            denials.add(self._store.database, receipt)

    def _kept(self, case: Case) -> tuple[Verdict, list[Record]] | None:
        """The answer after a transaction that failed; None when there is none.

        INVARIANT (a failed commit is not an answer): what the disk holds is unknown until it is read
        again. Only a row that is really there lets the verdict stand.
        """
        identity, denial = case.came.identity, case.denial
        row = self._store.call(identity.session, identity.call) if case.pairable else None
        if row is None or row.fingerprint != case.fingerprint or is_stricter(case.verdict, row):
            if denial is not None and not case.records:  # a refusal that stood before needs no new row
                return same_refusal(self._store, denial, case.verdict), []
            return None
        mine = case.records != [] and row.opened_seq == case.records[0].seq
        return same_answer(self._store, row, denial, case.verdict), case.records if mine else []

    def _binding(self, case: Case) -> bytes:
        return self._bindings.of(case.came.contract, case.came.version, case.proposal.judged.own)

    def _is_late(self, came: Arrival, session: SessionRow | None) -> bool:
        """Whether its turn is over. Background agents outlive a turn, so only the main agent's is asked."""
        event = came.event
        if session is None or event.agent or not event.turn:
            return False
        turn = self._keys.turn(event.connector, event.session, event.turn)
        return turns.is_over(self._store.database, session.session, turn, session.turn, session.first_seq)

    def _evict(self, came: Arrival, seq: int) -> list[Record]:
        """Keep a session's pending calls bounded: its own oldest goes, never another session's."""
        row = self._store.oldest_pending_over(came.identity.session, self._bounds.pending_per_session)
        if row is None:
            return []
        self._store.close_call(row, after(row.state, Signal.EXPIRED), seq, b"")
        return [self._store.append_record(ExpiryRecord(**came.common(self._policy.redaction), expired=1))]
