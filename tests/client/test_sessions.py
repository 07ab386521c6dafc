"""`latchctl sessions show` against a socket."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path

import pytest

from latch_client.cli import main
from latch_client.commands.sessions import session_lines
from latch_contracts.places import Places
from latch_contracts.wire import VERSION, SessionView, ShowSession
from wire_server import places_in, serving

VIEW = SessionView(
    VERSION,
    1,
    {
        "session_key": "00112233aabbccdd",
        "connector": "claudecode",
        "first_ms": 43_200_000,
        "last_ms": 43_261_000,
        "counts": {"pending": 1, "succeeded": 2, "steps": 2},
    },
    [
        {
            "opened_seq": 3,
            "state": "succeeded",
            "step": 4,
            "action": "allow",
            "operations": ["read"],
            "age_ms": 61_000,
        },
        {"opened_seq": 5, "state": "pending", "step": None, "action": "ask", "rule": "x.y", "age_ms": None},
    ],
    [
        {
            "chain": "chain.a-then-b",
            "step": 4,
            "exact": True,
            "age_ms": 7_200_000,
            "window_ms": 900_000,
            "events_left": 30,
        }
    ],
    2,
)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def test_one_session_is_told_with_ages() -> None:
    assert list(session_lines(VIEW, zone=UTC)) == [
        "session       00112233aabbccdd",
        "agent         claudecode",
        "first seen    1970-01-01 12:00:00",
        "last seen     1970-01-01 12:01:01",
        "calls         1 pending, 2 succeeded, 2 steps",
        "secret files  2",
        "chains",
        "  chain.a-then-b  step 4  2h ago  of 15m  exact  30 events left",
        "calls",
        "  record 3  1m ago       succeeded, step 4  allow    read",
        "  record 5  age unknown  pending            ask x.y",
    ]


def test_a_session_of_which_nothing_is_left_says_so() -> None:
    assert list(session_lines(SessionView(VERSION, 1, {"session_key": "a\x1b"}), zone=UTC))[-2:] == [
        "no chain begun",
        "no calls: they are pruned, or none was to be followed",
    ]


def test_the_view_as_json(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [VIEW]) as server:
        code = main(["sessions", "show", "0011", "-n", "7", "--json"])

    assert server.requests == [ShowSession(VERSION, "0011", 7)]
    assert code == 0
    assert json.loads(capsys.readouterr().out) == {
        "session": VIEW.session,
        "calls": VIEW.calls,
        "chains": VIEW.chains,
        "secret_files": 2,
    }


@pytest.mark.parametrize(
    ("matches", "line"),
    [
        (0, "latchctl: no session is known as `00`\n"),
        (2, "latchctl: several sessions begin with `00`; give more of the key\n"),
    ],
)
def test_a_name_of_none_or_of_several_is_one_line(
    places: Places, capsys: pytest.CaptureFixture[str], matches: int, line: str
) -> None:
    with serving(places, lambda _: [SessionView(VERSION, matches)]):
        code = main(["sessions", "show", "00"])

    assert (code, capsys.readouterr().err) == (1, line)


def test_without_a_name_the_usage_is_wrong(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "show"]) == 2
    assert "the following arguments are required: ID" in capsys.readouterr().err
