"""A settings file with our handlers is sound, and every known way to lose them without a word is told."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from latch_contracts.connectors.claudecode import CONTRACT
from latch_contracts.connectors.claudecode.settings import (
    REGISTERED,
    groups,
    handler,
    hook_problems,
    registered,
    switch_problems,
)

LINE: Final = '"/opt/py/bin/python" -IS "/opt/py/latch_client/hook.py" claudecode'
OURS: Final = "the latchd handler of `PreToolUse`"
OTHERS: Final = {"type": "command", "command": "true"}


def _settings(version: str = "") -> dict[str, Any]:
    return {"hooks": {event: [group] for event, group in groups(LINE, version).items()}}


def _problems(settings: dict[str, Any], version: str = "") -> tuple[str, ...]:
    return hook_problems(json.dumps(settings).encode(), LINE, version)


def _changed(change: Callable[[dict[str, Any]], object]) -> tuple[str, ...]:
    settings = copy.deepcopy(_settings())
    change(settings)
    return _problems(settings)


def _handler(settings: dict[str, Any], event: str = "PreToolUse") -> dict[str, Any]:
    found: dict[str, Any] = settings["hooks"][event][0]["hooks"][0]
    return found


@pytest.mark.parametrize("version", ["", "2.1.332 (Claude Code)", "2.1.240", "2.1.152"])
def test_what_is_installed_is_without_fault(version: str) -> None:
    assert _problems(_settings(version), version) == ()


def test_the_handlers_are_these() -> None:
    assert handler(LINE) == {"type": "command", "command": LINE, "timeout": 30, "onFailure": "block"}
    assert handler(LINE, "PostToolUse") == {"type": "command", "command": LINE, "timeout": 30}
    assert handler(LINE, "SessionEnd") == {"type": "command", "command": LINE, "timeout": 10}
    assert groups(LINE)["PreToolUse"] == {"matcher": "*", "hooks": [handler(LINE)]}
    assert groups(LINE)["Stop"] == {"hooks": [handler(LINE, "Stop")]}
    assert [event for event, group in groups(LINE).items() if group["hooks"][0].get("onFailure")] == [
        "PreToolUse",
        "PreSkillShellCommand",
        "PermissionRequest",
    ]


def test_every_event_that_can_be_refused_proves_an_outcome_or_bounds_something_is_registered() -> None:
    needed = {
        event.name for event in CONTRACT.events if event.blockable or event.cutoff or event.kind != "audit"
    }

    assert needed <= set(REGISTERED) <= {event.name for event in CONTRACT.events}
    assert "WorktreeCreate" not in REGISTERED


def test_an_old_version_gets_no_event_or_key_that_it_does_not_know() -> None:
    assert set(registered("2.1.240")) == set(REGISTERED) - {"PreSkillShellCommand"}
    assert handler(LINE, "PreToolUse", "2.1.240") == {"type": "command", "command": LINE, "timeout": 30}
    assert _problems(_settings("2.1.240"), "2.1.332") != ()


def test_other_peoples_sound_settings_are_no_problem() -> None:
    def change(settings: dict[str, Any]) -> None:
        settings["permissions"] = {"defaultMode": "plan", "allow": ["Read"]}
        settings["disableAllHooks"] = False
        settings["hooks"]["Future"] = 5
        settings["hooks"]["WorktreeRemove"] = 5
        settings["hooks"]["PreToolUse"].insert(0, {"matcher": "Bash", "hooks": [OTHERS, {**OTHERS, "x": 1}]})
        settings["hooks"]["PreToolUse"].append({"matcher": "Bash", "hooks": [handler(LINE)]})

    assert _changed(change) == ()


FAULTS: Final[list[tuple[Callable[[dict[str, Any]], object], str]]] = [
    (lambda s: s.update(disableAllHooks=True), "`disableAllHooks` switches every hook off"),
    (lambda s: s.update(disableAllHooks="true"), "`disableAllHooks` switches every hook off"),
    (
        lambda s: s.update(env={"CLAUDE_CODE_SIMPLE": "1"}),
        "`env.CLAUDE_CODE_SIMPLE` switches every hook off",
    ),
    (
        lambda s: s.update(permissions={"defaultMode": "yolo"}),
        "`permissions.defaultMode` is no known mode: the whole file is dropped",
    ),
    (
        lambda s: s.update(permissions=[]),
        "`permissions` is not an object: the whole file may be dropped",
    ),
    (
        lambda s: _handler(s).update(timeout="20"),
        "handler 1 of `PreToolUse` has a `timeout` that is no number above 0: the whole file is dropped",
    ),
    (
        lambda s: s["hooks"]["PreToolUse"].append({"hooks": [{**OTHERS, "timeout": 0}]}),
        "handler 2 of `PreToolUse` has a `timeout` that is no number above 0: the whole file is dropped",
    ),
    (
        lambda s: s["hooks"]["Stop"].append({"hooks": [{**OTHERS, "timeout": True}]}),
        "handler 2 of `Stop` has a `timeout` that is no number above 0: the whole file is dropped",
    ),
    (
        lambda s: s["hooks"]["PreToolUse"].append({"hooks": [{"type": "shell", "command": "true"}]}),
        "handler 2 of `PreToolUse` has no known `type`: the whole file is dropped",
    ),
    (
        lambda s: s["hooks"]["PreToolUse"].append({"hooks": [{"type": "command"}]}),
        "handler 2 of `PreToolUse` has no `command`: the whole file may be dropped",
    ),
    (
        lambda s: s["hooks"]["PreToolUse"].append({"hooks": [{**OTHERS, "onFailure": "deny"}]}),
        "handler 2 of `PreToolUse` has an unknown `onFailure`: the whole file is dropped",
    ),
    (
        lambda s: s["hooks"].pop("PostToolUse"),
        "no latchd handler on `PostToolUse`",
    ),
    (
        lambda s: _handler(s, "Stop").update(command=LINE + " "),
        "no latchd handler on `Stop`",
    ),
    (
        lambda s: s["hooks"]["PreToolUse"][0].update(matcher="Bash"),
        f"{OURS} has a `matcher` that leaves calls out",
    ),
    (
        lambda s: s["hooks"]["PreToolUse"][0].update(matcher="["),
        f"{OURS} has a `matcher` that leaves calls out",
    ),
    (
        lambda s: _handler(s).update({"async": True}),
        f"{OURS} is `async`: its answer is ignored",
    ),
    (
        lambda s: _handler(s).update({"if": "Bash(git *)"}),
        f"{OURS} has `if`: it does not run every time",
    ),
    (
        lambda s: _handler(s).update(args=[]),
        f"{OURS} has `args`: the hook line would not be run by a shell",
    ),
    (
        lambda s: _handler(s).update(timeout=1),
        f"{OURS} has a `timeout` under 6 seconds: a late answer lets the call run",
    ),
    (
        lambda s: _handler(s, "SessionEnd").pop("timeout"),
        "the latchd handler of `SessionEnd` has no `timeout`: it is killed after 1.5 seconds",
    ),
    (
        lambda s: _handler(s).pop("onFailure"),
        f'{OURS} has no `onFailure: "block"`: a hook that fails lets the call run',
    ),
    (
        lambda s: _handler(s).update(onFailure="continue"),
        f'{OURS} has no `onFailure: "block"`: a hook that fails lets the call run',
    ),
]


@pytest.mark.parametrize(("change", "problem"), FAULTS, ids=[problem for _, problem in FAULTS])
def test_one_fault_is_told_in_one_sentence(change: Callable[[dict[str, Any]], object], problem: str) -> None:
    assert _changed(change) == (problem,)


@pytest.mark.parametrize("hooks", [None, [], 5])
def test_hooks_of_the_wrong_shape_are_told_with_what_is_missing(hooks: Any) -> None:
    first, second = _problems({"hooks": hooks})

    assert first == "`hooks` is not an object: the whole file may be dropped"
    assert second.startswith("no latchd handler on `PreToolUse`, ")


def test_an_empty_file_of_settings_lacks_every_handler() -> None:
    assert _problems({}) == ("no latchd handler on " + ", ".join(f"`{event}`" for event in REGISTERED),)


@pytest.mark.parametrize("settings", [b"", b"{", b"[]", b'{"hooks":{},"hooks":{}}', b"\xff"])
def test_a_file_that_can_not_be_read_is_one_problem(settings: bytes) -> None:
    (problem,) = hook_problems(settings, LINE)

    assert problem.startswith("the file can't be read: ")
    assert switch_problems(settings) == ()


@pytest.mark.parametrize(
    "settings",
    [
        b'{"disableAllHooks": false, "disableAllHooks": true}',
        b'{"disableAllHooks": true, // why not\n}',
        b'{"disable\\u0041llHooks": false, "disable\\u0041llHooks": true}',
        b'{"env": {"CLAUDE_CODE_SIMPLE": "1"}',
    ],
)
def test_another_file_that_can_not_be_read_counts_when_it_may_name_a_switch(settings: bytes) -> None:
    (problem,) = switch_problems(settings)

    assert problem.startswith("the file can't be read: ")


def test_a_changed_skill_is_no_switch() -> None:
    assert switch_problems(b"---\nname: x\n---\nRun it.\n") == ()


def test_another_settings_file_only_matters_when_it_switches_hooks_off() -> None:
    assert switch_problems(b'{"hooks": {"PreToolUse": 5}, "permissions": {"defaultMode": "yolo"}}') == ()
    assert switch_problems(b'{"disableAllHooks": true, "allowManagedHooksOnly": true}') == (
        "`disableAllHooks` switches every hook off",
        "`allowManagedHooksOnly` leaves only the hooks of managed settings",
    )
