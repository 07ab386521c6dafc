"""The log: which records are shown, as what, and that nobody waits for it."""

from __future__ import annotations

import io
import os
import threading
import time
from collections import deque
from typing import Any, get_args

import msgspec
import pytest
import trio

from latch_contracts.outcome import Outcome
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
from latchd.hub import Hub
from latchd.logs import Format, Level, Log, follow, human, level_of

AT = 1_700_000_000_000  # 22:13:20 UTC
DENY = VerdictRecord(
    seq=7,
    at_ms=AT,
    connector="claudecode",
    event="PreToolUse",
    action=Action.DENY,
    tool="Bash",
    head="rm -rf ~",
    rule="fs.delete-outside",
    reason="it removes the home directory",
)
NOTICED = Finding("text.x", "text-secret", Severity.HIGH, "a token", surface="result.stdout", start=3, end=43)
SAMPLES: list[tuple[Record, Level, str]] = [
    (DENY, Level.WARNING, "deny    Bash  rm -rf ~  [fs.delete-outside]  it removes the home directory"),
    (VerdictRecord(action=Action.ASK, tool="Bash", head="x", rule="r"), Level.INFO, "ask     Bash  x  [r]"),
    (VerdictRecord(action=Action.ALLOW, tool="Read", head="/a"), Level.DEBUG, "allow   Read  /a"),
    (DenialRecord(call="c1", rule="r", participant="guard"), Level.DEBUG, "denial  c1  [r]  by guard"),
    (
        AllowanceRecord(rule="r", refused=3, until_ms=AT, tool="Bash", head="x"),
        Level.WARNING,
        "allowed once  Bash  x  [r]",
    ),
    (OutcomeRecord(outcome=Outcome.SUCCEEDED, tool="Bash"), Level.DEBUG, "result  Bash  succeeded"),
    (
        OutcomeRecord(outcome=Outcome.SUCCEEDED, tool="Bash", alarm="denied-call-executed", why="w"),
        Level.WARNING,
        "result  Bash  succeeded  alarm denied-call-executed  w",
    ),
    (
        NoticeRecord(tool="Bash", findings=(NOTICED,), unexamined=9),
        Level.INFO,
        "notice  Bash  text.x in result.stdout  9 bytes not examined",
    ),
    (NoticeRecord(tool="Read", unexamined=9), Level.DEBUG, "notice  Read  9 bytes not examined"),
    (BoundaryRecord(scope="turn", pending_cut=2), Level.DEBUG, "end     turn  2 cut, 0 steps closed"),
    (ExpiryRecord(expired=3), Level.DEBUG, "expiry  3 expired"),
    (LifecycleRecord(event="SessionStart", note="n"), Level.DEBUG, "event   SessionStart  n"),
    (
        ConfigRecord(source="user", path="/s", refused=True, why="w"),
        Level.WARNING,
        "config  refused  user  /s  w",
    ),
    (ConfigRecord(source="user"), Level.INFO, "config  changed  user"),
    (GapRecord(what="unreachable", count=2, detail="d"), Level.WARNING, "gap     unreachable  2 missing  d"),
    (FaultRecord(code="bad-frame", detail="d"), Level.WARNING, "fault   bad-frame  d"),
    (HealthRecord(health="ok", note="started"), Level.INFO, "health  ok  started"),
    (HealthRecord(health="degraded"), Level.WARNING, "health  degraded"),
]


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.mark.parametrize(("record", "level", "text"), SAMPLES, ids=lambda value: type(value).__name__)
def test_every_kind_of_record_has_its_level_and_its_line(record: Record, level: Level, text: str) -> None:
    at = msgspec.structs.replace(record, at_ms=AT)

    assert (level_of(record), human(at)) == (level, f"22:13:20 {text}")


def test_no_kind_of_record_is_forgotten() -> None:
    assert {type(record) for record, _, _ in SAMPLES} == set(get_args(Record))


def written(form: Format, level: Level, *records: Record) -> list[str]:
    out = io.BytesIO()
    Log(out, form, level).records(deque(records))
    return out.getvalue().decode().splitlines()


