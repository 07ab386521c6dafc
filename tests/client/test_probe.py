"""`latchctl probe`: what an agent would get."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from latch_client.cli import main
from latch_client.commands.probe import lines
from latch_contracts.places import Places
from latch_contracts.records import VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, Answer, End, HookReply, HookRequest, Streamed, Watch
from wire_server import Request, places_in, serving

PAYLOAD = b'{"hook_event_name":"PreToolUse"}'
REPLY = HookReply(VERSION, 2, b'{"deny":1}', b"no\x1b\n")
PROBED = VerdictRecord(seq=6, at_ms=0, action=Action.DENY, tool="Bash", rule="fs.x", reason="no", probe=True)
OTHER = VerdictRecord(seq=5, at_ms=0, action=Action.ALLOW, tool="Read")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAYLOAD)))
    return places_in(tmp_path, monkeypatch)


def daemon(request: Request) -> list[Answer | bytes]:
    match request:
        case HookRequest():
            return [REPLY]
        case Watch(cursor=-1):
            return [End(VERSION, 4)]
        case _:
            return [Streamed(VERSION, OTHER), Streamed(VERSION, PROBED), End(VERSION, 6)]


def test_the_payload_goes_untouched_and_its_record_is_found(
    places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(places.token).write_text("secret\n")
    with serving(places, daemon) as server:
        code = main(["probe", "--json"])

    assert server.requests == [
        Watch(VERSION, cursor=-1, follow=False),
        HookRequest(VERSION, "claudecode", "", "", str(tmp_path), "secret", PAYLOAD, probe=True),
        Watch(VERSION, cursor=4, follow=False, kinds=["verdict"], connectors=["claudecode"]),
    ]
    assert (code, json.loads(capsys.readouterr().out)) == (
        0,
        {
            "exit_code": 2,
            "stdout": '{"deny":1}',
            "stderr": "no\x1b\n",
            "verdict": {
                "type": "verdict",
                "seq": 6,
                "action": "deny",
                "tool": "Bash",
                "rule": "fs.x",
                "reason": "no",
                "probe": True,
            },
        },
    )


def test_the_human_form_shows_what_the_agent_gets() -> None:
    assert list(lines(REPLY, None)) == [
        "exit code  2",
        'stdout     {"deny":1}',
        "stderr     no\\x1b",
    ]


def test_an_empty_answer_is_shown_as_empty() -> None:
    assert list(lines(HookReply(VERSION, 0, b"", b""), None)) == [
        "exit code  0",
        "stdout     (empty)",
        "stderr     (empty)",
    ]


def test_no_payload_is_an_error_of_its_own(
    places: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))

    assert (main(["probe"]), capsys.readouterr().err) == (1, "latchctl: no hook payload on stdin\n")


def test_two_probes_at_once_are_not_mistaken_for_each_other(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    def both(request: Request) -> list[Answer | bytes]:
        twice: list[Answer | bytes] = [Streamed(VERSION, PROBED), Streamed(VERSION, PROBED), End(VERSION, 6)]
        return (
            daemon(request)
            if isinstance(request, HookRequest) or request == Watch(VERSION, -1, False)
            else twice
        )

    with serving(places, both):
        main(["probe", "--json"])

    assert json.loads(capsys.readouterr().out)["verdict"] is None
