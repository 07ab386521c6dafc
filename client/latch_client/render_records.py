"""One record as one line for a person: time, what kind, about what, and why.

`12:30:01 ✗ deny   Bash  rm -rf ~  [fs.delete-outside] in …`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Final, assert_never, get_args

from latch_client.paint import Paint, Style, printable
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

KINDS: Final[tuple[str, ...]] = tuple(str(kind.__struct_config__.tag) for kind in get_args(Record))

MARKS: Final[Mapping[Action, tuple[str, Style]]] = {
    Action.ALLOW: ("✓", Style.GOOD),
    Action.ASK: ("?", Style.WARN),
    Action.DENY: ("✗", Style.BAD),
}
_QUIET: Final = ("·", Style.DIM)
_LOUD: Final = ("!", Style.WARN)
_ALARM: Final = ("!", Style.BAD)


def when(at_ms: int, zone: tzinfo | None = None, *, dated: bool = False) -> str:
    """Wall time of the reader's zone (None) or the one given; dashes for a time that can't be one."""
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return "----------  --:--:--" if dated else "--:--:--"
    return moment.strftime("%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S")


def line(record: Record, *, colour: bool = False, zone: tzinfo | None = None, dated: bool = False) -> str:
    """The whole line, safe for a terminal. ``zone`` None is the reader's own."""
    paint = Paint(coloured=colour)
    (mark, style), label, text = _parts(record, paint)
    time = paint(when(record.at_ms, zone, dated=dated), Style.DIM)
    return f"{time} {paint(f'{mark} {label:<7}', style)} {text}".rstrip()


def why(rule: str, reason: str) -> str:
    """Rule and reason; a reason of the guard's own begins with its rule, which is then said once."""
    if reason.startswith(f"[{rule}]"):
        return printable(reason)
    return printable(f"{rule} — {reason}" if reason else rule)


def _parts(record: Record, paint: Paint) -> tuple[tuple[str, Style], str, str]:
    """The mark with its colour, the word for the kind, and the rest of the line."""
    match record:
        case VerdictRecord():
            return MARKS[record.action], record.action.value, "  ".join(_verdict(record, paint))
        case DenialRecord():
            text = f"{_called(record.call)} refused by {record.participant}: {record.rule}"
            return _QUIET, "denial", printable(text)
        case AllowanceRecord():
            return _LOUD, "allowed", "  ".join(_allowance(record, paint))
        case OutcomeRecord():
            return (_ALARM if record.alarm else _QUIET), "result", printable("".join(_outcome(record)))
        case NoticeRecord():
            return (_LOUD if record.findings else _QUIET), "notice", printable("".join(_notice(record)))
        case BoundaryRecord():
            text = (
                f"{record.scope}: {_count(record.pending_cut, 'pending call')} cut, "
                f"{_count(record.steps_closed, 'step')} closed"
            )
            return _QUIET, "end", printable(text)
        case ExpiryRecord():
            return _QUIET, "expiry", f"{_count(record.expired, 'pending call')} expired"
        case LifecycleRecord():
            return _QUIET, "event", printable(_join(record.event, record.note))
        case ConfigRecord():
            text = f"{'refused' if record.refused else 'changed'} {_join(record.source, record.path)}"
            return (_LOUD if record.refused else _QUIET), "config", printable(_join(text.strip(), record.why))
        case GapRecord():
            return _LOUD, "gap", printable(_gap(record))
        case FaultRecord():
            return _LOUD, "fault", printable(_join(record.code, record.detail))
        case HealthRecord():
            mark = _QUIET if record.health == "ok" else _LOUD
            return mark, "health", printable(_join(record.health, record.note))
        case _:
            assert_never(record)


def _verdict(record: VerdictRecord, paint: Paint) -> Iterator[str]:
    yield printable(record.tool or record.event or "?")
    if record.head:
        yield paint(printable(record.head), Style.STRONG)
    if record.rule:
        yield why(record.rule, record.reason)
    elif record.findings:
        rules = dict.fromkeys(finding.rule for finding in record.findings)
        yield printable(f"noticed {', '.join(rules)}")
    way_out = f"`latchctl allow {record.code}` lets it pass once" if record.code else ""
    for remark in ("probe" if record.probe else "", record.note, way_out):
        if remark:
            yield paint(f"({printable(remark)})", Style.DIM)


def _allowance(record: AllowanceRecord, paint: Paint) -> Iterator[str]:
    yield printable(record.tool or record.event or "a call")
    if record.head:
        yield paint(printable(record.head), Style.STRONG)
    yield printable(f"once, {record.rule} refused it (record {record.refused})")


def _outcome(record: OutcomeRecord) -> Iterator[str]:
    yield " ".join(word for word in (record.tool, _called(record.call)) if word)
    yield f" {record.outcome.value}"
    if record.after is not None:
        before = "no row" if record.before is None else record.before.value
        yield f", {before} → {record.after.value}"
    if record.step is not None:
        yield f", step {record.step}"
    if record.alarm:
        yield f", ALARM {record.alarm}"
    if record.why:
        yield f" — {record.why}"


def _notice(record: NoticeRecord) -> Iterator[str]:
    yield record.tool or record.event or "?"
    for number, finding in enumerate(record.findings):
        where = f"{finding.surface} {finding.start}–{finding.end}"
        yield f"{'; ' if number else '  '}{finding.rule} in {where}"
    if record.unexamined:
        yield f" ({record.unexamined} bytes were not examined)"


def _gap(record: GapRecord) -> str:
    text = record.what
    if record.count:
        text += f": {record.count} missing"
    if record.to_seq:
        text += f" ({record.from_seq} to {record.to_seq})"
    return f"{text} — {record.detail}" if record.detail else text


def _called(call: str) -> str:
    return call or "a call without id"


def _join(first: str, second: str) -> str:
    return f"{first}: {second}" if first and second else first or second


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
