"""The person's way out with the real Claude Code: they see the code, the model does not, one call passes."""

from __future__ import annotations

import json
import re
import sys

import pytest

from live.claude_cli import bash
from live.stage import Stage

pytestmark = pytest.mark.live


def _said(stage: Stage) -> list[str]:
    """What the CLI has said to the person about its hooks."""
    lines = [json.loads(line) for line in (stage.root / "claude.jsonl").read_text("utf-8").splitlines()]
    return [line["content"] for line in lines if line.get("subtype") == "informational"]


def test_the_person_sees_the_code_and_the_model_never_does(guarded: Stage) -> None:
    marker = guarded.outside / "marker"
    marker.mkdir()
    command = f"rm -rf {marker}"
    with guarded.converse() as agent:
        (refused,) = agent.say(bash("toolu_1", command))
        agent.say(bash("toolu_2", "true"))
        agent.finish()
    (told,) = _said(guarded)
    found = re.search(r"`latchctl allow (\S+)`", told)
    assert found is not None
    with guarded.converse(resume=True) as agent:
        agent.say(bash("toolu_3", "true"))
        agent.finish()
    asked = (guarded.root / "model.asked").read_text("utf-8")

    assert refused.is_error
    assert asked.count("[fs.delete-outside]") >= 4  # the refusal is in every later request
    assert found[1] not in asked
    assert "latchctl allow" not in asked


@pytest.mark.parametrize("allowed", [("Bash",), ()], ids=["allowed in Claude Code", "asked by Claude Code"])
def test_the_same_call_passes_once_when_the_person_allows_it(
    guarded: Stage, allowed: tuple[str, ...]
) -> None:
    """Where Claude Code would ask for permission, its question is the person's again: latchd is silent."""
    marker = guarded.outside / "marker"
    marker.mkdir()
    command = f"rm -rf {marker}"
    with guarded.converse(allowed=allowed) as agent:
        agent.say(bash("toolu_1", command))
        (code,) = [one["code"] for one in guarded.latchctl("history", "--json", "--codes") if "code" in one]
        done = guarded.latchctl("allow", code, "--json")
        agent.say(bash("toolu_2", command, description="Try it again"))
        gone = not marker.exists()
        agent.say(bash("toolu_3", command))
        agent.finish()
    found = [(one["event"], one["action"]) for one in guarded.records(kind="verdict")]

    assert [one["allowed"] for one in done] == [True]
    assert gone is bool(allowed)
    asked = [] if allowed else [("PermissionRequest", "allow")]
    assert found == [("PreToolUse", "deny"), ("PreToolUse", "allow"), *asked, ("PreToolUse", "deny")]


def test_the_model_can_not_allow_its_own_call(guarded: Stage) -> None:
    marker = guarded.outside / "marker"
    marker.mkdir()
    command = f"rm -rf {marker}"
    client = f"{sys.executable} -P -m latch_client.cli"
    with guarded.converse() as agent:
        agent.say(bash("toolu_1", command))
        (code,) = [one["code"] for one in guarded.latchctl("history", "--json", "--codes") if "code" in one]
        told = [
            *agent.say(bash("toolu_2", f"{client} allow {code}")),
            *agent.say(bash("toolu_3", f"{client} history --codes")),
        ]
        agent.say(bash("toolu_4", command))
        agent.finish()

    assert ["[self.command]" in one.text for one in told] == [True, True]
    assert marker.is_dir()
