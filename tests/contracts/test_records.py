"""Records come back equal from both encodings they are kept in, and say only what is not a default."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest

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
from latch_contracts.verdict import PASS, Action, Finding, Severity, Verdict

FINDING: Final = Finding("fs.x", "destroy", Severity.CRITICAL, "it deletes `/`", command_id=1, target="/")
NOTICED: Final = Finding(
    "text.x", "text-secret", Severity.HIGH, "a token", surface="result.stdout", start=3, end=43
)

RECORDS: Final[list[Record]] = [
    VerdictRecord(
        seq=1,
        at_ms=5,
        connector="claudecode",
        event="PreToolUse",
        session="s",
        agent="a",
        call="c",
        session_key="0" * 16,
        call_key="1" * 16,
        action=Action.DENY,
        rule="fs.x",
        findings=(FINDING,),
        state=State.DENIED,
    ),
    DenialRecord(rule="fs.x", participant="guard"),
    AllowanceRecord(rule="fs.x", refused=3, until_ms=5, tool="Bash", head="rm -rf x"),
    OutcomeRecord(outcome=Outcome.SUCCEEDED, before=State.PENDING, after=State.SUCCEEDED, step=3),
    NoticeRecord(tool="Bash", findings=(NOTICED,), examined=50),
    BoundaryRecord(scope="turn", pending_cut=2),
    ExpiryRecord(expired=1),
    LifecycleRecord(note="source startup"),
    ConfigRecord(source="user_settings", path="/s.json", refused=True, why="no handler"),
    GapRecord(what="subscriber", from_seq=1, to_seq=9, count=9),
    FaultRecord(code="bad-payload"),
    HealthRecord(health="ok"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_equal_from_both_encodings(record: Record) -> None:
    assert msgspec.json.decode(msgspec.json.encode(record), type=Record) == record
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=Record) == record


def test_every_kind_of_record_is_among_these_and_has_its_own_tag() -> None:
    tags = {msgspec.json.decode(msgspec.json.encode(record))["type"] for record in RECORDS}

    assert tags == {
        "verdict",
        "denial",
        "allowance",
        "outcome",
        "notice",
        "boundary",
        "expiry",
        "lifecycle",
        "config",
        "gap",
        "fault",
        "health",
    }


def test_defaults_are_not_written() -> None:
    assert msgspec.json.encode(ExpiryRecord(seq=4, expired=2)) == b'{"type":"expiry","seq":4,"expired":2}'


def test_a_record_of_a_younger_daemon_with_one_field_more_is_still_read() -> None:
    assert msgspec.json.decode(b'{"type":"expiry","expired":2,"later":[1]}', type=Record) == ExpiryRecord(
        expired=2
    )


def test_a_pass_names_no_rule_and_is_written_as_its_action_alone() -> None:
    assert Verdict(action=Action.ALLOW, rule=None, reason="", participant=None, findings=()) == PASS
    assert msgspec.json.encode(PASS) == b'{"action":"allow"}'


def test_records_can_not_be_changed_after_the_fact() -> None:
    for record in RECORDS:
        with pytest.raises(AttributeError):
            setattr(record, "seq", 2)  # noqa: B010
