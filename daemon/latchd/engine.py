"""The one place where the pure parts meet the store: an event in, an answer and its records out.

Plain synchronous code. One hook call is judged outside and settled inside exactly one transaction.

INVARIANT (record before answer): the row and its record are committed before the reply exists, so a
crash between the two leaves a record without an answer, never an answer without a record.
"""

from __future__ import annotations

import contextlib
import hmac
from collections import Counter
from collections.abc import Generator
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
    ConfigRecord,
    DenialRecord,
    FaultRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action, Verdict
from latch_contracts.wire import VERSION, CallView, HookReply, HookRequest, SessionList
from latchd import views
from latchd.clock import Clock
from latchd.installs import Installs
from latchd.judging import Bindings, Judge
from latchd.keys import Keys, load_or_create
from latchd.policy import Policy
from latchd.proposing import Proposals
from latchd.recording import common, identify
from latchd.redact import head
from latchd.settling import Results
from latchd.store import database
from latchd.store.database import Database, StoreError
from latchd.store.store import Bounds, Store
from latchd.windows import Instant, remaining_ms

_SWEEP_MS = 60_000  # how often bounds are enforced when nothing else wakes the scheduler


class Handled(msgspec.Struct, frozen=True):
    """The reply to write, and the records that are durable already, in order."""

    reply: HookReply
    records: list[Record]


