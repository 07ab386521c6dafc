"""Calls that are not the main agent's own shell are judged and followed too: subagents', and MCP tools."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

import pytest

from live.claude_cli import Told, bash, use
from live.namespace import HERE
from live.shapes import REFUSED, standing, steps
from live.stage import Stage

pytestmark = pytest.mark.live

_SERVER: Final = {"command": sys.executable, "args": ["-IS", str(HERE / "mcp_server.py")]}
_MCP: Final = ("--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": {"echo": _SERVER}}))


def _delegate(call: str) -> dict[str, Any]:
    """Start a subagent that the main agent waits for: the next turns are its own, up to its last words."""
    given = {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}
    return use(call, "Agent", run_in_background=False, **given)


def test_a_subagents_calls_are_refused_and_followed_like_the_main_agents(guarded: Stage) -> None:
    marker = guarded.outside / "marker"
    marker.mkdir()
    with guarded.converse(allowed=("Bash", "Agent")) as agent:
        agent.say(_delegate("toolu_agent"))
        ran = agent.say(bash("toolu_1", "echo below"))
        refused = agent.say(bash("toolu_2", f"rm -rf {marker}"))
        [report] = agent.say({"type": "text", "text": "all seen"})
        agent.finish()
    [found, denied] = guarded.records("toolu_2")

    assert ran == [Told("toolu_1", False, "below")]
    assert refused == [Told("toolu_2", True, REFUSED.format(tool="Bash") + found["reason"])]
    assert marker.is_dir()
    assert (report.call, report.is_error) == ("toolu_agent", False)
    assert found["agent"] == denied["agent"] != ""
    assert steps(guarded) == ["toolu_1", "toolu_agent"]


def test_one_id_used_by_a_subagent_and_the_main_agent_names_two_calls(guarded: Stage) -> None:
    with guarded.converse(allowed=("Bash", "Agent")) as agent:
        agent.say(_delegate("toolu_agent"))
        below = agent.say(bash("toolu_same", "echo below"))
        agent.say({"type": "text", "text": "all seen"})
        above = agent.say(bash("toolu_same", "echo above"))
        agent.finish()

    assert below == [Told("toolu_same", False, "below")]
    assert above == [Told("toolu_same", False, "above")]
    assert standing(guarded, "toolu_same") == [("succeeded", True), ("succeeded", True)]


def test_an_mcp_call_is_a_step_when_it_succeeds_and_none_when_it_says_error(guarded: Stage) -> None:
    tool = "mcp__echo__say"
    with guarded.converse(allowed=(tool,), options=_MCP) as agent:
        said = agent.say(use("toolu_1", tool, words="hello"))
        [failed] = agent.say(use("toolu_2", tool, words="sorry", fail=True))
        agent.finish()

    assert said == [Told("toolu_1", False, "hello")]
    assert (failed.call, failed.is_error) == ("toolu_2", True)
    assert standing(guarded, "toolu_1") == [("succeeded", True)]
    assert standing(guarded, "toolu_2") == [("failed", False)]
