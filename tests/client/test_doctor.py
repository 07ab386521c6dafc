"""The doctor finds each fault by itself, says the way out, and changes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from latch_client import cli
from latch_client.install import doctor, systemd
from latch_client.install.hook_line import HOOK
from latch_client.install.scene import Check, Grade, gather
from latch_client.locate import places
from latch_contracts import wire
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.places import Places

STATUS = wire.Status(wire.VERSION, "0.1.0", 4711, 0, "ok", [], "balanced", "f" * 16, {})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A home with hooks in the settings, units, and an agent that tells its version; no daemon."""
    for name in list(os.environ):
        if name.startswith(("XDG_", "LATCHD_", "CLAUDE_")):
            monkeypatch.delenv(name)
    (tmp_path / "bin").mkdir()
    agent(tmp_path, "2.1.332 (Claude Code)")
    (tmp_path / "units").mkdir()
    for name in systemd.UNITS:
        (tmp_path / "units" / name).write_text("[Unit]\n")
    (tmp_path / "run" / "latchd").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(systemd, "source", lambda: tmp_path / "units")
    monkeypatch.setattr(doctor, "MANAGED_SETTINGS", tmp_path / "managed-settings.json")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["install", "claudecode", "--systemd"]) == 0
    return places()


def agent(home: Path, version: str) -> None:
    program = home / "bin" / "claude"
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)


@contextlib.contextmanager
def daemon(here: Places, answer: wire.Answer) -> Generator[None]:
    """Both sockets, and one that gives ``answer`` to whatever comes on the hook socket."""
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as events:
        for one, path in ((listener, here.hook_socket), (events, here.events_socket)):
            one.bind(path)
            Path(path).chmod(0o600)
        listener.listen(4)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        frames = FrameBuffer()
                        while frames.next() is None:
                            frames.feed(connection.recv(4096))
                        connection.sendall(pack(wire.encode(answer)))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def examined(here: Places) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for check in doctor.examine(gather(here)):
        found.setdefault(check.name, []).append(check)
    return found


def faults(here: Places) -> set[str]:
    return {
        name for name, checks in examined(here).items() if any(check.grade is Grade.FAIL for check in checks)
    }


def test_a_sound_set_up_has_no_fault(here: Places) -> None:
    with daemon(here, STATUS):
        found = examined(here)

    home = Path(here.state).parent.parent

    assert {name: [(check.grade, check.found) for check in checks] for name, checks in found.items()} == {
        "python": [(Grade.OK, f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}")],
        "package": [(Grade.OK, f"hook at {HOOK}")],
        "runtime directory": [(Grade.OK, f"{here.runtime} (mode 0700)")],
        "state directory": [(Grade.OK, f"{here.state} (mode 0700)")],
        "daemon": [(Grade.OK, "latchd 0.1.0 answers, process 4711")],
        "lock": [(Grade.WARN, f"nobody holds {here.lock}: a second daemon could start")],
        "database": [(Grade.OK, "open; profile balanced")],
        "hooks": [(Grade.OK, f"{home}/.claude/settings.json: 16 events")],
        "agent": [(Grade.OK, "claude 2.1.332")],
        "units": [(Grade.OK, f"in {home}/config/systemd/user")],
        "managed settings": [
            (Grade.WARN, "a project, a flag or an allowed command can switch a user's hooks off"),
        ],
    }


def test_without_a_daemon_it_says_how_to_start_one(here: Places) -> None:
    assert faults(here) == {"daemon"}
    assert "`latchctl up`" in examined(here)["daemon"][0].found


def test_a_daemon_that_answers_otherwise_is_a_fault(here: Places) -> None:
    with daemon(here, wire.Fault(wire.VERSION, "busy", "too busy")):
        assert faults(here) == {"daemon"}


def test_a_degraded_daemon_is_told_with_its_notes(here: Places) -> None:
    degraded = wire.Status(
        wire.VERSION, "0.1.0", 1, 0, "degraded", ["the store was moved aside"], "balanced", "", {}
    )
    with daemon(here, degraded):
        found = examined(here)["database"]

    assert found == [
        Check(
            "database",
            Grade.WARN,
            "health is degraded: the store was moved aside",
            "look at `latchctl status`",
        )
    ]


def test_directories_and_sockets_that_others_may_enter_are_faults(here: Places) -> None:
    with daemon(here, STATUS):
        Path(here.hook_socket).chmod(0o666)
        Path(here.runtime).chmod(0o755)
        Path(here.state).chmod(0o750)

        assert faults(here) == {"runtime directory", "state directory", "socket"}


def test_a_socket_that_is_missing_beside_a_daemon_is_a_fault(here: Places) -> None:
    with daemon(here, STATUS):
        Path(here.events_socket).unlink()

        assert faults(here) == {"socket"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"timeout": 30', '"timeout": "30"'),
        ('"type": "command"', '"type": "comand"'),
        ('"matcher": "*"', '"matcher": "Bash"'),
        ('"onFailure": "block"', '"onFailure": "stop"'),
        ('"PreToolUse"', '"PreToolUsed"'),
        ("{", '{"disableAllHooks": true,'),
        ("{", "{,"),
    ],
)
def test_settings_with_which_hooks_would_not_run_are_a_fault(here: Places, old: str, new: str) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(old, new, 1))
    with daemon(here, STATUS):
        assert faults(here) == {"hooks"}


