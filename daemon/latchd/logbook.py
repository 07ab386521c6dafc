"""Records that no hook call has behind it, and what is owed when the store could not take one.

A store that fails is not forgotten once it works again: what went unrecorded is told in gaps, and no
call is promoted that a refusal, a conflict or a boundary would have ended had it been written down.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Final

import msgspec

from latch_contracts.contract import Kind
from latch_contracts.events import HookEvent
from latch_contracts.records import FaultRecord, GapRecord, HealthRecord, Record
from latch_contracts.verdict import Action
from latchd.clock import Clock
from latchd.recording import Identity
from latchd.store.database import Database
from latchd.store.errors import StoreError
from latchd.store.store import Store

UNWRITABLE: Final = "floor.record-unwritable"
_REMEMBERED: Final = 1024  # calls and sessions in doubt; over it every pending call is
_ENDING: Final = frozenset({Kind.TURN_END, Kind.SESSION_END, Kind.PROMPT, Kind.BATCH})


class Logbook:
    """``degraded`` says by cause what a person should know; empty is health."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.degraded: dict[str, str] = {}
        self.counters: Counter[str] = Counter()
        self._owed: Counter[str] = Counter()
        self._refused: set[tuple[bytes, bytes]] = set()
        self._ended: dict[bytes, bool] = {}  # session -> whether all of it ended
        self._all_in_doubt = False

    def append(self, *records: Record) -> list[Record]:
        """The records in a transaction of their own, after what is owed; [] when the store can't."""
        try:
            told = self.catch_up()
            with self._store.database.transaction():
                return told + [self._store.append_record(record) for record in records]
        except StoreError as error:
            self._missed("records of the daemon's own", error)
            return []

    def fault(self, code: str, detail: str, connector: str = "") -> list[Record]:
        """Something went wrong at the rim; ``detail`` must hold nothing of a payload."""
        self.counters[f"fault_{code}"] += 1
        at_ms = self._clock.wall_ms()
        return self.append(FaultRecord(at_ms=at_ms, connector=connector, code=code, detail=detail))

    def standing(self, cause: str, note: str) -> list[Record]:
        """How one thing that is looked at again and again stands now; "" is well. Told when it changes."""
        if note == self.degraded.get(cause, ""):
            return []
        at_ms = self._clock.wall_ms()
        if note:
            self.degraded[cause] = note
            return self.append(HealthRecord(at_ms=at_ms, health="degraded", note=note))
        del self.degraded[cause]
        health = "degraded" if self.degraded else "ok"
        return self.append(HealthRecord(at_ms=at_ms, health=health, note=f"{cause}: well again"))

    def refused(self, identity: Identity, error: StoreError, *, let_through: bool) -> None:
        """A proposal could not be recorded; its row may be there all the same, and must prove nothing."""
        self._missed("proposals that were let through" if let_through else "proposals, all refused", error)
        if identity.call:
            self._refused.add((identity.session, identity.call))

    def dropped(self, event: HookEvent, identity: Identity, error: StoreError) -> None:
        """A result or a boundary could not be recorded."""
        self._missed("results and other events", error)
        if event.event.kind in _ENDING:
            whole = event.event.kind is Kind.SESSION_END
            self._ended[identity.session] = whole or self._ended.get(identity.session, False)

    def failed(self, what: str, error: StoreError) -> None:
        """Work that is simply done again next time."""
        self.counters["store_errors"] += 1
        self.degraded["store"] = f"{what} failed: {error}"

    def catch_up(self) -> list[Record]:
        """Write down what is owed, and end what was to end. Raises StoreError while the store still fails."""
        if "store" not in self.degraded:
            return []
        at_ms = self._clock.wall_ms()
        told: list[Record] = [
            GapRecord(at_ms=at_ms, what="unrecorded", count=count, detail=what)
            for what, count in self._owed.items()
        ]
        health = "ok" if len(self.degraded) == 1 else "degraded"
        told.append(HealthRecord(at_ms=at_ms, health=health, note="the store can be written again"))
        with self._store.database.transaction():
            records = [self._store.append_record(record) for record in told]
            seq = records[-1].seq
            if self._all_in_doubt:
                self._store.cut_pending(None, None, seq, b"")
            for session, call in self._refused:
                self._store.overrule(session, call, Action.DENY, UNWRITABLE, seq)
            for session, whole in self._ended.items():
                self._store.cut_pending(session, None, seq, b"")
                if whole:
                    self._store.close_session(session, seq)
        self._owed.clear()
        self._refused.clear()
        self._ended.clear()
        self._all_in_doubt = False
        del self.degraded["store"]
        return records

    def verify(self) -> list[Record]:
        """Look after the database: replace one that was taken away or is damaged, and tell what is owed."""
        database = self._store.database
        if database.has_cut_log():
            return self._replaced(
                database, "had its log cut short", "it was opened again, with what is left", cut=True
            )
        if database.is_damaged:
            return self._replaced(database, "is damaged")
        if database.has_lost_file():
            return self._replaced(database, "was removed or replaced")
        if not database.is_in_place():  # closing it writes what the log held into the file
            return self._replaced(
                database, "had its log taken away", "it was opened again, with all that it held"
            )
        try:
            return self.catch_up()
        except StoreError as error:
            self.failed("writing down what was missed", error)
            return []

    def _replaced(
        self, database: Database, why: str, done: str = "a new one was started", *, cut: bool = False
    ) -> list[Record]:
        newest = self._store.given
        with contextlib.suppress(StoreError):
            newest = max(newest, self._store.newest_seq())
        try:
            database.abandon() if cut else database.close()
            self._store.database = opened = database.opened_again()
        except StoreError as error:
            self.degraded["database"] = f"the database file {why}, and none can be started: {error}"
            return []
        self.degraded["database"] = f"the database file {why}; {done}"
        if opened.moved_aside:
            self.degraded["database"] += f", the old one is `{opened.moved_aside}`"
        note = self.degraded["database"]
        try:
            # Whoever watches goes on from the sequence it knows; what is owed comes after.
            left = self._store.newest_seq()
            at_ms = self._clock.wall_ms()
            told: list[Record] = [
                HealthRecord(seq=max(newest, left) + 1, at_ms=at_ms, health="degraded", note=note)
            ]
            if newest > left:
                lost = GapRecord(at_ms=at_ms, what="lost", from_seq=left + 1, to_seq=newest)
                told.append(msgspec.structs.replace(lost, count=newest - left, detail=note))
            with opened.transaction():
                told = [self._store.append_record(record) for record in told]
            return told + self.catch_up()
        except StoreError as error:
            self.failed("writing into a new database", error)
            return []

    def _missed(self, what: str, error: StoreError) -> None:
        self._owed[what] += 1
        self.failed("recording the last event", error)
        if len(self._refused) + len(self._ended) >= _REMEMBERED:
            self._refused.clear()
            self._ended.clear()
            self._all_in_doubt = True
