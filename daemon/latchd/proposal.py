"""One proposal: how it was judged, and what has been decided of it so far."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from latch_contracts.contract import Compatibility, Level, Route
from latch_contracts.outcome import State
from latch_contracts.records import Record
from latch_contracts.verdict import Action
from latchd.allowances import Refusal
from latchd.arrival import Arrival
from latchd.judging import Judged
from latchd.ledger import ADMISSION_NOTES, Admission
from latchd.repeating import OVERRULED
from latchd.store.denials import DenialRow
from latchd.store.rows import CallRow, SessionRow


class Proposal(msgspec.Struct, frozen=True):
    """One proposal and how it was judged.

    ``rejudge`` judges it anew where the person lets it break these rules; ``probe``: nobody proposed it.
    """

    came: Arrival
    judged: Judged
    rejudge: Callable[[frozenset[str]], Judged]
    probe: bool
    latency_us: int


class Case:
    """A proposal while its transaction runs: what is known of it, and what has been decided so far."""

    def __init__(self, proposal: Proposal, fingerprint: bytes) -> None:
        self.proposal = proposal
        self.came = proposal.came
        self.fingerprint = fingerprint
        self.pairable = not proposal.probe and proposal.came.pairable
        self.judged = proposal.judged
        self.verdict = proposal.judged.verdict
        self.session: SessionRow | None = None
        self.row: CallRow | None = None  # of its id, as it was before
        self.admission = Admission.UNPAIRED
        self.denial: DenialRow | None = None  # that this very content met before
        self.overruled = False  # today is stricter than the answer it had
        self.leave: list[Refusal] = []
        self.state: State | None = None  # of the row it opens
        self.records: list[Record] = []

    @property
    def row_differs(self) -> bool:
        """Whether its id's row can't say how this content was refused."""
        row = self.row
        return row is None or row.fingerprint != self.fingerprint or row.action is Action.DENY

    @property
    def note(self) -> str:
        """What its record says besides: why no row was opened, or whose leave it had."""
        why = OVERRULED if self.overruled else self._why_unpaired()
        leave = (f"allowed by the person, record {refusal.grant_seq}" for refusal in self.leave)
        return "; ".join(part for part in (why, *leave) if part)

    def _why_unpaired(self) -> str:
        contract = self.came.contract
        if self.admission in ADMISSION_NOTES:
            return ADMISSION_NOTES[self.admission]
        if self.admission is not Admission.UNPAIRED or self.proposal.probe:
            return ""
        if self.came.event.event.route is Route.DIRECT:
            return "this event is judged alone and never paired"
        if self.came.compatibility is Compatibility.UNKNOWN:
            return f"this agent version is outside contract {contract.contract_id}; no state is kept"
        if contract.level is not Level.PAIRED:
            return f"results of {contract.connector} prove nothing; no state is kept"
        return self.came.event.the_call.id_fault
