"""Answers that no rule gives: to a payload that can't be read, and to a change of the agent's settings."""

from __future__ import annotations

from typing import Final

from latch_contracts.connectors.connector import Connector, Rendered
from latch_contracts.errors import UnknownEvent
from latch_contracts.events import HookEvent
from latch_contracts.records import ConfigRecord, DenialRecord, FaultRecord, Record, VerdictRecord
from latch_contracts.verdict import Action, Verdict
from latch_contracts.wire import HookRequest
from latchd.clock import Clock
from latchd.installs import Installs
from latchd.judging import floor_verdict
from latchd.logbook import Logbook
from latchd.policy import Policy
from latchd.recording import Identity, common, findings, reason
from latchd.redact import head

# The agent's own words for where settings live; with redaction `none` a record repeats no others.
_SETTINGS: Final = frozenset(
    {"user_settings", "project_settings", "local_settings", "policy_settings", "skills"}
)

Answer = tuple[Rendered, list[Record]]  # what the shim does, and what is durable already


class Unjudged:
    def __init__(self, log: Logbook, clock: Clock, installs: Installs, policy: Policy) -> None:
        self._log = log
        self._clock = clock
        self._installs = installs
        self._policy = policy

    def unreadable(
        self, connector: Connector, request: HookRequest, version: str, error: Exception, started: int
    ) -> Answer:
        """Refused where a refusal is obeyed, silence elsewhere. ``started`` in microseconds."""
        self._log.counters["bad_payloads"] += 1
        code = "unknown-event" if isinstance(error, UnknownEvent) else "bad-payload"
        name = connector.contract.connector
        at_ms = self._clock.wall_ms()
        event = connector.guess_event(request.payload, request.event)
        if event is not None and not event.blockable:
            detail = "" if self._policy.redaction == "none" else head(str(error))
            self._log.counters[f"fault_{code}"] += 1
            fault = FaultRecord(at_ms=at_ms, connector=name, code=code, detail=detail)
            return connector.silence(), self._log.append(fault)
        verdict = floor_verdict(code, f"the hook's payload can't be judged: {error}", self._policy)
        records: list[Record] = [
            VerdictRecord(
                at_ms=at_ms,
                connector=name,
                event="" if event is None else event.name,
                action=verdict.action,
                rule=verdict.rule,
                participant=verdict.participant,
                reason=reason(verdict, self._policy.redaction),
                findings=findings(verdict, self._policy.redaction),
                latency_us=self._clock.monotonic_us() - started,
                probe=request.probe,
            )
        ]
        if verdict.action is Action.DENY and not request.probe:  # a probe refuses no call
            records.append(
                DenialRecord(at_ms=at_ms, connector=name, rule=verdict.rule or "", participant="floor")
            )
        return connector.render(event, verdict, version), self._log.append(*records)

    def config_change(
        self, connector: Connector, event: HookEvent, identity: Identity, version: str
    ) -> Answer:
        """Refused when our hooks would go with it; a record in any case."""
        why = self._installs.change_refused(event.connector, event.config_source, event.config_path)
        clear = self._policy.redaction != "none"
        record = ConfigRecord(
            **common(event, identity, self._policy.redaction, self._clock.wall_ms()),
            source=head(event.config_source, 40) if clear or event.config_source in _SETTINGS else "",
            path=head(event.config_path) if clear else "",
            refused=bool(why),
            why=head(why, 300) if clear else "",
        )
        records = self._log.append(record)
        if not why:
            return connector.silence(), records
        self._log.counters["config_refused"] += 1
        verdict = Verdict(action=Action.DENY, rule="floor.hooks-removed", participant="floor", reason=why)
        return connector.render(event.event, verdict, version), records
