"""`latchctl allow` against a socket, and who is shown codes at all."""

from __future__ import annotations

import json
import os
import pty
from datetime import UTC
from pathlib import Path

import msgspec
import pytest

from latch_client.cli import main
from latch_client.commands.allow import line
from latch_client.render_records import when
from latch_contracts.places import Places
from latch_contracts.records import AllowanceRecord
from latch_contracts.wire import VERSION, Allow, Allowed, Answer, CallView, End, Show, Watch
from wire_server import Request, places_in, serving

RECORD = AllowanceRecord(
    seq=9, at_ms=43_200_000, rule="fs.x", refused=7, until_ms=43_800_000, tool="Bash", head="rm -rf x"
)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def test_what_is_allowed_is_said_and_until_when(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, lambda _: [Allowed(VERSION, "allowed", RECORD)]) as server:
        code = main(["allow", "K7QM-2XRD"])

    assert server.requests == [Allow(VERSION, "K7QM-2XRD", "")]
    assert (code, *capsys.readouterr()) == (
        0,
        f"allowed once, until {when(RECORD.until_ms)}: Bash  rm -rf x  [fs.x]\n",
        "",
    )


def test_a_worthless_code_is_one_line_and_its_own_exit_code(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(places, lambda _: [Allowed(VERSION, "this code was used already")]):
        code = main(["allow", "K7QM-2XRD"])

    assert (code, *capsys.readouterr()) == (3, "", "latchctl: this code was used already\n")


@pytest.mark.parametrize(("record", "code"), [(RECORD, 0), (None, 3)])
def test_json_says_the_same(
    places: Places, capsys: pytest.CaptureFixture[str], record: AllowanceRecord | None, code: int
) -> None:
    with serving(places, lambda _: [Allowed(VERSION, "why", record)]):
        exit_code = main(["allow", "K7QM-2XRD", "--json"])
    said = json.loads(capsys.readouterr().out)

    assert exit_code == code
    assert (said["allowed"], said["why"]) == (record is not None, "why")
    assert said["record"] == (None if record is None else json.loads(msgspec.json.encode(record)))


def test_the_token_of_the_hook_socket_is_sent(places: Places) -> None:
    Path(places.token).write_text("secret\n")
    with serving(places, lambda _: [Allowed(VERSION, "allowed", RECORD)]) as server:
        main(["allow", "K7QM-2XRD"])

    assert server.requests == [Allow(VERSION, "K7QM-2XRD", "secret")]


def test_without_a_daemon_it_fails(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["allow", "K7QM-2XRD"]) == 1
    assert capsys.readouterr().err.startswith("latchctl: the daemon is not running")


def test_without_a_code_it_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["allow"]) == 2
    assert "CODE" in capsys.readouterr().err


def test_nothing_in_a_record_steers_the_terminal() -> None:
    evil = AllowanceRecord(rule="\x1b[2J", refused=1, until_ms=0, tool="\x9b", head="\u202e")

    assert line(evil, zone=UTC) == "allowed once, until 00:00:00: \\x9b  \\u202e  [\\x1b[2J]"


# who is shown codes


def answers(request: Request) -> list[Answer | bytes]:
    return [CallView(VERSION, "c1", [{}], [])] if isinstance(request, Show) else [End(VERSION, 0)]


ASKING = [["tail", "--no-follow"], ["tail", "--no-follow", "-n", "0"], ["history"], ["show", "c1"]]


def wanted(places: Places, *words: str) -> set[bool]:
    with serving(places, answers) as server:
        assert main(list(words)) == 0
    return {request.codes for request in server.requests if isinstance(request, Watch | Show)}


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_where_stdout_is_no_terminal_codes_are_not_asked_for(places: Places, words: list[str]) -> None:
    assert wanted(places, *words) == {False}


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_codes_can_be_asked_for_by_name(places: Places, words: list[str]) -> None:
    assert wanted(places, *words, "--codes") == {True}


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_on_a_terminal_codes_are_asked_for(
    places: Places, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        assert wanted(places, *words) == {True}
