"""The README's two commands, in a fresh clone with nothing installed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from corpora import REPOSITORY

pytestmark = pytest.mark.slow

PROPOSAL = (
    b'{"session_id": "s", "cwd": "%s", "hook_event_name": "PreToolUse", "tool_name": "Bash", '
    b'"tool_input": {"command": "%s"}, "tool_use_id": "%s"}'
)
UNREACHABLE = ("No matching distribution", "ConnectionError", "Temporary failure in name resolution")


class Clone:
    def __init__(self, root: Path) -> None:
        self.path = root / "latchd"
        self.home = root / "home"
        self.home.mkdir()
        kept = (
            "PATH",
            "LANG",
            "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",
            "PIP_CERT",
            "PYENV_ROOT",
            "PYENV_VERSION",
        )
        self.environ = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "LATCHD_RUNTIME_DIR": str(root / "run"),
        }

    def run(
        self, *argv: str, stdin: bytes = b"", environ: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            argv,
            input=stdin,
            cwd=self.path,
            env=self.environ | dict(environ),
            capture_output=True,
            check=False,
            timeout=600,
        )


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    clone = Clone(tmp_path_factory.mktemp("fresh"))
    done = subprocess.run(
        ["git", "clone", "-q", "--no-hardlinks", str(REPOSITORY), str(clone.path)],
        capture_output=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        pytest.skip(f"this tree can't be cloned: {done.stderr.decode().strip()}")
    return clone


def made(done: subprocess.CompletedProcess[bytes]) -> str:
    """The output of a make target that had to work."""
    said = done.stdout.decode() + done.stderr.decode()
    if done.returncode and any(sign in said for sign in UNREACHABLE):
        pytest.skip("the package index can't be reached")
    assert done.returncode == 0, said
    return said


def test_make_run_serves_the_installed_hook_line_and_shows_what_it_decides(clone: Clone) -> None:
    made(clone.run("make", ".venv/.run"))
    daemon = subprocess.Popen(
        ["make", "run"],
        cwd=clone.path,
        env=clone.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert daemon.stderr is not None
        ready = daemon.stderr.readline().decode()
        assert ready.startswith("latchd: ready, hook "), ready

        made(clone.run(".venv/bin/latchctl", "install", "claudecode"))
        settings = clone.home / ".claude" / "settings.json"
        line = settings.read_text().partition('"command": "')[2].partition('",\n')[0].replace('\\"', '"')
        cwd = str(clone.path).encode()
        denied = clone.run("sh", "-c", line, stdin=PROPOSAL % (cwd, b"rm -rf ~", b"c1"))
        passed = clone.run("sh", "-c", line, stdin=PROPOSAL % (cwd, b"git status --short", b"c2"))
        shown = b""
        while b"c2" not in shown and b"git status" not in shown:
            shown += daemon.stderr.readline()
    finally:
        os.killpg(daemon.pid, signal.SIGTERM)
        daemon.communicate(timeout=30)

    assert (denied.returncode, b'"permissionDecision":"deny"' in denied.stdout) == (2, True)
    assert (passed.returncode, passed.stdout, passed.stderr) == (0, b"", b"")
    assert b"rm -rf ~" in shown


def test_make_test_installs_what_it_needs_and_runs(clone: Clone) -> None:
    """With a selection, or this very test would start itself again."""
    said = made(clone.run("make", "test", environ={"PYTEST_ADDOPTS": "-k test_frames -p no:cacheprovider"}))

    assert " passed" in said


def test_make_demo_goes_as_written(clone: Clone) -> None:
    said = made(clone.run("make", "demo"))

    assert "the agent is refused (exit code 2)" in said
    assert "pending → succeeded" in said
    assert "cut → cut" in said


def test_a_wheel_holds_all_it_needs(clone: Clone, tmp_path: Path) -> None:
    """The same hook line and the units, from an installed wheel instead of a checkout."""
    made(clone.run("make", ".venv/.run"))
    made(clone.run(".venv/bin/pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), "."))
    (wheel,) = tmp_path.glob("*.whl")
    made(clone.run(".venv/bin/python", "-m", "venv", str(tmp_path / "venv")))
    made(clone.run(str(tmp_path / "venv" / "bin" / "pip"), "install", "-q", str(wheel)))
    control = str(tmp_path / "venv" / "bin" / "latchctl")
    (hook,) = (tmp_path / "venv").glob("lib/*/site-packages/latch_client/hook.py")
    private = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "LATCHD_RUNTIME_DIR": str(tmp_path / "r"),
    }

    made(clone.run(control, "up", environ=private))
    try:
        denied = clone.run(
            str(tmp_path / "venv" / "bin" / "python"),
            *("-IS", str(hook), "claudecode"),
            stdin=PROPOSAL % (b"/", b"rm -rf ~", b"c1"),
            environ=private,
        )
    finally:
        made(clone.run(control, "down", environ=private))
    units = made(clone.run(control, "install", "--systemd", "--dry-run", environ=private))

    assert (denied.returncode, b'"permissionDecision":"deny"' in denied.stdout) == (2, True)
    assert "latchd-hook.socket" in units
