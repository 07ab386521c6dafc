"""Carries the person's leave out: refusals that may be lifted, grants, and the calls that use them up.

Which refusal a code is for, and what it is worth, :mod:`latchd.allowances` says.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from latch_contracts.canonical import digest
from latch_contracts.contract import Contract, Kind
from latch_contracts.events import HookEvent
from latch_contracts.records import AllowanceRecord, Record, VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latchd.allowances import (
    GRANT_MS,
    Answer,
    Refusal,
    answer,
    code_of,
    deed,
    found,
    holds,
    is_open,
    liftable,
    typed,
)
from latchd.keys import Keys
from latchd.policy import Policy, fingerprint
from latchd.recording import Identity
from latchd.store import allowances
from latchd.store.store import Store
from latchd.windows import Instant


class Allowances:
    """All but ``allow`` and ``with_codes`` run inside the caller's transaction.

    ``rules`` is the fingerprint of the rules in force: leave that was given under others is none.
    """

    def __init__(self, store: Store, keys: Keys, policy: Policy, rules: bytes) -> None:
        self._store = store
        self._keys = keys
        self._policy = digest([fingerprint(policy), rules])

    def holding(
        self, verdict: Verdict, event: HookEvent, identity: Identity, contract: Contract, now: Instant
    ) -> list[Refusal]:
        """What the person has allowed that holds for this refused call; [] for one that can't be lifted."""
        if not liftable(verdict):
            return []
        asks = event.event.kind is Kind.PERMISSION
        rows = allowances.granted(
            self._store.database, identity.session, self._deed(event, identity, contract)
        )
        return [row for row in rows if holds(row, self._policy, now, asks=asks)]

    def use(self, holding: Sequence[Refusal], event: HookEvent, seq: int) -> None:
        """The call recorded as ``seq`` passed by these, and no other will; a question passes nothing."""
        for refusal in holding if event.event.kind is not Kind.PERMISSION else ():
            allowances.use(self._store.database, refusal.seq, seq)

    def refused(
        self,
        verdict: Verdict,
        event: HookEvent,
        identity: Identity,
        contract: Contract,
        seq: int,
        now: Instant,
    ) -> Verdict:
        """Keep the refusal recorded as ``seq`` where it may be lifted; the verdict, with its code."""
        if not liftable(verdict) or verdict.rule is None:
            return verdict
        refusal = Refusal(
            seq=seq,
            session=identity.session,
            deed=self._deed(event, identity, contract),
            rule=verdict.rule,
            policy=self._policy,
            refused=now,
        )
        allowances.add(self._store.database, refusal)
        return msgspec.structs.replace(verdict, code=self._code(refusal))

    def again(self, verdict: Verdict, seq: int, now: Instant) -> Verdict:
        """The answer of record ``seq`` to the same call again, with its code while that is worth anything."""
        if verdict.action is not Action.DENY:
            return verdict
        refusal = self._open(seq, now)
        return verdict if refusal is None else msgspec.structs.replace(verdict, code=self._code(refusal))

    def allow(self, text: str, now: Instant) -> tuple[Answer, AllowanceRecord | None]:
        """Take a code: the grant and its record in one transaction, or why not. Raises StoreError."""
        code = typed(text)
        if code is None:
            return Answer.UNKNOWN, None
        database = self._store.database
        with database.transaction():
            refusal = found(allowances.newest_first(database), code, self._code)
            told = answer(refusal, self._policy, now)
            if refusal is None or told is not Answer.GRANTED:
                return told, None
            record = _record(refusal, self._store.record(refusal.seq), now)
            name = allowances.name_of_record(database, refusal.seq)
            stored = self._store.append_record(record, name)
            allowances.grant(database, refusal.seq, stored.seq, now)
        return told, msgspec.structs.replace(record, seq=stored.seq)

    def with_codes(self, records: Sequence[Record], now: Instant) -> list[Record]:
        """The records, each refusal that may be lifted now with its code. Raises StoreError."""
        return [self._with_code(record, now) for record in records]

    def _with_code(self, record: Record, now: Instant) -> Record:
        if not isinstance(record, VerdictRecord) or record.action is not Action.DENY:
            return record
        refusal = self._open(record.seq, now)
        return record if refusal is None else msgspec.structs.replace(record, code=self._code(refusal))

    def _open(self, seq: int, now: Instant) -> Refusal | None:
        """The refusal of this record, if its code would be taken now."""
        refusal = allowances.of_record(self._store.database, seq)
        if refusal is None or refusal.policy != self._policy or not is_open(refusal, now):
            return None
        return refusal

    def _deed(self, event: HookEvent, identity: Identity, contract: Contract) -> bytes:
        return self._keys.deed(identity.session, deed(event, contract))

    def _code(self, refusal: Refusal) -> str:
        return code_of(self._keys.allow(refusal.session, refusal.deed, refusal.seq))


def _record(refusal: Refusal, refused: Record | None, now: Instant) -> AllowanceRecord:
    """What is recorded of a grant; the refusal's own record says what it is about, unless it is pruned."""
    record = AllowanceRecord(
        at_ms=now.wall_ms, rule=refusal.rule, refused=refusal.seq, until_ms=now.wall_ms + GRANT_MS
    )
    if not isinstance(refused, VerdictRecord):
        return record
    return msgspec.structs.replace(
        record,
        connector=refused.connector,
        event=refused.event,
        session=refused.session,
        agent=refused.agent,
        call=refused.call,
        session_key=refused.session_key,
        call_key=refused.call_key,
        tool=refused.tool,
        head=refused.head,
    )
