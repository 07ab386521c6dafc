"""`latchctl history` and `latchctl sessions` against a socket."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path

import pytest

from latch_client.cli import main
from latch_client.commands.sessions import lines
from latch_client.render_records import line
from latch_contracts.places import Places
from latch_contracts.records import ExpiryRecord, HealthRecord
from latch_contracts.wire import VERSION, Answer, End, SessionList, Sessions, Streamed, Watch
from wire_server import places_in, serving

FIRST = HealthRecord(seq=1, at_ms=1000, health="ok", note="started")
SECOND = ExpiryRecord(seq=2, at_ms=2000, expired=1)
SESSION = {
    "session_key": "00112233aabbccdd",
    "connector": "claudecode",
    "first_ms": 0,
    "last_ms": 43_200_000,
    "last_seq": 9,
    "closed_seq": 0,
    "counts": {"pending": 1, "succeeded": 4, "denied": 0, "steps": 4},
    "chains": ["chain.secret-read-then-egress"],
}


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def test_the_newest_records_are_shown_in_order_with_their_day(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: list[Answer | bytes] = [Streamed(VERSION, FIRST), Streamed(VERSION, SECOND), End(VERSION, 2)]
    with serving(places, lambda _: answers) as server:
        code = main(["history", "-n", "2"])

    assert server.requests == [Watch(VERSION, cursor=0, follow=False, limit=2)]
    assert (code, capsys.readouterr().out) == (0, f"{line(FIRST, dated=True)}\n{line(SECOND, dated=True)}\n")


def test_a_history_that_breaks_off_fails(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [Streamed(VERSION, FIRST)]):
        code = main(["history"])

    assert (code, *capsys.readouterr()) == (1, "", "latchctl: the daemon closed the connection\n")


def test_records_as_json(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [Streamed(VERSION, SECOND), End(VERSION, 2)]) as server:
        code = main(["history", "--json", "--since", "1", "-n", "0", "--kind", "expiry"])

    assert server.requests == [Watch(VERSION, cursor=1, follow=False, kinds=["expiry"])]
    assert (code, json.loads(capsys.readouterr().out)) == (
        0,
        {"type": "expiry", "seq": 2, "at_ms": 2000, "expired": 1},
    )


def test_sessions_are_a_table() -> None:
    assert lines([SESSION, {"session_key": "ff", "connector": "codex", "last_ms": 0}], UTC) == [
        "SESSION           AGENT       LAST SEEN            CALLS                            CHAINS BEGUN",
        "00112233aabbccdd  claudecode  1970-01-01 12:00:00  1 pending, 4 succeeded, 4 steps  "
        "secret-read-then-egress",
        "ff                codex       1970-01-01 00:00:00  none                             none",
    ]


def test_no_session_is_said(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [SessionList(VERSION, [])]) as server:
        code = main(["sessions", "-n", "3"])

    assert (code, capsys.readouterr().out, server.requests) == (0, "no session yet\n", [Sessions(VERSION, 3)])


def test_sessions_as_json_are_one_a_line(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [SessionList(VERSION, [SESSION, SESSION])]):
        code = main(["sessions", "--json"])

    assert (code, [json.loads(text) for text in capsys.readouterr().out.splitlines()]) == (
        0,
        [SESSION, SESSION],
    )
