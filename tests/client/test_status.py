"""`latchctl status`."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from latch_client.cli import main
from latch_client.commands.status import duration, lines
from latch_client.paint import Paint
from latch_contracts.places import Places
from latch_contracts.wire import VERSION, Status
from wire_server import places_in, serving

STATUS = Status(
    VERSION,
    "0.1.0",
    77,
    1_000,
    "ok",
    [],
    "balanced",
    "00112233aabbccdd",
    {"verdict_deny": 2, "requests": 9},
    "ffeeddcc44556677",
)
DEGRADED = msgspec.structs.replace(STATUS, health="degraded", notes=["the disk is full\x1b"])
PLACES = Places(runtime="/r", state="/s", config="/c")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def test_the_human_form_says_how_it_is_and_where() -> None:
    assert list(lines(DEGRADED, PLACES, now_ms=3_662_000, paint=Paint(coloured=False))) == [
        "latchd 0.1.0, pid 77, up 1 h 1 min: degraded",
        "  ! the disk is full\\x1b",
        "  profile       balanced (policy 00112233aabbccdd)",
        "  rules         ffeeddcc44556677",
        "  sockets       /r",
        "  state         /s",
        "  config        /c/config.toml",
        "  requests      9",
        "  verdict deny  2",
    ]


@pytest.mark.parametrize(("status", "code"), [(STATUS, 0), (DEGRADED, 3)])
def test_the_exit_code_tells_the_health(
    places: Places, status: Status, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(places, lambda _: [status]):
        assert main(["status", "--json"]) == code

    expected = msgspec.to_builtins(msgspec.structs.asdict(status))
    del expected["version"]
    assert json.loads(capsys.readouterr().out) == expected


def test_no_daemon_is_one_line_and_exit_code_1(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["status"]), *capsys.readouterr()) == (
        1,
        "",
        "latchctl: the daemon is not running; start it with `latchctl up`\n",
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3_700, "1 h 1 min"), (200_000, "2 d 7 h")],
)
def test_a_time_span_is_its_two_largest_units(seconds: int, text: str) -> None:
    assert duration(seconds) == text
