"""Codes, deeds and how long the person's leave is worth something."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.connectors import CONNECTORS
from latch_contracts.verdict import Action, Disposition, Finding, Severity, Verdict
from latchd.allowances import (
    GRANT_MS,
    REFUSAL_MS,
    WRONG_PER_MINUTE,
    Answer,
    Guesses,
    Refusal,
    answer,
    code_of,
    deed,
    found,
    holds,
    is_open,
    liftable,
    typed,
)
from latchd.guard.groups import Group
from latchd.windows import Instant

NOW = Instant(bytes(16), 10**15, 10**12)
POLICY = bytes(32)
REFUSAL = Refusal(7, b"s" * 32, b"d" * 32, "fs.x", POLICY, NOW)
GRANTED = msgspec.structs.replace(REFUSAL, granted=NOW, grant_seq=8)
CLAUDE = CONNECTORS["claudecode"]


def later(ms: int) -> Instant:
    return Instant(NOW.boot, NOW.boot_ns + ms * 1_000_000, NOW.wall_ms + ms)


def deed_of(tool: str = "Bash", cwd: str = "/p", call: str = "c1", **arguments: Any) -> bytes:
    payload = {
        "session_id": "s1",
        "cwd": cwd,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_use_id": call,
        "tool_input": arguments,
    }
    return deed(CLAUDE.read(json.dumps(payload).encode(), ""), CLAUDE.contract)


def denied(group: str, disposition: Disposition = Disposition.ENFORCEABLE, rule: str = "r") -> Verdict:
    finding = Finding(rule, group, Severity.HIGH, "says", disposition=disposition)
    return Verdict(action=Action.DENY, rule="r", participant="guard", findings=(finding,))


# codes


@given(mac=st.binary(min_size=32, max_size=32))
def test_a_code_is_read_back_as_it_was_shown_or_carelessly_typed(mac: bytes) -> None:
    code = code_of(mac)
    careless = code.lower().replace("0", "o").replace("1", "l").replace("-", " ")

    assert [typed(code), typed(careless), typed(code.replace("-", ""))] == [code] * 3


def test_a_code_has_no_letter_that_is_mistaken_for_another() -> None:
    shown = {letter for byte in range(256) for letter in code_of(bytes([byte]) * 32)}

    assert shown & set("ILOU") == set()


@pytest.mark.parametrize("text", ["", "K7QM", "K7QM-2XRDA", "K7QM-2XR!", "K7QM-2XRÜ", "U" * 8, "1" * 10**6])
def test_what_can_be_no_code_is_none(text: str) -> None:
    assert typed(text) is None


def test_the_newest_refusal_of_a_code_is_found() -> None:
    older = msgspec.structs.replace(REFUSAL, seq=3)

    assert found([REFUSAL, older], "A", lambda one: "A") == REFUSAL
    assert found([REFUSAL, older], "B", lambda one: "B" if one is older else "A") == older
    assert found([REFUSAL, older], "C", lambda _: "A") is None


# what may be lifted


@pytest.mark.parametrize(
    ("verdict", "may"),
    [
        (denied(Group.DESTROY), True),
        (denied("chain"), True),
        (denied(Group.FLOOR), False),
        (denied(Group.SELF_PROTECTION), False),
        (denied(Group.DESTROY, Disposition.DETECT), False),
        (denied(Group.DESTROY, rule="another"), False),
        (Verdict(action=Action.DENY, rule="floor.bad-payload", participant="floor"), False),
        (Verdict(action=Action.ASK, rule="r", findings=denied(Group.DESTROY).findings), False),
        (Verdict(action=Action.ALLOW), False),
    ],
)
def test_only_the_refusal_of_a_rule_that_does_not_guard_the_guard_may_be_lifted(
    verdict: Verdict, may: bool
) -> None:
    assert liftable(verdict) is may


# the deed


def test_another_wording_is_the_same_deed() -> None:
    first = deed_of(command="rm -rf /x", description="Remove x", timeout=5)
    again = deed_of(command="rm -rf /x", description="Try once more", call="c2")

    assert first == again


@pytest.mark.parametrize(
    "other",
    [
        {"command": "rm -rf /y"},
        {"command": "rm -rf /x "},
        {"command": "rm -rf /x", "cwd": "/q"},
        {"command": "rm -rf /x", "run_in_background": True},
        {"command": "rm -rf /x", "dangerouslyDisableSandbox": True},
        {"command": "rm -rf /x", "tool": "PowerShell"},
        {"command": "rm -rf /x", "tool": "mcp__a__b"},
    ],
)
def test_whatever_else_differs_is_another_deed(other: dict[str, Any]) -> None:
    assert deed_of(**other) != deed_of(command="rm -rf /x")


def test_what_a_write_writes_is_part_of_the_deed() -> None:
    first = deed_of("Write", file_path="/x", content="a")

    assert first != deed_of("Write", file_path="/x", content="b")


def test_a_tool_without_a_command_has_no_mere_wording() -> None:
    first = deed_of("TaskCreate", subject="x", description="a")

    assert first != deed_of("TaskCreate", subject="x", description="b")


# how long


@pytest.mark.parametrize(
    ("refusal", "policy", "age_ms", "told"),
    [
        (None, POLICY, 0, Answer.UNKNOWN),
        (REFUSAL, POLICY, 0, Answer.GRANTED),
        (REFUSAL, POLICY, REFUSAL_MS - 1, Answer.GRANTED),
        (REFUSAL, POLICY, REFUSAL_MS, Answer.OVER),
        (REFUSAL, POLICY, -1, Answer.OVER),
        (REFUSAL, b"p" * 32, 0, Answer.CHANGED),
        (GRANTED, POLICY, 0, Answer.USED),
    ],
)
def test_a_code_is_worth_something_once_for_a_while_under_one_policy(
    refusal: Refusal | None, policy: bytes, age_ms: int, told: Answer
) -> None:
    assert answer(refusal, policy, later(age_ms)) is told
    if refusal is not None and policy is POLICY:
        assert is_open(refusal, later(age_ms)) is (told is Answer.GRANTED)


USED = msgspec.structs.replace(GRANTED, used_seq=9)


@pytest.mark.parametrize(
    ("refusal", "policy", "age_ms", "asks", "it_holds"),
    [
        (REFUSAL, POLICY, 0, False, False),
        (GRANTED, POLICY, 0, False, True),
        (GRANTED, POLICY, GRANT_MS - 1, False, True),
        (GRANTED, POLICY, GRANT_MS, False, False),
        (GRANTED, POLICY, -1, False, False),
        (GRANTED, b"p" * 32, 0, False, False),
        (USED, POLICY, 0, False, False),
        (USED, POLICY, 0, True, True),
        (USED, POLICY, GRANT_MS, True, False),
        (REFUSAL, POLICY, 0, True, False),
    ],
)
def test_leave_holds_for_one_call_and_the_question_about_it(
    refusal: Refusal, policy: bytes, age_ms: int, asks: bool, it_holds: bool
) -> None:
    assert holds(refusal, policy, later(age_ms), asks=asks) is it_holds


def test_guesses_are_counted_by_the_minute() -> None:
    guesses = Guesses()
    for at in range(WRONG_PER_MINUTE):
        assert not guesses.is_over(at)
        guesses.wrong(at)

    assert guesses.is_over(59_999_999)
    assert not guesses.is_over(60_000_000)