def test_a_json_line_is_the_record_and_its_level() -> None:
    (line,) = written(Format.JSON, Level.INFO, DENY)
    members: dict[str, Any] = msgspec.json.decode(line)

    assert members == {
        "level": "warning",
        "event": "verdict",
        "hook_event": "PreToolUse",
        "seq": 7,
        "at_ms": AT,
        "connector": "claudecode",
        "action": "deny",
        "tool": "Bash",
        "head": "rm -rf ~",
        "rule": "fs.delete-outside",
        "reason": "it removes the home directory",
    }
    assert line.startswith('{"level":"warning","event":"verdict",')


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (Level.DEBUG, ["verdict", "verdict", "health", "fault"]),
        (Level.INFO, ["verdict", "health", "fault"]),
        (Level.WARNING, ["verdict", "fault"]),
        (Level.ERROR, []),
    ],
)
def test_a_level_hides_what_is_below_it(level: Level, shown: list[str]) -> None:
    records = (
        DENY,
        VerdictRecord(action=Action.ALLOW),
        HealthRecord(health="ok"),
        FaultRecord(code="x"),
    )

    assert [msgspec.json.decode(line)["event"] for line in written(Format.JSON, level, *records)] == shown


def test_a_line_for_a_person_holds_no_control_character() -> None:
    evil = msgspec.structs.replace(DENY, head="a\x1b[2J\nb\u202e", reason="")

    assert written(Format.HUMAN, Level.DEBUG, evil) == [
        "22:13:20 deny    Bash  a?[2J?b?  [fs.delete-outside]"
    ]


def test_a_person_reads_of_a_denial_once() -> None:
    denial = DenialRecord(call="c1", rule="r", participant="guard")

    assert [Log(io.BytesIO(), form, Level.DEBUG).takes(denial) for form in Format] == [True, False]


@pytest.mark.parametrize("form", list(Format))
def test_an_error_of_ours_tells_where_and_never_what(form: Format) -> None:
    out = io.BytesIO()
    try:
        int("the secret")
    except ValueError as error:
        Log(out, form, Level.INFO).failure(error)
    said = out.getvalue().decode()

    assert "ValueError" in said
    assert "test_logs.py" in said
    assert "invalid literal" not in said


@pytest.mark.trio
async def test_what_was_published_before_the_end_is_still_logged() -> None:
    hub, out = Hub(), io.BytesIO()
    async with trio.open_nursery() as nursery:
        await nursery.start(follow, hub, Log(out, Format.HUMAN, Level.DEBUG))
        hub.publish([HealthRecord(at_ms=AT, health="ok", note="stopped")])
        nursery.cancel_scope.cancel()

    assert (out.getvalue(), len(hub)) == (b"22:13:20 health  ok  stopped\n", 0)


def test_a_stderr_that_is_gone_stops_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as out:
        log = Log(out, Format.JSON, Level.DEBUG)
        log.records(deque([DENY, DENY]))
        log.failure(ValueError())


@pytest.mark.trio
async def test_a_pipe_that_nobody_empties_stops_nothing() -> None:
    reading, writing = os.pipe()
    full = threading.Event()
    hub = Hub(capacity=4)

    class Stuck(io.RawIOBase):
        def write(self, _: Any) -> int:
            full.set()
            os.read(reading, 1)  # until the test lets go
            return 0

    async with trio.open_nursery() as nursery:
        await nursery.start(follow, hub, Log(Stuck(), Format.HUMAN, Level.DEBUG))  # type: ignore[arg-type]
        hub.publish([HealthRecord(health="ok")])
        while not full.is_set():
            await trio.lowlevel.checkpoint()
        for _ in range(100):
            hub.publish([HealthRecord(health="ok")])
        os.close(writing)
        nursery.cancel_scope.cancel()
    os.close(reading)


def test_a_person_reads_the_rule_once() -> None:
    told = msgspec.structs.replace(DENY, reason="[fs.delete-outside] in `rm -rf ~`: it removes your home.")

    assert human(told).count("fs.delete-outside") == 1