class Engine:
    """``open`` gives one that owns its database; ``close`` it. Not thread-safe: one caller at a time."""

    def __init__(
        self, store: Store, keys: Keys, policy: Policy, clock: Clock, installs: Installs, *, home: str
    ) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._installs = installs
        self._home = home
        self.token: str | None = None  # what a request must carry, when the user wants one
        self._swept_ms = clock.wall_ms()
        # No pending call is older than this; None = nothing is pending. A lower bound is enough: the
        # scheduler comes early once, and looks again.
        self._oldest = self._oldest_pending()
        self.counters: Counter[str] = Counter()
        self.degraded: dict[str, str] = {}  # cause -> what a person should know
        self.adopt(policy)

    @classmethod
    def open(cls, places: Places, policy: Policy, clock: Clock, *, home: str | None = None) -> Engine:
        """Open the state under ``places.state``. Raises StoreUnusable or KeyFileError with one line.

        ``home`` is the home of the user agents run as; the daemon runs as the same one.
        """
        keys = load_or_create(Path(places.key))
        opened = Database.open(Path(places.database), full_sync=policy.durability == "full")
        engine = cls(
            Store(opened), keys, policy, clock, Installs(Path(places.installs)), home=home or str(Path.home())
        )
        if opened.moved_aside:
            engine.degraded["corrupt"] = f"a corrupt database was moved aside to {opened.moved_aside}"
        return engine

    def adopt(self, policy: Policy) -> None:
        """Judge with this policy from the next event on; calls pending under another one expire."""
        self.policy = policy
        self._bounds = Bounds(
            records_ms=policy.records.days * 24 * 3600 * 1000, bytes=policy.records.mebibytes * 1024 * 1024
        )
        self._judge = Judge(policy, self._home)
        bindings = Bindings(policy)
        self._proposals = Proposals(self._store, self._keys, policy, bindings, self._bounds)
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
            self.counters["unknown_connector"] += 1
            why = f"no agent named `{head(request.connector, 40)}` is known; known: {', '.join(CONNECTORS)}"
            records = self.fault("unknown-connector", why)
            return Handled(_reply(Rendered(2, b"", f"latchd: {why}\n".encode())), records)
        if self.token is not None and not hmac.compare_digest(self.token.encode(), request.token.encode()):
            return self._unreadable(
                connector, request, "", BadPayload("token", "is missing or wrong"), started
            )
        version = request.agent_version or self._installs.agent_version(request.connector)
        try:
            event = connector.read(request.payload, request.event)
        except (BadPayload, UnknownEvent) as error:
            return self._unreadable(connector, request, version, error, started)
        if event.event.route in (Route.ACTION, Route.DIRECT):
            return self._proposal(connector, request, event, version, started)
        if request.probe:
            return Handled(_reply(connector.silence()), [])  # asked what would be said: nothing is settled
        if event.event.kind is Kind.CONFIG_CHANGE:
            return self._config_change(connector, event, version)
        return Handled(_reply(connector.silence()), self._settle(connector, event, version))

    def _unreadable(
        self, connector: Connector, request: HookRequest, version: str, error: Exception, started: int
    ) -> Handled:
        """A payload that can't be read: refused where a refusal is obeyed, silence elsewhere."""
        self.counters["bad_payloads"] += 1
        code = "unknown-event" if isinstance(error, UnknownEvent) else "bad-payload"
        event = connector.guess_event(request.payload, request.event)
        if event is not None and not event.blockable:
            detail = "" if self.policy.redaction == "none" else head(str(error))
            return Handled(
                _reply(connector.silence()), self.fault(code, detail, connector.contract.connector)
            )
        verdict = Verdict(
            action=Action.DENY,
            rule=f"floor.{code}",
            participant="floor",
            reason=f"[floor.{code}]: the hook's payload can't be judged: {error}.",
        )
        clear = self.policy.redaction != "none"
        record = VerdictRecord(
            at_ms=self._clock.wall_ms(),
            connector=connector.contract.connector,
            event="" if event is None else event.name,
            action=Action.DENY,
            rule=verdict.rule,
            participant="floor",
            reason=head(verdict.reason, 300) if clear else "",
            latency_us=self._clock.monotonic_us() - started,
            probe=request.probe,
        )
        denial = DenialRecord(
            at_ms=record.at_ms, connector=record.connector, rule=f"floor.{code}", participant="floor"
        )
        records = self._append(record, denial)
        return Handled(_reply(connector.render(event, verdict, version)), records)

    def _proposal(
        self, connector: Connector, request: HookRequest, event: HookEvent, version: str, started: int
    ) -> Handled:
        identity = identify(self._keys, event)

        def seen(path: str) -> bytes | None:
            return self._store.seen_file(identity.session, self._keys.path(identity.session, path))

        try:
            judged = self._judge.judge(event, seen, connector.contract)
            verdict, records = self._proposals.propose(
                connector.contract,
                event,
                identity,
                judged,
                version,
                self._now(),
                probe=request.probe,
                latency_us=self._clock.monotonic_us() - started,
            )
        except StoreError as error:
            return self._unrecordable(connector, event, version, error)
        self._recovered()
        if self._oldest is None and any(
            isinstance(record, VerdictRecord) and record.state is State.PENDING for record in records
        ):
            self._oldest = self._now()
        self.counters[f"verdict_{verdict.action.value}"] += 1
        return Handled(_reply(connector.render(event.event, verdict, version)), records)

    def _unrecordable(
        self, connector: Connector, event: HookEvent, version: str, error: StoreError
    ) -> Handled:
        """No record, no pass: the floor denies, unless the user chose to fail open."""
        self.counters["store_errors"] += 1
        self.degraded["store"] = f"the last event could not be recorded: {error}"
        if self.policy.fails_open(connector.contract.connector):
            self.counters["failed_open"] += 1
            return Handled(_reply(connector.silence()), [])
        verdict = Verdict(
            action=Action.DENY,
            rule="floor.record-unwritable",
            participant="floor",
            reason="[floor.record-unwritable]: latchd can't record this call, so it can't pass. "
            "Run `latchctl status` to see why.",
        )
        return Handled(_reply(connector.render(event.event, verdict, version)), [])

    def _config_change(self, connector: Connector, event: HookEvent, version: str) -> Handled:
        why = self._installs.change_refused(event.connector, event.config_source, event.config_path)
        identity = identify(self._keys, event)
        record = ConfigRecord(
            **common(event, identity, self.policy.redaction, self._clock.wall_ms()),
            source=head(event.config_source, 40),
            path="" if self.policy.redaction == "none" else head(event.config_path),
            refused=bool(why),
            why=why,
        )
        records = self._append(record)
        if not why:
            return Handled(_reply(connector.silence()), records)
        self.counters["config_refused"] += 1
        verdict = Verdict(action=Action.DENY, rule="floor.hooks-removed", participant="floor", reason=why)
        return Handled(_reply(connector.render(event.event, verdict, version)), records)

    def _settle(self, connector: Connector, event: HookEvent, version: str) -> list[Record]:
        identity = identify(self._keys, event)
        try:
            records = self._results.settle(connector.contract, event, identity, version, self._now())
        except StoreError as error:
            self.counters["store_errors"] += 1
            self.degraded["store"] = f"the last event could not be recorded: {error}"
            return []
        self._recovered()
        return records

    # what has no hook call behind it

    def fault(self, code: str, detail: str, connector: str = "") -> list[Record]:
        """Something went wrong at the rim; ``detail`` must hold nothing of a payload."""
        self.counters[f"fault_{code}"] += 1
        return self._append(
            FaultRecord(at_ms=self._clock.wall_ms(), connector=connector, code=code, detail=detail)
        )

    def gap(self, what: str, *, count: int, detail: str) -> list[Record]:
        self.counters[f"gap_{what}"] += count
        return self._append(GapRecord(at_ms=self._clock.wall_ms(), what=what, count=count, detail=detail))

    def health(self, health: str, note: str) -> list[Record]:
        return self._append(HealthRecord(at_ms=self._clock.wall_ms(), health=health, note=note))

    def lifecycle(self, note: str) -> list[Record]:
        return self._append(LifecycleRecord(at_ms=self._clock.wall_ms(), note=note))

    # time

    def expire(self) -> list[Record]:
        """Expire what is over its window and prune what is over its bound. Changes no decision."""
        try:
            records = self._results.expire(self._now())
            self._oldest = self._oldest_pending()
            if self._clock.wall_ms() - self._swept_ms >= _SWEEP_MS or self._swept_ms > self._clock.wall_ms():
                self._swept_ms = self._clock.wall_ms()
                with self._store.database.transaction():
                    self._store.prune(self._bounds, self._swept_ms)
        except StoreError as error:
            self.degraded["store"] = f"the last sweep failed: {error}"
            return []
        return records

    def next_deadline_ms(self) -> int:
        """Milliseconds until ``expire`` has something to do, at most until the next sweep."""
        if self._oldest is None:
            return _SWEEP_MS
        return min(_SWEEP_MS, remaining_ms(self._oldest, self._now(), self.policy.pending_ms))

    def _oldest_pending(self) -> Instant | None:
        rows = self._store.pending(1)
        return rows[0].opened if rows else None

    def checkpoint(self) -> None:
        """Move the log into the database file; safe in a thread beside ``handle``. Raises StoreError."""
        database.checkpoint(self._store.database.path)

    def verify(self) -> list[Record]:
        """Notice that the database file was taken away under us; a record when that changed."""
        gone = not self._store.database.is_in_place()
        if gone == ("unlinked" in self.degraded):
            return []
        if gone:
            self.degraded["unlinked"] = (
                "the database file was removed or replaced; restart latchd to record again"
            )
            return [
                HealthRecord(at_ms=self._clock.wall_ms(), health="degraded", note=self.degraded["unlinked"])
            ]
        del self.degraded["unlinked"]
        return self.health(self.health_word, "the database file is back in place")

    # reading

    @property
    def health_word(self) -> str:
        return "degraded" if self.degraded else "ok"

    def records_after(self, seq: int, limit: int) -> list[Record]:
        return self._store.records_after(seq, limit)

    def newest_seq(self) -> int:
        return self._store.newest_seq()

    def show(self, call_id: str) -> CallView:
        return views.show(self._store, self._keys, call_id)

    def sessions(self, limit: int) -> SessionList:
        return SessionList(VERSION, views.sessions(self._store, limit))

    def _now(self) -> Instant:
        return Instant(self._clock.boot_id(), self._clock.boot_ns(), self._clock.wall_ms())

    def _recovered(self) -> None:
        self.degraded.pop("store", None)

    def _append(self, *records: Record) -> list[Record]:
        """Records of their own transaction; [] when the store can't, which ``status`` then says."""
        with self._degrading(), self._store.database.transaction():
            return [self._store.append_record(record) for record in records]
        return []

    @contextlib.contextmanager
    def _degrading(self) -> Generator[None]:
        try:
            yield
        except StoreError as error:
            self.counters["store_errors"] += 1
            self.degraded["store"] = f"a record could not be written: {error}"


def _reply(rendered: Rendered) -> HookReply:
    return HookReply(VERSION, rendered.exit_code, rendered.stdout, rendered.stderr)
