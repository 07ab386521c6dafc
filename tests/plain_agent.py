"""An agent of another shape, for tests: no subagents, no turn ids, no typed denial, no batches."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from latch_contracts.canonical import digest
from latch_contracts.connectors.connector import SILENCE, Connector, Rendered
from latch_contracts.contract import (
    Authority,
    Contract,
    Event,
    Kind,
    Level,
    Route,
    Surface,
    Tool,
    Versions,
)
from latch_contracts.errors import UnknownEvent
from latch_contracts.events import Call, HookEvent
from latch_contracts.outcome import Outcome
from latch_contracts.verdict import Action, Verdict

_EVENTS: Final = (
    Event("before", Route.ACTION, Kind.PROPOSAL, blockable=True),
    Event("after", Route.RESULT, Kind.RESULT),
    Event("idle", Route.AUDIT, Kind.TURN_END, cutoff="turn"),
    Event("gone", Route.AUDIT, Kind.SESSION_END, cutoff="session"),
)


def contract(level: Level) -> Contract:
    """Its contract; a level below paired outcomes is what a hold would leave of it."""
    return Contract(
        connector="plain",
        contract_id="plain-v1",
        revision=1,
        versions=Versions((1,)),
        level=level,
        authority=Authority.PAIRED_ID if level is Level.PAIRED else Authority.NONE,
        outcome_authority=True,
        events=_EVENTS,
        tools=(Tool("run", Surface.SHELL, command="line"),),
        session_field="thread",
        call_id_field="number",
    )


def connector(level: Level = Level.PAIRED) -> Connector:
    rules = contract(level)
    return Connector(
        contract=rules,
        read=lambda payload, hint: _read(rules, payload, hint),
        guess_event=lambda _, hint: rules.event(hint),
        render=_render,
        silence=lambda: SILENCE,
    )


def _read(rules: Contract, payload: bytes, hint: str) -> HookEvent:
    members: dict[str, Any] = json.loads(payload)
    event = rules.event(hint)
    if event is None:
        raise UnknownEvent(hint)
    call = outcome = None
    if event.kind in (Kind.PROPOSAL, Kind.RESULT):
        line = str(members["line"])
        call = Call(
            id=str(members.get("number", "")),
            tool="run",
            surface=Surface.SHELL,
            arguments={"line": line},
            input_digest=digest(["run", line]),
            command=line,
        )
    if event.kind is Kind.RESULT:
        outcome = Outcome.SUCCEEDED if members.get("exit") == 0 else Outcome.FAILED
    return HookEvent(
        connector=rules.connector,
        event=event,
        session=str(members["thread"]),
        agent="",
        turn="",
        cwd="/home/dev/project",
        fingerprint=digest([hint, members]),
        call=call,
        outcome=outcome,
    )


def _render(_: Event | None, verdict: Verdict, __: str) -> Rendered:
    if verdict.action is Action.ALLOW:
        return SILENCE
    return Rendered(0, msgspec.json.encode({"stop": verdict.reason}), b"")
