"""One record, one line."""

from __future__ import annotations

from datetime import UTC

import msgspec
import pytest

from latch_client.paint import printable
from latch_client.render_records import KINDS, line, when
from latch_contracts.outcome import Outcome, State
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
from latch_contracts.verdict import Action, Finding, Severity

NOON = 43_200_000
NOTICED = Finding("text.x", "text-secret", Severity.HIGH, "a token", surface="result.stdout", start=3, end=43)

LINES: list[tuple[Record, str]] = [
    (
        VerdictRecord(at_ms=NOON, action=Action.ALLOW, tool="Read", head="/src/a.py"),
        "12:00:00 ✓ allow   Read  /src/a.py",
    ),
    (
        VerdictRecord(
            at_ms=NOON,
            action=Action.DENY,
            tool="Bash",
            head="rm -rf ~",
            rule="fs.x",
            reason="removes the home",
        ),
        "12:00:00 ✗ deny    Bash  rm -rf ~  fs.x — removes the home",
    ),
    (
        VerdictRecord(at_ms=NOON, action=Action.DENY, tool="Bash", rule="fs.x", reason="[fs.x] in `rm`: no"),
        "12:00:00 ✗ deny    Bash  [fs.x] in `rm`: no",
    ),
    (
        VerdictRecord(at_ms=NOON, action=Action.ASK, tool="Bash", rule="net.x", probe=True, note="no id"),
        "12:00:00 ? ask     Bash  net.x  (probe)  (no id)",
    ),
    (
        VerdictRecord(
            at_ms=NOON,
            action=Action.ALLOW,
            event="PreToolUse",
            findings=(
                Finding("net.x", "network", Severity.LOW, "says"),
                Finding("net.x", "network", Severity.LOW, "so"),
            ),
        ),
        "12:00:00 ✓ allow   PreToolUse  noticed net.x",
    ),
    (
        DenialRecord(at_ms=NOON, call="call_1", rule="fs.x", participant="guard"),
        "12:00:00 · denial  call_1 refused by guard: fs.x",
    ),
    (
        VerdictRecord(at_ms=NOON, action=Action.DENY, tool="Bash", rule="fs.x", code="K7QM-2XRD"),
        "12:00:00 ✗ deny    Bash  fs.x  (`latchctl allow K7QM-2XRD` lets it pass once)",
    ),
    (
        AllowanceRecord(at_ms=NOON, rule="fs.x", refused=3, until_ms=NOON, tool="Bash", head="rm -rf x"),
        "12:00:00 ! allowed Bash  rm -rf x  once, fs.x refused it (record 3)",
    ),
    (
        OutcomeRecord(
            at_ms=NOON,
            call="call_1",
            tool="Bash",
            outcome=Outcome.SUCCEEDED,
            before=State.PENDING,
            after=State.SUCCEEDED,
            step=3,
        ),
        "12:00:00 · result  Bash call_1 succeeded, pending → succeeded, step 3",
    ),
    (
        OutcomeRecord(
            at_ms=NOON,
            outcome=Outcome.UNKNOWN,
            after=State.UNKNOWN,
            alarm="rewritten-input",
            why="it changed",
        ),
        "12:00:00 ! result  a call without id unknown, no row → unknown, ALARM rewritten-input — it changed",
    ),
    (
        NoticeRecord(at_ms=NOON, tool="Bash", findings=(NOTICED, NOTICED), unexamined=7),
        "12:00:00 ! notice  Bash  text.x in result.stdout 3–43; text.x in result.stdout 3–43 "
        "(7 bytes were not examined)",
    ),
    (
        NoticeRecord(at_ms=NOON, tool="Read", unexamined=7),
        "12:00:00 · notice  Read (7 bytes were not examined)",
    ),
    (
        BoundaryRecord(at_ms=NOON, scope="turn", pending_cut=1, steps_closed=2),
        "12:00:00 · end     turn: 1 pending call cut, 2 steps closed",
    ),
    (ExpiryRecord(at_ms=NOON, expired=2), "12:00:00 · expiry  2 pending calls expired"),
    (LifecycleRecord(at_ms=NOON, event="SessionStart"), "12:00:00 · event   SessionStart"),
    (
        ConfigRecord(at_ms=NOON, source="user_settings", path="/s.json", refused=True, why="hooks gone"),
        "12:00:00 ! config  refused user_settings: /s.json: hooks gone",
    ),
    (
        GapRecord(at_ms=NOON, what="subscriber", from_seq=5, to_seq=16, count=12, detail="too slow"),
        "12:00:00 ! gap     subscriber: 12 missing (5 to 16) — too slow",
    ),
    (FaultRecord(at_ms=NOON, code="bad-payload", detail="`x` is"), "12:00:00 ! fault   bad-payload: `x` is"),
    (HealthRecord(at_ms=NOON, health="ok", note="started"), "12:00:00 · health  ok: started"),
]


@pytest.mark.parametrize(("record", "expected"), LINES)
def test_a_record_is_one_line(record: Record, expected: str) -> None:
    assert line(record, zone=UTC) == expected


def test_every_kind_of_record_has_a_line() -> None:
    assert {str(record.__struct_config__.tag) for record, _ in LINES} == set(KINDS)


def test_a_dated_line_begins_with_the_day() -> None:
    assert line(ExpiryRecord(at_ms=NOON, expired=1), zone=UTC, dated=True) == (
        "1970-01-01 12:00:00 · expiry  1 pending call expired"
    )


def test_a_denial_is_red_and_its_command_strong() -> None:
    record = VerdictRecord(at_ms=NOON, action=Action.DENY, tool="Bash", head="rm", rule="fs.x")

    assert line(record, colour=True, zone=UTC) == (
        "\x1b[2m12:00:00\x1b[0m \x1b[1;31m✗ deny   \x1b[0m Bash  \x1b[1mrm\x1b[0m  fs.x"
    )


@pytest.mark.parametrize("record", [record for record, _ in LINES])
def test_nothing_in_a_record_can_steer_the_terminal(record: Record) -> None:
    evil = "\x1b]0;x\x07\x9b2J\u202e\n\r\x7f"
    texts = {
        name: evil
        for name, value in msgspec.structs.asdict(record).items()
        if isinstance(value, str) and type(value) is str and name != "health"
    }

    assert line(msgspec.structs.replace(record, **texts), zone=UTC).isprintable()


def test_escapes_can_be_read() -> None:
    assert printable("a\x1b[2J\n\u202e\x9b\ud800") == "a\\x1b[2J\\n\\u202e\\x9b\\ud800"


def test_a_time_that_is_none_is_dashes() -> None:
    assert (when(1 << 62, UTC), when(-(1 << 62), UTC, dated=True)) == ("--:--:--", "----------  --:--:--")
