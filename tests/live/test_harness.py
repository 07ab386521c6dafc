"""The live runs can tell a refused call from one that ran, and are as closed as they are said to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live.claude_cli import Told, bash
from live.stage import Stage

pytestmark = pytest.mark.live


_EVENTS = ("PreToolUse", "PostToolUse", "SessionEnd")


def _events(seen: Path) -> list[tuple[str, str]]:
    payloads = [json.loads(line) for line in seen.read_text("utf-8").splitlines()]
    return [(payload["hook_event_name"], payload.get("tool_use_id", "")) for payload in payloads]


def test_without_a_hook_the_call_runs(stage: Stage) -> None:
    """What the refusals of the other tests are measured against: nothing else stops such a call."""
    marker = stage.outside / "marker"
    marker.mkdir()
    with stage.converse() as agent:
        told = agent.say(bash("toolu_1", f"rm -rf {marker}"))
        agent.finish()

    assert told == [Told("toolu_1", False, "(Bash completed with no output)")]
    assert not marker.exists()


def test_a_hook_that_denies_stops_the_call(stage: Stage) -> None:
    seen = stage.add_hook("deny", *_EVENTS)
    marker = stage.outside / "marker"
    marker.mkdir()
    with stage.converse() as agent:
        told = agent.say(bash("toolu_1", f"rm -rf {marker}"))
        agent.finish()

    assert told == [Told("toolu_1", True, "PreToolUse:Bash hook error: refused for the record")]
    assert marker.is_dir()
    assert _events(seen) == [("PreToolUse", "toolu_1"), ("SessionEnd", "")]


def test_a_hook_that_only_records_sees_the_whole_call(stage: Stage) -> None:
    seen = stage.add_hook("allow", *_EVENTS)
    with stage.converse() as agent:
        told = agent.say(bash("toolu_1", "echo hello"))
        agent.finish()

    assert told == [Told("toolu_1", False, "hello")]
    assert _events(seen) == [("PreToolUse", "toolu_1"), ("PostToolUse", "toolu_1"), ("SessionEnd", "")]


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> str:
    """A variable of this machine's environment, set before anything of the run starts."""
    monkeypatch.setenv("LATCHD_LIVE_CANARY", "sings")
    return "LATCHD_LIVE_CANARY"


def test_the_run_has_no_network_and_no_variable_of_this_machine(canary: str, stage: Stage) -> None:
    with stage.converse() as agent:
        told = agent.say(
            bash("toolu_1", "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"),
            bash("toolu_2", f"printenv {canary} || echo unset"),
            bash("toolu_3", "printenv HOME"),
        )
        agent.finish()

    assert told == [
        Told("toolu_1", False, "lo"),
        Told("toolu_2", False, "unset"),
        Told("toolu_3", False, str(stage.home)),
    ]
