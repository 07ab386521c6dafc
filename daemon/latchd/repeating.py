"""What is said to a proposal that has been answered before: the same, in the same words where they are kept.

INVARIANT (a refusal stands): no redelivery lifts a refusal, whatever rules, mode, session or time say by
then; and what would not be let through today is not let through on yesterday's word.
"""

from __future__ import annotations

from typing import Final

from latch_contracts.records import VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latchd.store.denials import DenialRow
from latchd.store.rows import CallRow
from latchd.store.store import Store

OVERRULED: Final = "this very call was answered more mildly before; the policy or the disk has changed"
_PARTICIPANT: Final = "ledger"


def is_stricter(verdict: Verdict, row: CallRow) -> bool:
    """Whether today's answer to a redelivery is stricter than the first: then it stands, and is recorded.

    Ids come from the model, so a redelivery may be a second call.
    """
    order = (Action.ALLOW, Action.ASK, Action.DENY)
    return order.index(verdict.action) > order.index(row.action)


def same_answer(store: Store, row: CallRow, denial: DenialRow | None, verdict: Verdict) -> Verdict:
    """The stored answer. ``verdict`` is today's, whose words do where it speaks of the same rule."""
    if verdict.action is row.action and (verdict.rule or "") == row.rule:
        return verdict
    if row.action is Action.ALLOW:
        return Verdict(action=Action.ALLOW)
    return _said(store, row.action, row.rule, row.opened_seq if denial is None else denial.seq)


def same_refusal(store: Store, denial: DenialRow, verdict: Verdict) -> Verdict:
    """The refusal of a call whose row is gone, or another's."""
    if verdict.action is Action.DENY and verdict.rule == denial.rule:
        return verdict
    return _said(store, Action.DENY, denial.rule, denial.seq)


def _said(store: Store, action: Action, rule: str, seq: int) -> Verdict:
    """That answer in the words of its record, as long as records are kept and hold words."""
    record = store.record(seq)
    words = record.reason if isinstance(record, VerdictRecord) and record.rule == rule else ""
    return Verdict(
        action=action,
        rule=rule,
        participant=_PARTICIPANT,
        reason=words or f"[{rule}]: this very call was answered before, and the answer stands.",
    )
