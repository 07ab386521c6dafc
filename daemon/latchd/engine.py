"""The one place where the pure parts meet the store: an event in, an answer and its records out.

Plain synchronous code. One hook call is judged outside and settled inside exactly one transaction.

INVARIANT (record before answer): the row and its record are committed before the reply exists, so a
crash between the two leaves a record without an answer, never an answer without a record.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from pathlib import Path

import msgspec

from latch_contracts.connectors import CONNECTORS
from latch_contracts.connectors.connector import Connector, Rendered
from latch_contracts.contract import Kind, Route
from latch_contracts.errors import BadPayload, UnknownEvent
from latch_contracts.events import HookEvent
from latch_contracts.outcome import State
from latch_contracts.places import Places
from latch_contracts.records import (
    AllowanceRecord,
    FaultRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action, Verdict
from latch_contracts.wire import (
    VERSION,
    Allow,
    Allowed,
    CallView,
    HookReply,
    HookRequest,
    SessionList,
    SessionView,
)
from latchd import views
from latchd.allowances import Answer as Worth
from latchd.allowances import Guesses
from latchd.allowing import Allowances
from latchd.clock import Clock
from latchd.installs import Installs
from latchd.judging import Bindings, Judge, Judged, rules_for
from latchd.keys import Keys, load_or_create
from latchd.logbook import UNWRITABLE, Logbook
from latchd.policy import Policy
from latchd.proposing import Proposals
from latchd.recording import Identity, identify
from latchd.redact import head
from latchd.rules.generation import Generation
from latchd.settling import Results
from latchd.store import database
from latchd.store.database import Database, StoreError
from latchd.store.store import Bounds, Store
from latchd.text.detection import NOTHING, Noticed, detect
from latchd.unjudged import Answer, Unjudged
from latchd.upkeep import Upkeep
from latchd.whereabouts import Whereabouts
from latchd.windows import Instant

_UNRECORDABLE = Verdict(
    action=Action.DENY,
    rule=UNWRITABLE,
    participant="floor",
    reason=f"[{UNWRITABLE}]: latchd can't record this call, so it can't pass. "
    "Run `latchctl status` to see why.",
)


class Handled(msgspec.Struct, frozen=True):
    """The reply to write, and the records that are durable already, in order."""

    reply: HookReply
    records: list[Record]


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
        self._installs = installs
        self._home = home
        self.token: str | None = None  # what a request must carry, when the user wants one
        self._log = Logbook(store, clock)
        self._upkeep = Upkeep(store, self._log, clock)
        self._guesses = Guesses()
        self._whereabouts = Whereabouts()
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
        keys = load_or_create(Path(places.key))
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
        self._judge = Judge(policy, self._home, rules)
        self._unjudged = Unjudged(self._log, self._clock, self._installs, policy)
        bindings = Bindings(policy, rules)
        self._allowances = Allowances(self._store, self._keys, policy, rules.fingerprint)
        self._proposals = Proposals(self._store, self._keys, policy, bindings, self._bounds, self._allowances)
        self._results = Results(self._store, self._keys, policy, bindings)

    def close(self) -> None:
        self._store.database.close()

    # the hook socket

    def handle(self, request: HookRequest) -> Handled:
        """Answer one hook call. Never raises for anything a peer or the store can do."""
        started = self._clock.monotonic_us()
        self.counters["requests"] += 1
        connector = CONNECTORS.get(request.connector)
        if connector is None:
            why = f"no agent named `{head(request.connector, 40)}` is known; known: {', '.join(CONNECTORS)}"
            records = self.fault("unknown-connector", why)
            return Handled(_reply(Rendered(2, b"", f"latchd: {why}\n".encode())), records)
        if self.token is not None and not hmac.compare_digest(self.token.encode(), request.token.encode()):
            wrong = BadPayload("token", "is missing or wrong")
            return _handled(self._unjudged.unreadable(connector, request, "", wrong, started))
        version = request.agent_version or self._installs.agent_version(request.connector)
        try:
            event = connector.read(request.payload, request.event)
        except (BadPayload, UnknownEvent) as error:
            return _handled(self._unjudged.unreadable(connector, request, version, error, started))
        if event.event.route in (Route.ACTION, Route.DIRECT):
            return self._proposal(connector, request, event, version, started)
        if request.probe:
            return Handled(_reply(connector.silence()), [])  # asked what would be said: nothing is settled
        if event.event.kind is Kind.CONFIG_CHANGE:
            identity = identify(self._keys, event)
            return _handled(self._unjudged.config_change(connector, event, identity, version))
        return Handled(_reply(connector.silence()), self._settle(connector, event, version))

    def _proposal(
        self, connector: Connector, request: HookRequest, event: HookEvent, version: str, started: int
    ) -> Handled:
        identity = identify(self._keys, event)

        def seen(path: str) -> bytes | None:
            return self._store.seen_file(identity.session, self._keys.path(identity.session, path))

        def rejudge(lifted: frozenset[str]) -> Judged:
            return self._judge.judge(event, seen, connector.contract, lifted)

        told: list[Record] = []
        judged: Judged | None = None
        try:
            told = self._log.catch_up()
            judged = self._judge.judge(event, seen, connector.contract)
            verdict, records = self._proposals.propose(
                connector.contract,
                event,
                identity,
                judged,
                version,
                self._now(),
                rejudge,
                probe=request.probe,
                latency_us=self._clock.monotonic_us() - started,
            )
        except StoreError as error:
            judged = judged or self._judge.judge(event, lambda _: None, connector.contract)
            verdict = self._unrecordable(connector, identity, judged.verdict, error, probe=request.probe)
            return Handled(_reply(connector.render(event.event, verdict, version)), told)
        if any(isinstance(record, VerdictRecord) and record.state is State.PENDING for record in records):
            self._upkeep.opened(self._now())
            self._whereabouts.proposed(identity.session, identity.call, event.cwd)
        self.counters[f"verdict_{verdict.action.value}"] += 1
        return Handled(_reply(connector.render(event.event, verdict, version)), told + records)

    def _unrecordable(
        self, connector: Connector, identity: Identity, verdict: Verdict, error: StoreError, *, probe: bool
    ) -> Verdict:
        """No record, no pass: the floor denies. Who chose to fail open gets the guard's own verdict."""
        fails_open = self.policy.fails_open(connector.contract.connector)
        if probe:
            self._log.failed("recording a probe", error)
        else:
            let_through = fails_open and verdict.action is not Action.DENY
            self._log.refused(identity, error, let_through=let_through)
            self.counters["failed_open"] += let_through
        return verdict if fails_open else _UNRECORDABLE

    def _settle(self, connector: Connector, event: HookEvent, version: str) -> list[Record]:
        identity = identify(self._keys, event)
        told: list[Record] = []
        try:
            told = self._log.catch_up()
            noticed = self._noticed(event)
            own = self._own_of(event, identity)
            return told + self._results.settle(
                connector.contract, event, identity, version, self._now(), noticed, own
            )
        except StoreError as error:
            self._log.dropped(event, identity, error)
            return told

    def _own_of(self, event: HookEvent, identity: Identity) -> bytes:
        """What the project of a result's call adds to policy and rules now."""
        if event.event.kind not in (Kind.RESULT, Kind.DENIAL):
            return b""
        return self._judge.own_at(self._whereabouts.take(identity.session, identity.call, event.cwd))

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

    def _noticed(self, event: HookEvent) -> Noticed:
        """What the event's texts hold. It is only told, so a fault there must not cost an outcome."""
        if not self.policy.text.detect:
            return NOTHING
        try:
            return detect(event.texts, frozenset(self.policy.text.disable))
        except Exception:
            self.counters["text_failures"] += 1
            return NOTHING

    # what has no hook call behind it

    def fault(self, code: str, detail: str, connector: str = "") -> list[Record]:
        """Something went wrong at the rim; ``detail`` must hold nothing of a payload."""
        self.counters[f"fault_{code}"] += 1
        return self._log.append(
            FaultRecord(at_ms=self._clock.wall_ms(), connector=connector, code=code, detail=detail)
        )

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

    def checkpoint(self) -> None:
        """Move the log into the database file; safe in a thread beside ``handle``. Raises StoreError."""
        database.checkpoint(self._store.database.path)

    def verify(self) -> list[Record]:
        """Notice that the database was taken away or damaged under us, and start a new one."""
        return self._log.verify()

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
        return Instant(self._clock.boot_id(), self._clock.boot_ns(), self._clock.wall_ms())


def _handled(answer: Answer) -> Handled:
    rendered, records = answer
    return Handled(_reply(rendered), records)


def _reply(rendered: Rendered) -> HookReply:
    return HookReply(VERSION, rendered.exit_code, rendered.stdout, rendered.stderr)
