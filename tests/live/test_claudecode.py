"""Claude Code, hooked up by `latchctl install`, obeys the daemon; only what is proven becomes a step."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from live.claude_cli import VERSION, Told, bash, use
from live.stage import Stage

pytestmark = pytest.mark.live

_REFUSED = "PreToolUse:Bash hook error: "  # how Claude Code opens what it tells the model of a refusal
_NO_DAEMON = "latchd is not running, so nothing can judge this call; start it with `latchctl up`"


def _steps(stage: Stage) -> list[str]:
    """The ids of the calls that became steps, in order, over all there is."""
    return [record["call"] for record in stage.records(kind="outcome") if "step" in record]


def _standing(stage: Stage, call: str) -> list[tuple[str, bool]]:
    """Where the rows of a call stand: state, and whether it is a step."""
    return [(row["state"], row["step"] is not None) for row in stage.show(call)["states"]]


def _verdict(call: str, command: str, **more: Any) -> dict[str, Any]:
    """The record of an allowed Bash call that opened a row, with ``more`` in place of what differs."""
    return {
        "type": "verdict",
        "connector": "claudecode",
        "event": "PreToolUse",
        "call": call,
        "action": "allow",
        "tool": "Bash",
        "surface": "shell",
        "head": command,
        "status": "complete",
        "state": "pending",
    } | more


def _outcome(call: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "outcome",
        "connector": "claudecode",
        "event": "PostToolUse",
        "call": call,
        "tool": "Bash",
        "before": "pending",
    } | more


def _boundary(event: str, scope: str, **more: Any) -> dict[str, Any]:
    return {"type": "boundary", "connector": "claudecode", "event": event, "scope": scope} | more


def test_the_installer_knows_the_agents_version_and_its_settings(stage: Stage) -> None:
    installed = stage.install_hooks()

    assert {key: installed[key] for key in ("connector", "settings", "agent_version", "done")} == {
        "connector": "claudecode",
        "settings": str(stage.settings),
        "agent_version": VERSION,
        "done": True,
    }


def test_a_refused_removal_does_not_happen_and_the_model_is_told_the_rule(guarded: Stage) -> None:
    marker = guarded.outside / "marker"
    marker.mkdir()
    command = f"rm -rf {marker}"
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", command))
        agent.finish()
    verdict, denial = guarded.records("toolu_1")

    assert marker.is_dir()
    assert told == [Told("toolu_1", True, _REFUSED + verdict["reason"])]
    assert verdict["reason"].startswith("[fs.delete-outside] ")
    assert str(marker) in verdict["reason"]
    assert verdict == _verdict(
        "toolu_1",
        command,
        action="deny",
        rule="fs.delete-outside",
        participant="guard",
        reason=verdict["reason"],
        findings=verdict["findings"],
        state="denied",
    )
    assert denial == {
        "type": "denial",
        "connector": "claudecode",
        "event": "PreToolUse",
        "call": "toolu_1",
        "rule": "fs.delete-outside",
        "participant": "guard",
    }
    assert _standing(guarded, "toolu_1") == [("denied", False)]


def test_an_allowed_call_runs_and_becomes_exactly_one_step(guarded: Stage) -> None:
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", "echo hello"))
        agent.finish()
    step = guarded.show("toolu_1")["states"][0]["step"]

    assert told == [Told("toolu_1", False, "hello")]
    assert guarded.records("toolu_1") == [
        _verdict("toolu_1", "echo hello"),
        _outcome("toolu_1", outcome="succeeded", after="succeeded", step=step),
    ]
    assert _standing(guarded, "toolu_1") == [("succeeded", True)]
    assert _steps(guarded) == ["toolu_1"]


def test_a_call_that_fails_is_no_step(guarded: Stage) -> None:
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", "echo so far; exit 3"))
        agent.finish()

    assert told == [Told("toolu_1", True, "Exit code 3\nso far")]
    assert guarded.records("toolu_1") == [
        _verdict("toolu_1", "echo so far; exit 3"),
        _outcome(
            "toolu_1",
            event="PostToolUseFailure",
            outcome="failed",
            after="failed",
            why="the agent reports a failure",
        ),
    ]
    assert _steps(guarded) == []


def test_a_call_that_only_starts_in_the_background_is_no_step(guarded: Stage) -> None:
    with guarded.converse() as agent:
        [told] = agent.say(bash("toolu_1", "sleep 1", run_in_background=True))
        agent.finish()

    assert (told.call, told.is_error) == ("toolu_1", False)
    assert guarded.records("toolu_1") == [
        _verdict("toolu_1", "sleep 1"),
        _outcome(
            "toolu_1",
            outcome="unknown",
            after="unknown",
            why="`run_in_background` only starts it",
        ),
    ]
    assert _steps(guarded) == []


def test_calls_that_were_refused_before_any_hook_leave_nothing_behind(guarded: Stage) -> None:
    """What Claude Code itself rejects reaches no proposal; the batch that names it proves nothing."""
    with guarded.converse() as agent:
        [told] = agent.say(use("toolu_1", "Bash", no_such_argument="x"))
        agent.finish()

    assert (told.call, told.is_error) == ("toolu_1", True)
    assert guarded.records("toolu_1") == []
    assert [
        record["pending_cut"] for record in guarded.records(kind="boundary") if "pending_cut" in record
    ] == []


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
    assert without == [Told("toolu_2", True, _REFUSED + _NO_DAEMON)]
    assert not existed
    assert after == [Told("toolu_3", False, "(Bash completed with no output)")]
    assert touched.exists()
    assert _steps(guarded) == ["toolu_1", "toolu_3"]
    assert guarded.records("toolu_2") == []


def test_what_was_answered_without_the_daemon_is_a_gap_when_it_is_back(guarded: Stage) -> None:
    with guarded.converse() as agent:
        guarded.kill_daemon()
        agent.say(bash("toolu_1", "echo unheard"))  # the proposal, then the batch that closes it
        guarded.start_daemon()
        agent.finish()
    gaps = guarded.records(kind="gap")

    assert sum(gap["count"] for gap in gaps) == 2
    assert {gap["what"] for gap in gaps} == {"unreachable"}


def test_hooks_that_were_installed_to_fail_open_let_a_call_run_and_say_so_later(stage: Stage) -> None:
    stage.latchctl("install", "claudecode", "--fail-open", "--json")
    with stage.converse() as agent:
        told = agent.say(bash("toolu_1", "echo unjudged"))
        stage.start_daemon()
        agent.finish()

    assert told == [Told("toolu_1", False, "unjudged")]
    assert {gap["what"] for gap in stage.records(kind="gap")} == {"unreachable"}


def test_two_calls_under_one_id_in_one_message_promote_nothing(guarded: Stage) -> None:
    """Claude Code passes the model's ids on unchecked; its parallel calls are both open at once."""
    with guarded.converse() as agent:
        told = agent.say(
            bash("toolu_same", "sleep 1; echo one"),
            bash("toolu_same", "sleep 1; echo two"),
        )
        agent.finish()

    assert {result.call for result in told} == {"toolu_same"}
    assert _standing(guarded, "toolu_same") == [("poisoned", False)]
    assert _steps(guarded) == []


