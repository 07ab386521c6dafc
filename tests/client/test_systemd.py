"""The units are placed with the program of this machine in them, once, and nothing is run unless asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from latch_client import cli
from latch_client.install import systemd
from latch_client.install.errors import InstallError

SERVICE = (
    "[Unit]\nDescription=latchd\n\n[Service]\nType=notify\nExecStart=latchd --flag %t\nRestart=on-failure\n"
)
SOCKET = "[Socket]\nListenStream=%t/latchd/{}.sock\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with units to be placed, and a systemctl that only writes down its words."""
    origin = tmp_path / "units"
    origin.mkdir()
    (origin / "latchd.service").write_text(SERVICE)
    for name in ("hook", "events"):
        (origin / f"latchd-{name}.socket").write_text(SOCKET.format(name))
    (tmp_path / "bin").mkdir()
    said(tmp_path, "exit 0")
    for name in list(os.environ):
        if name.startswith(("XDG_", "LATCHD_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(systemd, "source", lambda: origin)
    monkeypatch.setattr(systemd, "daemon_command", lambda: ["/opt/my latchd/bin/latchd"])
    return tmp_path


def said(home: Path, then: str) -> None:
    program = home / "bin" / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> {home}/said\n{then}\n')
    program.chmod(0o755)


def placed(home: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((home / ".config/systemd/user").iterdir())}


def test_the_units_are_placed_with_the_daemons_own_path(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["install", "--systemd"]) == 0
    assert placed(home) == {
        "latchd-events.socket": SOCKET.format("events"),
        "latchd-hook.socket": SOCKET.format("hook"),
        "latchd.service": SERVICE.replace("=latchd --", '="/opt/my latchd/bin/latchd" --'),
    }
    assert capsys.readouterr().out.endswith(
        "to start them:\n"
        "  systemctl --user daemon-reload\n"
        "  systemctl --user enable --now latchd-hook.socket latchd-events.socket latchd.service\n"
    )
    assert not (home / "said").exists()


def test_placing_twice_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["install", "--systemd"])
    before = placed(home)
    capsys.readouterr()

    assert cli.main(["install", "--systemd"]) == 0
    assert placed(home) == before
    assert "has the units already" in capsys.readouterr().out


def test_a_unit_that_somebody_changed_is_kept_beside_the_new_one(home: Path) -> None:
    cli.main(["install", "--systemd"])
    mine = home / ".config/systemd/user/latchd.service"
    mine.write_text("mine")
    cli.main(["install", "--systemd"])

    assert mine.with_name("latchd.service.latchd-backup").read_text() == "mine"
    assert "my latchd" in mine.read_text()


def test_systemctl_is_run_only_with_now(home: Path) -> None:
    assert cli.main(["install", "--systemd", "--now"]) == 0
    assert (home / "said").read_text() == "".join(
        f"{' '.join(command[1:])}\n" for command in systemd.COMMANDS
    )


def test_a_systemctl_that_fails_is_told_in_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(home, "echo 'Failed to connect to bus: No medium found' >&2; exit 1")

    assert cli.main(["install", "--systemd", "--now"]) == 1
    assert (
        capsys.readouterr().err
        == "latchctl: `systemctl --user daemon-reload` failed: Failed to connect to bus: No medium found\n"
    )


def test_a_dry_run_places_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["install", "--systemd", "--dry-run", "--now"]) == 0
    assert not (home / ".config").exists()
    assert not (home / "said").exists()
    assert "+++ " in capsys.readouterr().out


def test_uninstalling_removes_the_units_and_says_how_to_stop_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["install", "--systemd"])
    directory = home / ".config/systemd/user"
    (directory / "other.service").write_text("other")
    capsys.readouterr()

    assert cli.main(["uninstall", "--systemd"]) == 0
    assert placed(home) == {"other.service": "other"}
    assert capsys.readouterr().out.splitlines() == [
        *(f"{directory / name} is removed" for name in systemd.UNITS),
        "to stop what still runs:",
        "  systemctl --user stop latchd-hook.socket latchd-events.socket latchd.service",
        "  systemctl --user daemon-reload",
    ]
    assert not (home / "said").exists()


def test_uninstalling_removes_the_links_by_which_the_units_were_enabled(home: Path) -> None:
    cli.main(["install", "--systemd"])
    wants = home / ".config/systemd/user/default.target.wants"
    wants.mkdir()
    (wants / "latchd.service").symlink_to("../latchd.service")
    (wants / "other.service").symlink_to("../other.service")

    cli.main(["uninstall", "--systemd"])

    assert [path.name for path in wants.iterdir()] == ["other.service"]


def test_uninstalling_what_is_not_there_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["uninstall", "--systemd"]) == 0
    assert capsys.readouterr().out == f"{home}/.config/systemd/user has no units of latchd\n"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_to_say_about_the_placed_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert cli.main(["install", "--systemd"]) == 0

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", *(str(systemd.directory() / name) for name in systemd.UNITS)],
        env={
            "XDG_RUNTIME_DIR": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_json_form_names_what_changed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["install", "--systemd", "--json"])
    directory = home / ".config/systemd/user"
    paths = [str(directory / name) for name in systemd.UNITS]

    assert json.loads(capsys.readouterr().out) == {
        "units": paths,
        "changed": paths,
        "done": True,
        "backups": [],
        "commands": [" ".join(command) for command in systemd.COMMANDS],
        "started": False,
    }


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["/usr/bin/latchd"], "ExecStart=/usr/bin/latchd --flag %t"),
        (["/p/python", "-P", "-m", "latchd"], "ExecStart=/p/python -P -m latchd --flag %t"),
        (["/100%/$x/latchd"], "ExecStart=/100%%/$$x/latchd --flag %t"),
        (['/a "b"/latchd'], 'ExecStart="/a \\"b\\"/latchd" --flag %t'),
    ],
)
def test_a_path_is_written_as_systemd_reads_it(command: list[str], line: str) -> None:
    assert systemd.with_program(SERVICE, command) == SERVICE.replace("ExecStart=latchd --flag %t", line)


def test_the_prefix_of_an_exec_line_stays() -> None:
    assert systemd.with_program("ExecStart=-latchd\n", ["/l"]) == "ExecStart=-/l\n"


def test_the_daemon_beside_this_interpreter_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert systemd.daemon_command() == [str(tmp_path / "python"), "-P", "-m", "latchd"]

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "latchd").touch(0o755)

    assert systemd.daemon_command() == [str(tmp_path / "bin" / "latchd")]

    (tmp_path / "latchd").touch(0o755)

    assert systemd.daemon_command() == [str(tmp_path / "latchd")]


def test_an_installation_without_units_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "client" / "latch_client"
    package.mkdir(parents=True)
    monkeypatch.setattr("latch_client.__file__", str(package / "__init__.py"))

    with pytest.raises(InstallError, match="no systemd units"):
        systemd.source()

    for directory in (tmp_path / "systemd", package / "units"):  # a checkout, then a wheel, which wins
        directory.mkdir()
        for name in systemd.UNITS:
            (directory / name).touch()

        assert systemd.source() == directory
