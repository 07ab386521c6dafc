"""`latchctl show`: one call joined."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from latch_client.cli import main
from latch_client.commands.show import lines
from latch_contracts.outcome import Outcome, State
from latch_contracts.places import Places
from latch_contracts.records import OutcomeRecord, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, CallView, Show
from wire_server import places_in, serving

ROW: dict[str, Any] = {
    "session_key": "00112233aabbccdd",
    "call_key": "ffee",
    "state": "succeeded",
    "action": "allow",
    "rule": "",
    "operations": ["list", "read"],
    "opened_seq": 3,
    "opened_ms": 43_200_000,
    "closed_seq": 4,
    "step": 4,
}
VERDICT = VerdictRecord(seq=3, at_ms=43_200_000, call="call_1", action=Action.ALLOW, tool="Bash", head="ls")
RESULT = OutcomeRecord(
    seq=4,
    at_ms=43_201_000,
    call="call_1",
    outcome=Outcome.SUCCEEDED,
    tool="Bash",
    before=State.PENDING,
    after=State.SUCCEEDED,
    step=4,
)
VIEW = CallView(VERSION, "call_1", [ROW], [VERDICT, RESULT])


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def test_proposal_verdict_result_and_state_are_one_view() -> None:
    assert list(lines(VIEW, zone=UTC)) == [
        "call call_1",
        "  session     00112233aabbccdd",
        "  state       succeeded, step 4",
        "  verdict     allow",
        "  opened      1970-01-01 12:00:00, record 3",
        "  closed      record 4",
        "  operations  list, read",
        "records",
        "  1970-01-01 12:00:00 ✓ allow   Bash  ls",
        "  1970-01-01 12:00:01 · result  Bash call_1 succeeded, pending → succeeded, step 4",
    ]


def test_a_call_without_a_row_says_so() -> None:
    assert list(lines(CallView(VERSION, "x\x1b", [], [VERDICT]), zone=UTC)) == [
        "call x\\x1b",
        "  no row: what was judged was not to be followed, or its row is pruned",
        "records",
        "  1970-01-01 12:00:00 ✓ allow   Bash  ls",
    ]


def test_the_view_as_json(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [VIEW]) as server:
        code = main(["show", "call_1", "--json"])

    assert server.requests == [Show(VERSION, "call_1")]
    assert (code, json.loads(capsys.readouterr().out)) == (
        0,
        {
            "call_id": "call_1",
            "states": [ROW],
            "records": [
                {
                    "type": "verdict",
                    "seq": 3,
                    "at_ms": 43_200_000,
                    "call": "call_1",
                    "action": "allow",
                    "tool": "Bash",
                    "head": "ls",
                },
                {
                    "type": "outcome",
                    "seq": 4,
                    "at_ms": 43_201_000,
                    "call": "call_1",
                    "outcome": "succeeded",
                    "tool": "Bash",
                    "before": "pending",
                    "after": "succeeded",
                    "step": 4,
                },
            ],
        },
    )


def test_an_unknown_call_fails_in_one_line(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [CallView(VERSION, "nope", [], [])]):
        code = main(["show", "nope"])

    assert (code, *capsys.readouterr()) == (1, "", "latchctl: nothing is known of call `nope`\n")