def test_an_id_used_again_in_a_later_message_promotes_only_the_first(guarded: Stage) -> None:
    touched = guarded.project / "touched"
    with guarded.converse() as agent:
        first = agent.say(bash("toolu_same", "echo one"))
        agent.say(bash("toolu_same", f"touch {touched}"))  # the model is told only the first result of an id
        agent.finish()

    assert first == [Told("toolu_same", False, "one")]
    assert touched.exists()
    assert _standing(guarded, "toolu_same") == [("succeeded", True)]
    assert _steps(guarded) == ["toolu_same"]


def test_parallel_calls_become_one_step_each(guarded: Stage) -> None:
    calls = [f"toolu_{number}" for number in range(5)]
    with guarded.converse() as agent:
        told = agent.say(*(bash(call, f"echo {call}") for call in calls))
        agent.finish()

    assert sorted(told) == [Told(call, False, call) for call in calls]  # told in the order they ended
    assert sorted(_steps(guarded)) == calls


def test_a_write_outside_the_project_is_not_made_when_nobody_can_be_asked(guarded: Stage) -> None:
    target = guarded.outside / "notes.txt"
    with guarded.converse(allowed=("Bash", "Write")) as agent:
        [told] = agent.say(use("toolu_1", "Write", file_path=str(target), content="x\n"))
        agent.finish()
    [verdict] = guarded.records("toolu_1")

    assert not target.exists()
    assert (told.call, told.is_error) == ("toolu_1", True)
    assert verdict == _verdict(
        "toolu_1",
        str(target),
        action="ask",
        tool="Write",
        surface="write",
        rule="write.outside-roots",
        participant="guard",
        reason=verdict["reason"],
        findings=verdict["findings"],
    )
    assert _standing(guarded, "toolu_1") == [("unknown", False)]  # the batch closed it: no result ever came


