"""Mistakes a newcomer makes: each ends in one clear line, and nothing is lost."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpora import REPOSITORY
from latch_client import hook, private

pytestmark = pytest.mark.slow

HOOK = Path(hook.__file__)
DAEMON = [sys.executable, "-m", "latchd"]
CONTROL = [sys.executable, "-c", "import sys; from latch_client.cli import main; sys.exit(main())"]
PROPOSAL = (
    b'{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", '
    b'"tool_input": {"command": "ls"}, "tool_use_id": "c"}'
)


class Home:
    """A newcomer's machine: their directories, and commands run in them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.runtime, self.state, self.config = (root / name for name in ("run", "state", "config"))
        self.config.mkdir()
        self.environ = {
            "HOME": str(root),
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "PYTHONPATH": ":".join(str(REPOSITORY / part) for part in ("daemon", "client", "contracts")),
            "LATCHD_RUNTIME_DIR": str(self.runtime),
            "LATCHD_STATE_DIR": str(self.state),
            "LATCHD_CONFIG_DIR": str(self.config),
        }

    def run(self, argv: Sequence[str], stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            argv,
            input=stdin,
            env=self.environ | more,
            cwd=self.root,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def hook(
        self, connector: str = "claudecode", stdin: bytes = PROPOSAL
    ) -> subprocess.CompletedProcess[bytes]:
        return self.run([sys.executable, "-IS", str(HOOK), connector], stdin)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def told(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line on stderr."""
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_no_daemon_denies_and_says_how_to_start_one(home: Home) -> None:
    done = home.hook()

    assert done.returncode == 2
    assert told(done) == (
        "latchd is not running, so nothing can judge this call; start it with `latchctl up`"
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert home.run([*CONTROL, "status"]).returncode == 1


def test_a_regular_file_in_the_sockets_place_is_left_alone(home: Home) -> None:
    home.runtime.mkdir(mode=0o700)
    (home.runtime / "hook.sock").write_text("mine")

    done = home.run(DAEMON)

    assert done.returncode == 1
    assert re.fullmatch(r"latchd: .*hook\.sock` is .*not a socket.*", told(done))
    assert (home.runtime / "hook.sock").read_text() == "mine"


def test_a_second_daemon_names_the_first_and_leaves_it_working() -> None:
    with private.daemon() as first:
        second = subprocess.run(DAEMON, env=first.environ, capture_output=True, check=False, timeout=60)
        answer = subprocess.run(
            first.hook_argv, input=PROPOSAL, env=first.environ, capture_output=True, check=False, timeout=60
        )

    assert second.returncode == 1
    assert str(first.pid) in told(second)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")


def test_another_users_runtime_directory_is_refused(home: Home) -> None:
    if os.getuid() == 0:
        home.runtime.mkdir(mode=0o700)
        os.chown(home.runtime, 65534, 65534)
        done = home.run(DAEMON)
    else:
        done = home.run(DAEMON, LATCHD_RUNTIME_DIR="/")

    assert done.returncode == 1
    assert re.match(r"latchd: runtime directory `.*` (belongs to|is) ", told(done))


def test_a_read_only_state_directory_is_said_at_once(home: Home) -> None:
    home.state.mkdir(mode=0o700)
    daemon = " ".join(DAEMON)
    if os.getuid() == 0:
        state = home.state
        script = f"mount --bind {state} {state} && mount -o remount,ro,bind {state} && exec {daemon}"
        done = home.run(["unshare", "-m", "sh", "-c", script])
        if b"unshare" in done.stderr or b"mount:" in done.stderr:
            pytest.skip("no mount namespace here")
    else:
        home.state.chmod(0o500)
        done = home.run(DAEMON)

    assert done.returncode == 1
    assert re.match(r"latchd: .*state.* (can't|is|read-only)", told(done), re.IGNORECASE)


def test_a_broken_config_names_the_file_and_the_key(home: Home) -> None:
    (home.config / "config.toml").write_text('profil = "strict"\n')

    done = home.run(DAEMON)

    assert done.returncode == 1
    assert told(done) == f"latchd: config `{home.config}/config.toml`: `profil` is not a key of the policy"


def test_an_unknown_connector_is_named_with_the_known_ones() -> None:
    with private.daemon() as daemon:
        argv = [*daemon.hook_argv[:-1], "clippy"]
        done = subprocess.run(
            argv, input=PROPOSAL, env=daemon.environ, capture_output=True, check=False, timeout=60
        )

    assert done.returncode == 2
    assert told(done) == "latchd: no agent named `clippy` is known; known: claudecode"


def test_settings_that_are_not_json_are_left_as_they_are(home: Home) -> None:
    settings = home.root / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{ not json")

    done = home.run([*CONTROL, "install", "claudecode"])

    assert done.returncode == 1
    assert re.match(r"latchctl: .*settings\.json.* not JSON", told(done))
    assert settings.read_text() == "{ not json"
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]


def test_a_hook_run_by_hand_on_a_terminal_says_who_should_run_it(home: Home) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-IS", str(HOOK), "claudecode"],
            stdin=theirs,
            env=home.environ,
            capture_output=True,
            check=False,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)

    assert done.returncode == 2
    assert told(done) == (
        "latchd: stdin is a terminal; this command is started by an agent with a hook's JSON on stdin"
    )


def test_a_hook_whose_package_is_gone_denies_in_one_line(home: Home) -> None:
    shutil.copy(HOOK, home.root / "hook.py")

    done = home.run([sys.executable, "-IS", str(home.root / "hook.py"), "claudecode"], PROPOSAL)

    assert done.returncode == 2
    assert told(done) == "latchd: the hook is broken (ImportError); run `latchctl doctor`"
