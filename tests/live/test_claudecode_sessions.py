"""A session from its start to its end, the settings it runs with, and what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live.claude_cli import API_KEY, VERSION, Told, bash, use
from live.shapes import boundary, ended, outcome, steps, verdict
from live.stage import Stage

pytestmark = pytest.mark.live


def test_the_installer_knows_the_agents_version_and_its_settings(stage: Stage) -> None:
    installed = stage.install_hooks()

    assert {key: installed[key] for key in ("connector", "settings", "agent_version", "done")} == {
        "connector": "claudecode",
        "settings": str(stage.settings),
        "agent_version": VERSION,
        "done": True,
    }


def test_every_event_of_a_run_is_one_record_in_its_order(guarded: Stage) -> None:
    with guarded.converse() as agent:
        agent.say(bash("toolu_1", "echo hello"))
        agent.finish()
    step = guarded.show("toolu_1")["states"][0]["step"]

    assert [record for record in guarded.records() if record["type"] != "health"] == [
        {
            "type": "lifecycle",
            "connector": "claudecode",
            "event": "SessionStart",
            "note": "source startup",
        },
        {"type": "lifecycle", "connector": "claudecode", "event": "UserPromptSubmit"},
        verdict("toolu_1", "echo hello"),
        outcome("toolu_1", outcome="succeeded", after="succeeded", step=step),
        boundary("PostToolBatch", "batch"),
        boundary("Stop", "turn"),
        boundary("SessionEnd", "session", steps_closed=1),
    ]


def test_the_sessions_end_closes_the_session_and_its_steps(guarded: Stage) -> None:
    with guarded.converse() as agent:
        agent.say(bash("toolu_1", "echo one"))
        agent.say(bash("toolu_2", "echo two"))
        agent.finish()

    assert ended(guarded) == [True]
    assert guarded.records(kind="boundary")[-1] == boundary("SessionEnd", "session", steps_closed=2)


def test_a_resumed_session_is_the_same_session_and_its_calls_become_steps(guarded: Stage) -> None:
    with guarded.converse() as agent:
        agent.say(bash("toolu_1", "echo one"))
        agent.finish()
    with guarded.converse(resume=True) as agent:
        told = agent.say(bash("toolu_2", "echo two"))
        agent.finish()

    assert told == [Told("toolu_2", False, "two")]
    assert steps(guarded) == ["toolu_1", "toolu_2"]
    assert ended(guarded) == [True]


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
    marker = guarded.outside / "marker"
    marker.mkdir()
    if not path.exists():
        path.parent.mkdir()
        path.write_text("{}", encoding="utf-8")
    with guarded.converse() as agent:
        path.write_text(text, encoding="utf-8")
        config = guarded.first_record("config")
        told = agent.say(bash("toolu_1", f"rm -rf {marker}"))
        agent.finish()

    assert config["why"].startswith("this change would switch latchd's hooks off: ")
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
    assert ended(guarded) == [True]


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
    assert steps(guarded) == ["toolu_1"]


def test_what_a_project_switches_off_before_the_start_is_beyond_user_level_hooks(guarded: Stage) -> None:
    """The limit that docs/connectors/claudecode.md admits: no hook starts, so nothing is refused or known."""
    settings = guarded.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}', encoding="utf-8")
    marker = guarded.outside / "marker"
    marker.mkdir()
    with guarded.converse() as agent:
        agent.say(bash("toolu_1", f"rm -rf {marker}"))
        agent.finish()

    assert not marker.exists()
    assert ended(guarded) == []


def test_after_uninstall_the_agent_is_as_it_was(guarded: Stage) -> None:
    guarded.latchctl("uninstall", "claudecode", "--json")
    guarded.kill_daemon()
    with guarded.converse() as agent:
        told = agent.say(bash("toolu_1", "echo free"))
        agent.finish()

    assert not guarded.settings.exists()
    assert told == [Told("toolu_1", False, "free")]


def test_no_content_no_output_and_no_key_is_kept(guarded: Stage) -> None:
    """The hook's environment holds the API key, its payloads all that was written and printed."""
    with guarded.converse(allowed=("Bash", "Write")) as agent:
        agent.say(
            use("toolu_1", "Write", file_path=str(guarded.project / "a"), content="con" + "tent-canary")
        )
        [told] = agent.say(bash("toolu_2", "printf 'out%s' put-canary"))
        guarded.kill_daemon()
        agent.say(bash("toolu_3", "printf 'unheard-%s' canary"))  # leaves a note in the spool
        agent.finish()
    kept = b"".join(path.read_bytes() for path in _kept_files(guarded))

    assert told == Told("toolu_2", False, "output-canary")
    assert b"toolu_2" in kept
    assert [
        secret
        for secret in (API_KEY, "content-canary", "output-canary", "unheard-")
        if secret.encode() in kept
    ] == []


def _kept_files(stage: Stage) -> list[Path]:
    """Everything that latchd wrote: state, runtime directory, configuration, and its log."""
    directories = (stage.environ()[f"LATCHD_{name}_DIR"] for name in ("STATE", "RUNTIME", "CONFIG"))
    files = [path for directory in directories for path in Path(directory).rglob("*") if path.is_file()]
    return [*files, stage.daemon_log]
