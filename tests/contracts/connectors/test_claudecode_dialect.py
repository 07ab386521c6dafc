"""The exact bytes that Claude Code is answered with."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.connectors.claudecode import CONTRACT, render, silence
from latch_contracts.connectors.connector import Rendered
from latch_contracts.contract import Event, Kind
from latch_contracts.verdict import PASS, Action, Verdict

DENY: Final = Verdict(action=Action.DENY, rule="fs.delete-outside", reason="`rm` would delete `/`")
ASK: Final = Verdict(action=Action.ASK, rule="network.upload", reason="may it send `a`?")
NOTHING: Final = Rendered(0, b"", b"")


def _event(name: str) -> Event:
    event = CONTRACT.event(name)
    assert event is not None
    return event


def _said(event: Event | None, verdict: Verdict, version: str = "") -> dict[str, Any]:
    said: dict[str, Any] = json.loads(render(event, verdict, version).stdout)["hookSpecificOutput"]
    return said


GOLDENS: Final = [
    ("PreToolUse", PASS, "", NOTHING),
    (
        "PreToolUse",
        DENY,
        "2.1.332 (Claude Code)",
        Rendered(
            2,
            b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
            b'"permissionDecisionReason":"`rm` would delete `/`"}}',
            b"`rm` would delete `/`\n",
        ),
    ),
    (
        "PreToolUse",
        ASK,
        "2.1.332 (Claude Code)",
        Rendered(
            0,
            b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask",'
            b'"permissionDecisionReason":"may it send `a`?"}}',
            b"",
        ),
    ),
    (
        "PreToolUse",
        DENY,
        "2.1.213",
        Rendered(
            0,
            b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
            b'"permissionDecisionReason":"`rm` would delete `/`"}}',
            b"",
        ),
    ),
    ("PreSkillShellCommand", PASS, "", NOTHING),
    (
        "PreSkillShellCommand",
        DENY,
        "",
        Rendered(
            2,
            b'{"hookSpecificOutput":{"hookEventName":"PreSkillShellCommand","permissionDecision":"deny",'
            b'"permissionDecisionReason":"`rm` would delete `/`"}}',
            b"`rm` would delete `/`\n",
        ),
    ),
    (
        "PreSkillShellCommand",
        ASK,
        "",
        Rendered(
            0,
            b'{"hookSpecificOutput":{"hookEventName":"PreSkillShellCommand","permissionDecision":"ask",'
            b'"permissionDecisionReason":"may it send `a`?"}}',
            b"",
        ),
    ),
    ("PermissionRequest", PASS, "", NOTHING),
    ("PermissionRequest", ASK, "", NOTHING),
    (
        "PermissionRequest",
        DENY,
        "",
        Rendered(
            0,
            b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest",'
            b'"decision":{"behavior":"deny","message":"`rm` would delete `/`"}}}',
            b"",
        ),
    ),
    ("ConfigChange", PASS, "", NOTHING),
    ("ConfigChange", DENY, "", Rendered(2, b"", b"`rm` would delete `/`\n")),
]


@pytest.mark.parametrize(("name", "verdict", "version", "rendered"), GOLDENS)
def test_an_answer_is_these_bytes_and_no_others(
    name: str, verdict: Verdict, version: str, rendered: Rendered
) -> None:
    assert render(_event(name), verdict, version) == rendered


CODED: Final = msgspec.structs.replace(DENY, code="K7QM-2XRD")
ASIDE: Final = "latchd: `latchctl allow K7QM-2XRD` in your own terminal lets this call pass once."


@pytest.mark.parametrize("version", ["2.1.332", "2.1.213"])
def test_the_code_stands_beside_the_refusal_and_nowhere_in_it(version: str) -> None:
    plain, coded = (render(_event("PreToolUse"), verdict, version) for verdict in (DENY, CODED))

    assert json.loads(coded.stdout) == json.loads(plain.stdout) | {"systemMessage": ASIDE}
    assert (coded.exit_code, coded.stderr) == (plain.exit_code, plain.stderr)


@pytest.mark.parametrize("name", [event.name for event in CONTRACT.events if event.name != "PreToolUse"])
def test_where_it_is_not_known_who_reads_it_no_code_is_told(name: str) -> None:
    assert render(_event(name), CODED, "") == render(_event(name), DENY, "")


@pytest.mark.parametrize("verdict", [DENY, ASK], ids=["deny", "ask"])
def test_a_proposal_of_unknown_name_is_refused_whether_denied_or_asked(verdict: Verdict) -> None:
    rendered = render(None, verdict, "")

    assert (rendered.exit_code, _said(None, verdict)["permissionDecision"]) == (2, "deny")


@pytest.mark.parametrize("event", [event for event in CONTRACT.events if not event.blockable], ids=str)
def test_what_can_not_be_refused_is_answered_with_silence(event: Event) -> None:
    assert [render(event, verdict, "") for verdict in (PASS, ASK, DENY)] == [NOTHING, NOTHING, NOTHING]


def test_silence_is_exit_0_and_nothing_said() -> None:
    assert silence() == NOTHING


@pytest.mark.parametrize(
    ("version", "exit_code"),
    [("", 2), ("unreadable", 2), ("2.1.214", 2), ("2.1.332", 2), ("3.0.0", 2), ("2.1.213", 0), ("2.0.9", 0)],
)
def test_exit_2_goes_with_json_only_where_the_version_takes_both(version: str, exit_code: int) -> None:
    rendered = render(_event("PreToolUse"), DENY, version)

    assert (rendered.exit_code, rendered.stderr != b"") == (exit_code, exit_code == 2)
    assert _said(_event("PreToolUse"), DENY, version)["permissionDecision"] == "deny"


@pytest.mark.parametrize("reason", ["", " ", "\n\t", "\u3000"])
def test_a_refusal_without_a_reason_still_says_one(reason: str) -> None:
    bare = Verdict(action=Action.DENY, reason=reason)
    ruled = Verdict(action=Action.DENY, rule="floor.x", reason=reason)

    assert _said(_event("PreToolUse"), bare)["permissionDecisionReason"] == "refused by latchd"
    assert (
        _said(_event("PreToolUse"), ruled)["permissionDecisionReason"] == "refused by latchd (rule floor.x)"
    )


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ('say "no"\nand \\ 💥 é \u2028', 'say "no"\nand \\ 💥 é'),
        ("a\ud800b", "a\ufffdb"),
        ("a\x1b[2Jb\x00\x9bc", "a\ufffd[2Jb\ufffd\ufffdc"),
        ("x" * 5000, "x" * 4000 + " …"),
    ],
)
def test_a_reason_is_shown_safely_and_the_same_on_both_channels(reason: str, shown: str) -> None:
    verdict = Verdict(action=Action.DENY, rule="r", reason=reason)

    assert _said(_event("PreToolUse"), verdict)["permissionDecisionReason"] == shown
    assert render(_event("PreToolUse"), verdict, "").stderr == f"{shown}\n".encode()


@given(reason=st.text(st.characters(), max_size=60), action=st.sampled_from([Action.DENY, Action.ASK]))
def test_whatever_a_reason_holds_the_answer_is_one_json_object(reason: str, action: Action) -> None:
    verdict = Verdict(action=action, rule="r", reason=reason)
    for event in CONTRACT.events:
        rendered = render(event, verdict, "")
        if event.kind is Kind.PROPOSAL:
            said = json.loads(rendered.stdout.decode("utf-8"))
            assert list(said) == ["hookSpecificOutput"]
            assert said["hookSpecificOutput"]["hookEventName"] == event.name
            assert said["hookSpecificOutput"]["permissionDecisionReason"].strip()
        rendered.stderr.decode("utf-8")
