"""`latchctl check`: verdicts offline."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from latch_client import offline
from latch_client.cli import main
from latch_client.commands.check import line
from latch_client.paint import Paint

PLAIN = Paint(coloured=False)


def batch(rows: list[dict[str, Any]], words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return main(["check", "--jsonl", *words])


def test_a_verdict_is_a_line() -> None:
    assert line({"verdict": "deny", "rule": "fs.x", "reason": "no\x1b"}, PLAIN) == "✗ deny  fs.x — no\\x1b"
    assert line({"verdict": "allow", "rule": None, "reason": ""}, PLAIN) == "✓ allow"


@pytest.mark.parametrize(
    ("command", "code", "mark"), [("ls", 0, "✓ allow"), ("rm -rf ~", 4, "✗ deny"), ("$x y", 3, "? ask")]
)
def test_the_exit_code_is_the_verdict(
    command: str, code: int, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", command]) == code
    assert capsys.readouterr().out.startswith(mark)


def test_a_stricter_profile_judges_stricter(capsys: pytest.CaptureFixture[str]) -> None:
    codes = [main(["check", "$x y", "--profile", profile]) for profile in offline.PROFILES]
    capsys.readouterr()

    assert codes == [0, 3, 4]


def test_lines_are_answered_in_order_and_the_exit_code_is_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "command": "rm -rf ~"},
        {"id": "b"},
        {"id": "c", "command": "ls"},
    ]
    code = batch(rows, [], monkeypatch)
    answers = [json.loads(text) for text in capsys.readouterr().out.splitlines()]

    assert (code, [answer["id"] for answer in answers]) == (0, ["a", "b", "c"])
    assert [answer.get("verdict") for answer in answers] == ["deny", None, "allow"]
    assert answers[1]["error"]
    assert {"id", "verdict", "rule", "reason", "findings", "status"} <= set(answers[0])


def test_a_payload_is_judged_by_its_connector(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    payload = {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "cwd": "/home/dev/project",
        "tool_name": "Bash",
        "tool_use_id": "call_1",
        "tool_input": {"command": "rm -rf ~"},
    }
    batch([{"id": 1, "event": payload}], ["--connector", "claudecode"], monkeypatch)

    assert json.loads(capsys.readouterr().out)["verdict"] == "deny"


def test_a_config_of_ones_own_is_judged_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.toml"
    config.write_text('profile = "strict"\n')
    codes = [main(["check", "$x y", "--config", str(config)])]
    codes.append(main(["check", "$x y", "--config", str(config), "--profile", "observe"]))
    capsys.readouterr()

    assert codes == [4, 0]


def test_a_config_that_makes_no_sense_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.toml"
    config.write_text('profil = "strict"\n')

    assert (main(["check", "ls", "--config", str(config)]), capsys.readouterr().err) == (
        1,
        f"latchctl: `{config}`: `profil` is not a key of the policy\n",
    )


def test_the_profiles_offered_are_the_policys() -> None:
    from latchd.policy import Profile

    assert tuple(profile.value for profile in Profile) == offline.PROFILES
