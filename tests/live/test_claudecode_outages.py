"""When something breaks in the middle of a run, calls are refused, nothing is promoted, the gap is told."""

from __future__ import annotations

import signal

import pytest

from live.claude_cli import Told, bash
from live.shapes import REFUSED, ended, outcome, standing, steps, unreachable, verdict
from live.stage import Stage

pytestmark = pytest.mark.live

_NO_DAEMON = "latchd is not running, so nothing can judge this call; start it with `latchctl up`"

_WAIT = "while ! test -e {go}; do sleep 0.1; done; echo late"  # a long `sleep` Claude Code refuses by itself


def test_without_the_daemon_every_call_is_refused_until_it_is_back(guarded: Stage) -> None:
    touched = guarded.project / "touched"
    with guarded.converse() as agent:
        before = agent.say(bash("toolu_1", "echo before"))
        guarded.kill_daemon()
        without = agent.say(bash("toolu_2", f"touch {touched}"))
        existed = touched.exists()
        guarded.start_daemon()
        after = agent.say(bash("toolu_3", f"touch {touched}"))
        agent.finish()

    assert before == [Told("toolu_1", False, "before")]
    assert without == [Told("toolu_2", True, REFUSED.format(tool="Bash") + _NO_DAEMON)]
    assert not existed
    assert after == [Told("toolu_3", False, "(Bash completed with no output)")]
    assert touched.exists()
    assert steps(guarded) == ["toolu_1", "toolu_3"]
    assert guarded.records("toolu_2") == []


def test_what_was_answered_without_the_daemon_is_a_gap_when_it_is_back(guarded: Stage) -> None:
    with guarded.converse() as agent:
        guarded.kill_daemon()
        agent.say(bash("toolu_1", "echo unheard"))
        guarded.start_daemon()
        agent.finish()

    assert guarded.records(kind="gap") == [unreachable("PreToolUse"), unreachable("PostToolBatch")]


def test_a_result_that_comes_after_a_crash_still_finds_its_call(guarded: Stage) -> None:
    """The proposal was durable before it was answered, so the next daemon knows it."""
    go = guarded.project / "go"
    command = _WAIT.format(go=go)
    with guarded.converse() as agent:
        agent.start(bash("toolu_1", command))
        guarded.first_record("verdict")
        guarded.kill_daemon()
        guarded.start_daemon()
        go.touch()
        told = agent.hear()
        agent.finish()
    step = guarded.show("toolu_1")["states"][0]["step"]

    assert told == [Told("toolu_1", False, "late")]
    assert guarded.records("toolu_1") == [
        verdict("toolu_1", command),
        outcome("toolu_1", outcome="succeeded", after="succeeded", step=step),
    ]
    assert steps(guarded) == ["toolu_1"]


def test_hooks_that_were_installed_to_fail_open_let_a_call_run_and_say_so_later(stage: Stage) -> None:
    stage.install_hooks("--fail-open")
    with stage.converse() as agent:
        told = agent.say(bash("toolu_1", "echo unjudged"))
        stage.start_daemon()
        agent.finish()
    open_note = "no-daemon (let through, --fail-open)"

    assert told == [Told("toolu_1", False, "unjudged")]
    assert stage.records(kind="gap") == [
        unreachable(event, open_note)
        for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch")
    ]
    assert steps(stage) == []


@pytest.mark.parametrize(
    ("number", "state", "sessions"),
    [
        # An interrupt sends nothing for the call, but the session's end.
        (signal.SIGINT, "cut", [True]),
        # A killed agent sends nothing at all: the row waits for its window to pass.
        (signal.SIGKILL, "pending", [False]),
    ],
)
def test_a_call_during_which_the_agent_ends_is_no_step(
    guarded: Stage, number: signal.Signals, state: str, sessions: list[bool]
) -> None:
    with guarded.converse() as agent:
        agent.start(bash("toolu_1", _WAIT.format(go=guarded.project / "never")))
        guarded.first_record("verdict")
        agent.signal(number)

    assert standing(guarded, "toolu_1") == [(state, False)]
    assert ended(guarded) == sessions
    assert steps(guarded) == []
