"""The one place where the pure parts meet the store: an event in, an answer and its records out.

Plain synchronous code, made of parts under one policy that :meth:`Engine.adopt` exchanges whole.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from pathlib import Path

import msgspec

from latch_contracts.places import Places
from latch_contracts.records import (
    AllowanceRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    Record,
)
from latch_contracts.wire import (
    VERSION,
    Allow,
    Allowed,
    CallView,
    HookRequest,
    SessionList,
    SessionView,
)
from latchd import views
from latchd.allowances import Answer as Worth
from latchd.allowances import Guesses
from latchd.allowing import Allowances
from latchd.clock import Clock, now
from latchd.hook_calls import Ground, Handled, HookCalls
from latchd.installs import Installs
from latchd.judging import Bindings, Judge, rules_for
from latchd.keys import Keys, kept, load_or_create
from latchd.logbook import Logbook
from latchd.policy import Policy
from latchd.proposing import Proposals
from latchd.rules.generation import Generation
from latchd.settling import Results
from latchd.store import log_room, sqlite
from latchd.store.bounds import Bounds
from latchd.store.database import Database
from latchd.store.errors import StoreError
from latchd.store.store import Store
from latchd.upkeep import Upkeep
from latchd.whereabouts import Whereabouts
from latchd.windows import Instant


class Leave(msgspec.Struct, frozen=True):
    """What became of a code, and the records of it that are durable already."""

    answer: Allowed
    records: list[Record]


class Engine:
    """``open`` gives one that owns its database; ``close`` it. Not thread-safe: one caller at a time."""

    def __init__(
        self,
        store: Store,
        keys: Keys,
        policy: Policy,
        clock: Clock,
        installs: Installs,
        *,
        home: str,
        rules: Generation | None = None,
    ) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._home = home
        self._key_file: Path | None = None
        self.token: str | None = None  # what a request must carry, when the user wants one
        self._log = Logbook(store, clock)
        self._upkeep = Upkeep(store, self._log, clock)
        self._guesses = Guesses()
        self._ground = Ground(store, keys, clock, installs, self._log, self._upkeep, Whereabouts())
        self.counters = self._log.counters
        self.degraded = self._log.degraded
        self.adopt(policy, rules)

    @classmethod
    def open(
        cls,
        places: Places,
        policy: Policy,
        clock: Clock,
        *,
        home: str | None = None,
        rules: Generation | None = None,
    ) -> Engine:
        """Open the state under ``places.state``. Raises StoreUnusable or KeyFileError with one line.

        ``home`` is the home of the user agents run as; the daemon runs as the same one. ``rules`` are
        the person's; without any they are the release's.
        """
        key_file = Path(places.key)
        had_key = key_file.exists()
        keys = load_or_create(key_file)
        opened = Database.open(Path(places.database), full_sync=policy.durability == "full")
        engine = cls(
            Store(opened),
            keys,
            policy,
            clock,
            Installs(Path(places.installs)),
            home=home or str(Path.home()),
            rules=rules,
        )
        engine._key_file = key_file
        if not had_key and engine.newest_seq():
            engine.fault("key-made", "there was no key file; nothing that was stored before is recognised")
        if opened.moved_aside:
            note = f"a corrupt database was moved aside to `{opened.moved_aside}` and a new one started"
            engine.degraded["corrupt"] = note
            engine.health("degraded", note)
        return engine

    def adopt(self, policy: Policy, rules: Generation | None = None) -> None:
        """Judge by this policy and these rules from the next event on; calls pending under others expire."""
        self.policy = policy
        self.rules = rules = rules_for(policy, rules)
        self._store.database.sync(full=policy.durability == "full")
        self._bounds = Bounds(
            records_ms=policy.records.days * 24 * 3600 * 1000, bytes=policy.records.mebibytes * 1024 * 1024
        )
        judge = Judge(policy, self._home, rules, self._clock.worked_us)
        bindings = Bindings(policy, rules)
        self._allowances = Allowances(self._store, self._keys, policy, rules.fingerprint)
        proposals = Proposals(self._store, self._keys, policy, bindings, self._bounds, self._allowances)
        self._results = Results(self._store, self._keys, policy, bindings)
        self._calls = HookCalls(self._ground, policy, judge, proposals, self._results)

    def close(self) -> None:
        self._store.database.close()

    # the hook socket

    def handle(self, request: HookRequest) -> Handled:
        """Answer one hook call. Never raises for anything a peer or the store can do."""
        return self._calls.handle(request, self.token)

    def allow(self, request: Allow) -> Leave:
        """Let the refused call of a code pass once. Never raises for anything a peer or the store can do."""
        if self.token is not None and not hmac.compare_digest(self.token.encode(), request.token.encode()):
            return Leave(Allowed(VERSION, "the hook socket's token is missing or wrong"), [])
        at_us = self._clock.monotonic_us()
        if self._guesses.is_over(at_us):
            return Leave(Allowed(VERSION, Worth.TOO_MANY.value), [])
        told: list[Record] = []
        try:
            told = self._log.catch_up()
            worth, record = self._allowances.allow(request.code, self._now())
        except StoreError as error:
            self._log.failed("recording the person's leave", error)
            return Leave(Allowed(VERSION, f"nothing is allowed, for it can't be recorded: {error}"), told)
        if worth is Worth.UNKNOWN:
            self._guesses.wrong(at_us)
        granted: list[AllowanceRecord] = [] if record is None else [record]
        self.counters["allowed"] += len(granted)
        return Leave(Allowed(VERSION, worth.value, record), [*told, *granted])

    # what has no hook call behind it

    def fault(self, code: str, detail: str, connector: str = "") -> list[Record]:
        """Something went wrong at the rim; ``detail`` must hold nothing of a payload."""
        return self._log.fault(code, detail, connector)

    def gap(self, what: str, *, count: int, detail: str) -> list[Record]:
        self.counters[f"gap_{what}"] += count
        return self._log.append(GapRecord(at_ms=self._clock.wall_ms(), what=what, count=count, detail=detail))

    def health(self, health: str, note: str) -> list[Record]:
        return self._log.append(HealthRecord(at_ms=self._clock.wall_ms(), health=health, note=note))

    def lifecycle(self, note: str) -> list[Record]:
        return self._log.append(LifecycleRecord(at_ms=self._clock.wall_ms(), note=note))

    # time

    def expire(self) -> list[Record]:
        """Expire what is over its window and prune what is over its bound. Changes no decision."""
        return self._upkeep.expire(self._results, self._bounds, self._now())

    def next_deadline_ms(self) -> int:
        """Milliseconds until ``expire`` has something to do, at most until the next sweep."""
        return self._upkeep.next_deadline_ms(self.policy.pending_ms, self._now())

    @property
    def log_bytes(self) -> int:
        """How much of the write-ahead log waits for a checkpoint, as of the last commit."""
        return self._store.database.log_bytes

    def make_room(self) -> None:
        """Before anything is judged: whatever makes the first commits as quick as later ones."""
        log_room.provide(self._store.database.path)

    def checkpoint(self) -> None:
        """Move the log into the database file; safe in a thread beside ``handle``. Raises StoreError."""
        database = self._store.database
        if not database.has_lost_file():  # else the log is of another file than lies there now
            sqlite.checkpoint(database.path)

    def verify(self) -> list[Record]:
        """Notice that database or key file were taken away or damaged under us, and do what can be done."""
        told = self._log.verify()
        if self._key_file is not None:
            told += self._log.standing("key", kept(self._key_file, self._keys))
        return told

    # reading

    @property
    def health_word(self) -> str:
        return "degraded" if self.degraded else "ok"

    def records_after(self, seq: int, limit: int) -> list[Record]:
        return self._store.records_after(seq, limit)

    def with_codes(self, records: Sequence[Record]) -> list[Record]:
        """The same records; each refusal that the person may lift now, with its code."""
        return self._allowances.with_codes(records, self._now())

    def newest_seq(self) -> int:
        return self._store.newest_seq()

    def show(self, call_id: str) -> CallView:
        return views.show(self._store, self._keys, call_id)

    def sessions(self, limit: int) -> SessionList:
        return SessionList(VERSION, views.sessions(self._store, limit))

    def session(self, name: str, limit: int) -> SessionView:
        return views.session(self._store, self._keys, name, limit, self._now())

    def _now(self) -> Instant:
        return now(self._clock)
