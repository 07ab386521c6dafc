"""One hook call: read in its agent's dialect, judged, and settled in exactly one transaction.

INVARIANT (record before answer): the row and its record are committed before the reply exists, so a
crash between the two leaves a record without an answer, never an answer without a record.
"""

from __future__ import annotations

import hmac

import msgspec

from latch_contracts.connectors import CONNECTORS
from latch_contracts.connectors.connector import Connector, Rendered
from latch_contracts.contract import Kind, Route
from latch_contracts.errors import BadPayload, UnknownEvent
from latch_contracts.events import HookEvent
from latch_contracts.outcome import State
from latch_contracts.records import Record, VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latch_contracts.wire import VERSION, HookReply, HookRequest
from latchd.arrival import Arrival
from latchd.clock import Clock, now
from latchd.installs import Installs
from latchd.judging import Judge, Judged
from latchd.keys import Keys
from latchd.logbook import UNWRITABLE, Logbook
from latchd.policy import Policy
from latchd.proposal import Proposal
from latchd.proposing import Proposals
from latchd.recording import Identity, identify
from latchd.redact import head
from latchd.settling import Results
from latchd.store.errors import StoreError
from latchd.store.store import Store
from latchd.text.detection import NOTHING, Noticed, detect
from latchd.unjudged import Answer, Unjudged
from latchd.upkeep import Upkeep
from latchd.whereabouts import Whereabouts

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


class Ground(msgspec.Struct, frozen=True):
    """What outlasts a policy: where calls are kept and what is known of them."""

    store: Store
    keys: Keys
    clock: Clock
    installs: Installs
    log: Logbook
    upkeep: Upkeep
    whereabouts: Whereabouts


class HookCalls:
    """Answers under one policy. Not thread-safe: one caller at a time."""

    def __init__(
        self, ground: Ground, policy: Policy, judge: Judge, proposals: Proposals, results: Results
    ) -> None:
        self._store = ground.store
        self._keys = ground.keys
        self._clock = ground.clock
        self._installs = ground.installs
        self._log = ground.log
        self._upkeep = ground.upkeep
        self._whereabouts = ground.whereabouts
        self._counters = ground.log.counters
        self._policy = policy
        self._judge = judge
        self._proposals = proposals
        self._results = results
        self._unjudged = Unjudged(ground.log, ground.clock, ground.installs, policy)

    def handle(self, request: HookRequest, token: str | None) -> Handled:
        """Answer one hook call. Never raises for anything a peer or the store can do.

        ``token`` is what the request must carry, None when the user wants none.
        """
        started = self._clock.monotonic_us()
        self._counters["requests"] += 1
        connector = CONNECTORS.get(request.connector)
        if connector is None:
            why = f"no agent named `{head(request.connector, 40)}` is known; known: {', '.join(CONNECTORS)}"
            records = self._log.fault("unknown-connector", why)
            return Handled(_reply(Rendered(2, b"", f"latchd: {why}\n".encode())), records)
        if token is not None and not hmac.compare_digest(token.encode(), request.token.encode()):
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
            came = Arrival(connector.contract, event, identity, version, now(self._clock))
            latency_us = self._clock.monotonic_us() - started
            proposal = Proposal(came, judged, rejudge, request.probe, latency_us)
            verdict, records = self._proposals.propose(proposal)
        except StoreError as error:
            judged = judged or self._judge.judge(event, lambda _: None, connector.contract)
            verdict = self._unrecordable(connector, identity, judged.verdict, error, probe=request.probe)
            return Handled(_reply(connector.render(event.event, verdict, version)), told)
        if any(isinstance(record, VerdictRecord) and record.state is State.PENDING for record in records):
            self._upkeep.opened(now(self._clock))
            self._whereabouts.proposed(identity.session, identity.call, event.cwd)
        self._counters[f"verdict_{verdict.action.value}"] += 1
        return Handled(_reply(connector.render(event.event, verdict, version)), told + records)

    def _unrecordable(
        self, connector: Connector, identity: Identity, verdict: Verdict, error: StoreError, *, probe: bool
    ) -> Verdict:
        """No record, no pass: the floor denies. Who chose to fail open gets the guard's own verdict."""
        fails_open = self._policy.fails_open(connector.contract.connector)
        if probe:
            self._log.failed("recording a probe", error)
        else:
            let_through = fails_open and verdict.action is not Action.DENY
            self._log.refused(identity, error, let_through=let_through)
            self._counters["failed_open"] += let_through
        return verdict if fails_open else _UNRECORDABLE

    def _settle(self, connector: Connector, event: HookEvent, version: str) -> list[Record]:
        identity = identify(self._keys, event)
        told: list[Record] = []
        try:
            told = self._log.catch_up()
            noticed = self._noticed(event)
            own = self._own_of(event, identity)
            came = Arrival(connector.contract, event, identity, version, now(self._clock), own)
            return told + self._results.settle(came, noticed)
        except StoreError as error:
            self._log.dropped(event, identity, error)
            return told

    def _own_of(self, event: HookEvent, identity: Identity) -> bytes:
        """What the project of a result's call adds to policy and rules now."""
        if event.event.kind not in (Kind.RESULT, Kind.DENIAL):
            return b""
        return self._judge.own_at(self._whereabouts.take(identity.session, identity.call, event.cwd))

    def _noticed(self, event: HookEvent) -> Noticed:
        """What the event's texts hold. It is only told, so a fault there must not cost an outcome."""
        if not self._policy.text.detect:
            return NOTHING
        try:
            return detect(event.texts, frozenset(self._policy.text.disable))
        except Exception:
            self._counters["text_failures"] += 1
            return NOTHING


def _handled(answer: Answer) -> Handled:
    rendered, records = answer
    return Handled(_reply(rendered), records)


def _reply(rendered: Rendered) -> HookReply:
    return HookReply(VERSION, rendered.exit_code, rendered.stdout, rendered.stderr)
