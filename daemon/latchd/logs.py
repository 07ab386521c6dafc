"""The log on stderr: one line per record, JSON for machines or short lines for a person.

A record is value-free or masked before it comes here, and nothing else is logged of a call. Lines
are written in a thread: a journal or a pipe that nobody empties must not stop a decision.
"""

from __future__ import annotations

import enum
import logging
import time
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, assert_never

import msgspec
import structlog
import trio
from structlog.typing import FilteringBoundLogger

from latch_contracts.records import (
    BoundaryRecord,
    ConfigRecord,
    DenialRecord,
    ExpiryRecord,
    FaultRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    OutcomeRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action
from latchd.bell import Bell
from latchd.hub import Filter, Hub

_BATCH: Final = 128  # lines per visit to the thread, which costs about 0.1 ms whatever it does


class Level(enum.StrEnum):
    """What is shown, most first."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Format(enum.StrEnum):
    JSON = "json"
    HUMAN = "human"


_NUMBERS: Final[Mapping[Level, int]] = {
    Level.DEBUG: logging.DEBUG,
    Level.INFO: logging.INFO,
    Level.WARNING: logging.WARNING,
    Level.ERROR: logging.ERROR,
}
_VERDICTS: Final[Mapping[Action, Level]] = {
    Action.ALLOW: Level.DEBUG,
    Action.ASK: Level.INFO,
    Action.DENY: Level.WARNING,
}


def level_of(record: Record) -> Level:
    """How loud a record is: what stopped an agent or what is missing is a warning."""
    match record:
        case VerdictRecord():
            return _VERDICTS[record.action]
        case GapRecord() | FaultRecord():
            return Level.WARNING
        case HealthRecord():
            return Level.INFO if record.health == "ok" else Level.WARNING
        case OutcomeRecord():
            return Level.WARNING if record.alarm else Level.DEBUG
        case ConfigRecord():
            return Level.WARNING if record.refused else Level.INFO
        case DenialRecord() | BoundaryRecord() | ExpiryRecord() | LifecycleRecord():
            return Level.DEBUG
        case _:
            assert_never(record)


class Log:
    """Lines of at least ``level`` to ``out``. Safe to call from a thread."""

    def __init__(self, out: BinaryIO, form: Format, level: Level) -> None:
        self._form = form
        render = structlog.processors.JSONRenderer(serializer=_json) if form is Format.JSON else _text
        self._logger: FilteringBoundLogger = structlog.wrap_logger(
            structlog.BytesLogger(out),
            processors=[structlog.processors.add_log_level, render],
            wrapper_class=structlog.make_filtering_bound_logger(_NUMBERS[level]),
        )

    def record(self, record: Record) -> None:
        kind, members = _members(record)
        line = human(record) if self._form is Format.HUMAN else kind
        self._logger.log(_NUMBERS[level_of(record)], line, **members)

    def records(self, records: list[Record]) -> None:
        for record in records:
            self.record(record)

    def failure(self, error: BaseException) -> None:
        """A fault of our own: where it happened, never the text, which may quote a payload."""
        where = "".join(traceback.format_tb(error.__traceback__))
        name = type(error).__name__
        line = f"internal error: {name}\n{where}" if self._form is Format.HUMAN else "internal-error"
        self._logger.error(line, error=name, where=where)


async def follow(
    hub: Hub, log: Log, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Log every record that is published, until cancelled; then the ones that are left, if it goes fast."""
    bell = Bell()
    subscription = hub.subscribe(Filter(), bell.ring)
    task_status.started()
    try:
        while True:
            await bell.wait()
            while batch := subscription.take(_BATCH):
                await _write(log, batch)
    finally:
        hub.unsubscribe(subscription)
        with trio.move_on_after(1, shield=True):
            while batch := subscription.take(_BATCH):
                await _write(log, batch)


async def _write(log: Log, batch: list[Record]) -> None:
    await trio.to_thread.run_sync(log.records, batch, abandon_on_cancel=True)


def human(record: Record) -> str:
    """One short line, without control characters."""
    at = time.strftime("%H:%M:%S", time.localtime(record.at_ms / 1000))
    return _printable(f"{at} " + "  ".join(part for part in _parts(record) if part))


def _parts(record: Record) -> tuple[str, ...]:
    match record:
        case VerdictRecord():
            rule = f"[{record.rule}]" if record.rule else ""
            return f"{record.action.value:<6}", record.tool, record.head, rule, record.reason, record.note
        case DenialRecord():
            return "denial", record.call, f"[{record.rule}]", f"by {record.participant}"
        case OutcomeRecord():
            alarm = f"alarm {record.alarm}" if record.alarm else ""
            return "result", record.tool, record.outcome.value, alarm, record.why
        case BoundaryRecord():
            return "end   ", record.scope, f"{record.pending_cut} cut, {record.steps_closed} steps closed"
        case ExpiryRecord():
            return "expiry", f"{record.expired} expired"
        case LifecycleRecord():
            return "event ", record.event, record.note
        case ConfigRecord():
            return (
                "config",
                "refused" if record.refused else "changed",
                record.source,
                record.path,
                record.why,
            )
        case GapRecord():
            return "gap   ", record.what, f"{record.count} missing", record.detail
        case FaultRecord():
            return "fault ", record.connector, record.code, record.detail
        case HealthRecord():
            return "health", record.health, record.note
        case _:
            assert_never(record)


def _members(record: Record) -> tuple[str, dict[str, Any]]:
    """The kind, and the other members by name; the agent's event name makes room for structlog's own."""
    members: dict[str, Any] = msgspec.to_builtins(record)
    kind = str(members.pop("type"))
    if "event" in members:
        members["hook_event"] = members.pop("event")
    return kind, members


def _json(members: Any, **_: Any) -> bytes:
    return msgspec.json.encode(members)


def _text(_logger: Any, _method: str, members: Any) -> bytes:
    return str(members["event"]).encode("utf-8", "replace")


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