def test_settings_that_are_gone_are_a_fault(here: Places) -> None:
    (Path.home() / ".claude" / "settings.json").unlink()
    with daemon(here, STATUS):
        assert faults(here) == {"hooks"}


def test_no_installation_at_all_is_a_fault(here: Places) -> None:
    cli.main(["uninstall", "claudecode"])
    with daemon(here, STATUS):
        assert faults(here) == {"hooks"}


def test_a_damaged_record_is_a_fault_and_the_rest_is_still_looked_at(here: Places) -> None:
    Path(here.installs).write_text("{")
    with daemon(here, STATUS):
        found = examined(here)

    assert "is damaged" in found["hooks"][0].found
    assert "managed settings" in found


def test_a_hook_line_whose_interpreter_is_gone_is_a_fault(here: Places) -> None:
    old, new = sys.executable, "/gone/python"
    for path in (Path.home() / ".claude" / "settings.json", Path(here.installs)):
        path.write_text(path.read_text().replace(old, new))
    with daemon(here, STATUS):
        found = examined(here)

    assert "every call would go through unjudged" in found["hook line"][0].found


def test_a_hook_line_that_lets_calls_through_is_told(here: Places) -> None:
    Path(here.config).mkdir(parents=True)
    Path(here.config_file).write_text('fail = "open"')
    before = examined(here)["fail-open"]
    cli.main(["install", "claudecode"])
    after = examined(here)["fail-open"]

    assert [check.way_out for check in before] == ["run `latchctl install claudecode`"]
    assert [(check.grade, check.way_out) for check in after] == [(Grade.WARN, "")]


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_project_that_switches_hooks_off_is_a_fault(
    here: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    (tmp_path / "project" / ".claude" / name).write_text('{"disableAllHooks": true}')
    monkeypatch.chdir(tmp_path / "project")
    with daemon(here, STATUS):
        assert faults(here) == {"project settings"}


@pytest.mark.parametrize(
    ("version", "grades"),
    [
        ("2.1.340", [Grade.OK, Grade.WARN]),
        ("1.0.0", [Grade.WARN, Grade.WARN]),
        ("no version", [Grade.WARN]),
    ],
)
def test_an_agent_of_another_version_is_told(
    here: Places, tmp_path: Path, version: str, grades: list[Grade]
) -> None:
    agent(tmp_path, version)
    with daemon(here, STATUS):
        found = examined(here)

    assert [check.grade for check in found["agent"]] == grades
    assert [check.grade for check in found["hooks"]] == [Grade.OK]


def test_units_that_are_missing_or_old_are_told(here: Places) -> None:
    unit = systemd.directory() / "latchd.service"
    unit.write_text("old")
    old = examined(here)["units"]
    unit.unlink()
    missing = examined(here)["units"]

    assert [check.found for check in old] == [f"the units in {unit.parent} are not this version's"]
    assert [check.found for check in missing] == [f"no latchd.service in {unit.parent}"]


def test_managed_settings_that_hold_the_hooks_are_told(here: Places) -> None:
    doctor.MANAGED_SETTINGS.write_bytes((Path.home() / ".claude" / "settings.json").read_bytes())

    assert [check.grade for check in examined(here)["managed settings"]] == [Grade.OK]


def test_managed_settings_that_switch_hooks_off_are_a_fault(here: Places) -> None:
    doctor.MANAGED_SETTINGS.write_text('{"allowManagedHooksOnly": true}')

    assert "managed settings" in faults(here)


def test_a_spool_that_waits_is_told(here: Places) -> None:
    Path(here.spool).write_text("{}\n")

    assert [check.grade for check in examined(here)["spool"]] == [Grade.WARN]


def test_a_check_that_cannot_look_is_a_fault_of_its_own(here: Places) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    settings.unlink()
    settings.mkdir()
    with daemon(here, STATUS):
        found = examined(here)

    assert [(check.grade, check.found) for check in found["hooks"]] == [
        (Grade.FAIL, f"`{settings}` is not a file")
    ]
    assert "agent" in found


def test_the_command_says_each_line_and_fails_when_something_did(
    here: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    assert cli.main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert f"ok    python: {'.'.join(map(str, sys.version_info[:3]))}" in text
    assert "\nfail  daemon: " in text

    with daemon(here, STATUS):
        assert cli.main(["doctor", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == {"name": "package", "grade": "ok", "found": f"hook at {HOOK}"}