def test_a_write_inside_the_project_becomes_a_step(guarded: Stage) -> None:
    target = guarded.project / "notes.txt"
    with guarded.converse(allowed=("Bash", "Write")) as agent:
        [told] = agent.say(use("toolu_1", "Write", file_path=str(target), content="x\n"))
        agent.finish()

    assert not told.is_error
    assert target.read_text("utf-8") == "x\n"
    assert _steps(guarded) == ["toolu_1"]


def test_the_agent_cannot_take_the_hooks_out_itself(guarded: Stage) -> None:
    before = guarded.settings.read_bytes()
    code = f"open('{guarded.settings}', 'w').write('{{}}')"
    with guarded.converse() as agent:
        [told] = agent.say(bash("toolu_1", f'{sys.executable} -c "{code}"'))
        agent.finish()
    verdict = guarded.records("toolu_1", kind="verdict")[0]

    assert guarded.settings.read_bytes() == before
    assert told == Told("toolu_1", True, _REFUSED + verdict["reason"])
    assert verdict["action"] == "deny"


@pytest.mark.parametrize(
    ("source", "where", "text"),
    [
        ("user_settings", "home/.claude/settings.json", "{}"),
        ("local_settings", "project/.claude/settings.local.json", '{"disableAllHooks": true}'),
    ],
)
def test_settings_that_would_switch_the_hooks_off_are_refused_and_the_hooks_stay(
    guarded: Stage, source: str, where: str, text: str
) -> None:
    """Claude Code loads changed settings while it runs, but asks first; a refusal keeps the old hooks."""
    path = guarded.root / where
    path.parent.mkdir(exist_ok=True)
    marker = guarded.outside / "marker"
    marker.mkdir()
    if source == "local_settings":
        path.write_text("{}", encoding="utf-8")  # it is watched only when it was there at the start
    with guarded.converse() as agent:
        path.write_text(text, encoding="utf-8")
        config = guarded.first_record("config")
        told = agent.say(bash("toolu_1", f"rm -rf {marker}"))
        agent.finish()

    assert config == {
        "type": "config",
        "connector": "claudecode",
        "event": "ConfigChange",
        "source": source,
        "path": str(path),
        "refused": True,
        "why": config["why"],
    }
    assert [(result.call, result.is_error) for result in told] == [("toolu_1", True)]
    assert marker.is_dir()
    assert _closed(guarded) == [True]


def test_settings_that_leave_the_hooks_alone_may_change(guarded: Stage) -> None:
    with guarded.converse() as agent:
        settings = json.loads(guarded.settings.read_bytes()) | {"cleanupPeriodDays": 20}
        guarded.settings.write_text(json.dumps(settings), encoding="utf-8")
        config = guarded.first_record("config")
        told = agent.say(bash("toolu_1", "echo still here"))
        agent.finish()

    assert config == {
        "type": "config",
        "connector": "claudecode",
        "event": "ConfigChange",
        "source": "user_settings",
        "path": str(guarded.settings),
    }
    assert told == [Told("toolu_1", False, "still here")]
    assert _steps(guarded) == ["toolu_1"]


def test_the_sessions_end_closes_the_session_and_its_steps(guarded: Stage) -> None:
    with guarded.converse() as agent:
        agent.say(bash("toolu_1", "echo one"))
        agent.say(bash("toolu_2", "echo two"))
        agent.finish()

    assert _closed(guarded) == [True]
    assert guarded.records(kind="boundary")[-1] == _boundary("SessionEnd", "session", steps_closed=2)


def _closed(stage: Stage) -> list[bool]:
    """Of each session there is: whether its end was seen."""
    return [session["closed_seq"] > 0 for session in stage.latchctl("sessions", "--json")]
