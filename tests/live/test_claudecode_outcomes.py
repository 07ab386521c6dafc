"""Of what Claude Code runs, only a proven success becomes a step; everything else is told apart."""

from __future__ import annotations

import pytest

from live.claude_cli import Told, bash, use
from live.shapes import boundary, outcome, standing, steps, verdict
from live.stage import Stage

pytestmark = pytest.mark.live


def test_an_allowed_call_runs_and_becomes_exactly_one_step(guarded: Stage) -> None:
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", "echo hello"))
        agent.finish()
    step = guarded.show("toolu_1")["states"][0]["step"]

    assert told == [Told("toolu_1", False, "hello")]
    assert guarded.records("toolu_1") == [
        verdict("toolu_1", "echo hello"),
        outcome("toolu_1", outcome="succeeded", after="succeeded", step=step),
    ]
    assert standing(guarded, "toolu_1") == [("succeeded", True)]
    assert steps(guarded) == ["toolu_1"]


def test_a_call_that_fails_is_no_step(guarded: Stage) -> None:
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", "echo so far; exit 3"))
        agent.finish()

    assert told == [Told("toolu_1", True, "Exit code 3\nso far")]
    assert guarded.records("toolu_1") == [
        verdict("toolu_1", "echo so far; exit 3"),
        outcome(
            "toolu_1",
            event="PostToolUseFailure",
            outcome="failed",
            after="failed",
            why="the agent reports a failure",
        ),
    ]
    assert steps(guarded) == []


def test_a_call_that_only_starts_in_the_background_is_no_step(guarded: Stage) -> None:
    with guarded.converse() as agent:
        [told] = agent.say(bash("toolu_1", "sleep 1", run_in_background=True))
        agent.finish()

    assert (told.call, told.is_error) == ("toolu_1", False)
    assert guarded.records("toolu_1") == [
        verdict("toolu_1", "sleep 1"),
        outcome("toolu_1", outcome="unknown", after="unknown", why="`run_in_background` only starts it"),
    ]
    assert steps(guarded) == []


def test_a_call_that_claude_code_itself_rejects_leaves_nothing_behind(guarded: Stage) -> None:
    """It reaches no proposal, and the batch that names it proves nothing."""
    with guarded.converse() as agent:
        [told] = agent.say(use("toolu_1", "Bash", no_such_argument="x"))
        agent.finish()

    assert (told.call, told.is_error) == ("toolu_1", True)
    assert guarded.records("toolu_1") == []
    assert guarded.records(kind="boundary") == [
        boundary("PostToolBatch", "batch"),
        boundary("Stop", "turn"),
        boundary("SessionEnd", "session"),
    ]


def test_two_calls_under_one_id_in_one_message_promote_nothing(guarded: Stage) -> None:
    """Claude Code passes the model's ids on unchecked; its parallel calls are both open at once."""
    with guarded.converse() as agent:
        told = agent.say(
            bash("toolu_same", "sleep 1; echo one"),
            bash("toolu_same", "sleep 1; echo two"),
        )
        agent.finish()

    assert {result.call for result in told} == {"toolu_same"}
    assert standing(guarded, "toolu_same") == [("poisoned", False)]
    assert steps(guarded) == []


def test_an_id_used_again_in_a_later_message_promotes_only_the_first(guarded: Stage) -> None:
    touched = guarded.project / "touched"
    with guarded.converse() as agent:
        first = agent.say(bash("toolu_same", "echo one"))
        agent.say(bash("toolu_same", f"touch {touched}"))  # the model is told only the first result of an id
        agent.finish()

    assert first == [Told("toolu_same", False, "one")]
    assert touched.exists()
    assert standing(guarded, "toolu_same") == [("succeeded", True)]
    assert steps(guarded) == ["toolu_same"]


def test_parallel_calls_become_one_step_each(guarded: Stage) -> None:
    calls = [f"toolu_{number}" for number in range(5)]
    with guarded.converse() as agent:
        told = agent.say(*(bash(call, f"echo {call}") for call in calls))
        agent.finish()

    assert sorted(told) == [Told(call, False, call) for call in calls]  # told in the order they ended
    assert sorted(steps(guarded)) == calls


def test_what_another_hook_rewrote_after_the_verdict_is_an_alarm_and_no_step(guarded: Stage) -> None:
    guarded.add_hook("rewrite", "PreToolUse")
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", "echo as judged"))
        agent.finish()

    assert told == [Told("toolu_1", False, "rewritten")]
    assert guarded.records("toolu_1") == [
        verdict("toolu_1", "echo as judged"),
        outcome(
            "toolu_1",
            outcome="succeeded",
            after="unknown",
            why="what ran is not what was judged",
            alarm="rewritten-input",
        ),
    ]
    assert steps(guarded) == []


def test_a_write_of_megabytes_inside_the_project_becomes_a_step(guarded: Stage) -> None:
    """Its result event holds the content twice, and nothing of it is cut."""
    target = guarded.project / "notes.txt"
    content = "a line of text\n" * 100_000
    with guarded.converse(allowed=("Write",)) as agent:
        [told] = agent.say(use("toolu_1", "Write", file_path=str(target), content=content))
        agent.finish()

    assert not told.is_error
    assert target.read_text("utf-8") == content
    assert steps(guarded) == ["toolu_1"]


def test_a_file_that_was_read_may_be_replaced(guarded: Stage) -> None:
    """A proven read is what the session knows of a file; without it the same write would be a question."""
    target = guarded.project / "notes.txt"
    target.write_text("before\n", encoding="utf-8")
    with guarded.converse(allowed=("Read", "Write")) as agent:
        [read] = agent.say(use("toolu_1", "Read", file_path=str(target)))
        [written] = agent.say(use("toolu_2", "Write", file_path=str(target), content="after\n"))
        agent.finish()

    assert (read.is_error, written.is_error) == (False, False)
    assert target.read_text("utf-8") == "after\n"
    assert steps(guarded) == ["toolu_1", "toolu_2"]
