"""The log on stderr: one line per record, JSON for machines or short lines for a person.

A record is value-free or masked before it comes here, and nothing else is logged of a call. Lines
are written in a thread: a journal or a pipe that nobody empties must not stop a decision.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import time
import traceback
from collections import deque
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, assert_never

import msgspec
import structlog
import trio
from structlog.typing import FilteringBoundLogger

from latch_contracts.records import (
    AllowanceRecord,
    BoundaryRecord,
    ConfigRecord,
    DenialRecord,
    ExpiryRecord,
    FaultRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    NoticeRecord,
    OutcomeRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action
from latchd.bell import Bell
from latchd.hub import Hub, Subscription

_BATCH: Final = 128  # lines per visit to the thread, which costs about 0.1 ms whatever it does
_LAST_WORDS_SECONDS: Final = 1.0  # at the end, for a reader of the log that is slow or gone


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
        case AllowanceRecord():
            return Level.WARNING
        case HealthRecord():
            return Level.INFO if record.health == "ok" else Level.WARNING
        case OutcomeRecord():
            return Level.WARNING if record.alarm else Level.DEBUG
        case NoticeRecord():
            return Level.INFO if record.findings else Level.DEBUG
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
        self._threshold = _NUMBERS[level]
        render = structlog.processors.JSONRenderer(serializer=_json) if form is Format.JSON else _text
        self._logger: FilteringBoundLogger = structlog.wrap_logger(
            structlog.BytesLogger(out),
            processors=[structlog.processors.add_log_level, render],
            wrapper_class=structlog.make_filtering_bound_logger(self._threshold),
        )

    def record(self, record: Record) -> None:
        kind, members = _members(record)
        line = human(record) if self._form is Format.HUMAN else kind
        self._logger.log(_NUMBERS[level_of(record)], line, **members)

    def records(self, records: deque[Record]) -> None:
        """Each is taken out as it is written, so that what an abandoned thread left can be written later.

        A stderr that is gone stops nothing: the record itself is in the database.
        """
        while records:
            with contextlib.suppress(OSError, ValueError):
                self.record(records.popleft())

    def takes(self, record: Record) -> bool:
        """Whether it is loud enough to be shown."""
        if self._form is Format.HUMAN and isinstance(record, DenialRecord):
            return False  # the verdict's own line, just before, says it all
        return _NUMBERS[level_of(record)] >= self._threshold

    def failure(self, error: BaseException) -> None:
        """A fault of our own: where it happened, never the text, which may quote a payload."""
        where = "".join(traceback.format_tb(error.__traceback__))
        name = type(error).__name__
        line = f"internal error: {name}\n{where}" if self._form is Format.HUMAN else "internal-error"
        with contextlib.suppress(OSError, ValueError):
            self._logger.error(line, error=name, where=where)


async def follow(
    hub: Hub, log: Log, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Log what is loud enough of what is published, until cancelled; then what is left, if it goes fast."""
    bell = Bell()
    subscription = hub.subscribe(log, bell.ring)  # most records are not shown: nobody wakes for them
    batch: deque[Record] = deque()
    task_status.started()
    try:
        while True:
            await bell.wait()
            await _write_all(log, batch, subscription)
    finally:
        hub.unsubscribe(subscription)
        with trio.move_on_after(_LAST_WORDS_SECONDS, shield=True):
            await _write_all(log, batch, subscription)


async def _write_all(log: Log, batch: deque[Record], subscription: Subscription) -> None:
    """``batch`` first, then what is queued; when cancelled, what is not written is still in ``batch``."""
    while True:
        while not batch:
            if not (taken := subscription.take(_BATCH)):
                return
            batch.extend(taken)
        await trio.to_thread.run_sync(log.records, batch, abandon_on_cancel=True)


def human(record: Record) -> str:
    """One short line, without control characters."""
    at = time.strftime("%H:%M:%S", time.localtime(record.at_ms / 1000))
    return _printable(f"{at} " + "  ".join(part for part in _parts(record) if part))


def _parts(record: Record) -> tuple[str, ...]:
    match record:
        case VerdictRecord():
            # A reason begins with its rule; with redaction `none` there is a rule and no reason.
            rule = f"[{record.rule}]" if record.rule and record.rule not in record.reason else ""
            return f"{record.action.value:<6}", record.tool, record.head, rule, record.reason, record.note
        case DenialRecord():
            return "denial", record.call, f"[{record.rule}]", f"by {record.participant}"
        case AllowanceRecord():
            return "allowed once", record.tool, record.head, f"[{record.rule}]"
        case OutcomeRecord():
            alarm = f"alarm {record.alarm}" if record.alarm else ""
            return "result", record.tool, record.outcome.value, alarm, record.why
        case NoticeRecord():
            rules = ", ".join(dict.fromkeys(f"{one.rule} in {one.surface}" for one in record.findings))
            left = f"{record.unexamined} bytes not examined" if record.unexamined else ""
            return "notice", record.tool, rules, left
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
    first = {"level": members.pop("level"), "event": members.pop("event")}  # a person greps for these
    return msgspec.json.encode(first | members)


def _text(_logger: Any, _method: str, members: Any) -> bytes:
    return str(members["event"]).encode("utf-8", "replace")


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
