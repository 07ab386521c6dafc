"""Starting and stopping: with a stand-in for the daemon that takes the lock and says that it is ready."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from latch_client import running
from latch_client.cli import main
from latch_client.errors import CommandError
from latch_contracts.places import Places
from wire_server import places_in

PREPARE = """
import fcntl, os, signal, socket, sys
runtime, state = os.environ["LATCHD_RUNTIME_DIR"], os.environ["LATCHD_STATE_DIR"]
lock = os.open(runtime + "/latchd.lock", os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.write(lock, b"%d\\n" % os.getpid())
def ready(text=b"READY=1\\nSTATUS=ready"):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notice:
        notice.sendto(text, os.environ["NOTIFY_SOCKET"])
"""
WELL = PREPARE + "ready(); signal.pause()"
STUBBORN = PREPARE + "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready(); signal.pause()"
DYING = "import sys; print('first', file=sys.stderr); sys.exit('the key file is open to others')"
MUTE = PREPARE + "ready(b'STATUS=thinking'); signal.pause()"
TELLING = (
    PREPARE
    + """
with open(state + "/told", "w") as told:
    fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + fd))
    fds.remove(lock), fds.remove(told.fileno())
    print(fds, os.getcwd(), os.getsid(0) == os.getpid(), sorted(os.environ), file=told)
ready(); signal.pause()
"""
)


def argv(script: str) -> list[str]:
    return [sys.executable, "-c", script]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


@pytest.fixture
def started() -> Iterator[list[int]]:
    """Pids of our children; whatever is left of them is killed and reaped."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_up_returns_once_the_daemon_is_ready(places: Places, started: list[int]) -> None:
    pid, fresh = running.start(places, argv=argv(WELL))
    started.append(pid)

    assert (fresh, running.holder(places)) == (True, pid)
    assert sorted(path.name for path in Path(places.runtime).iterdir()) == ["latchd.lock"]


def test_a_second_up_finds_the_first(places: Places, started: list[int]) -> None:
    pid, _ = running.start(places, argv=argv(WELL))
    started.append(pid)

    assert running.start(places, argv=argv(DYING)) == (pid, False)


def test_the_daemon_inherits_nothing_of_ours(
    places: Places, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    held, other = os.pipe()
    os.set_inheritable(held, True)
    try:
        pid, _ = running.start(places, argv=argv(TELLING))
    finally:
        os.close(held)
        os.close(other)
    started.append(pid)
    told = (Path(places.state) / "told").read_text()

    assert told.startswith("[0, 1, 2] / True ")
    assert "ANTHROPIC_API_KEY" not in told


def test_a_daemon_that_dies_is_told_with_its_last_words(places: Places) -> None:
    log = Path(places.state) / "latchd.log"
    log.write_text("an older line\n")

    with pytest.raises(CommandError, match=r"^the daemon did not start: the key file is open to others$"):
        running.start(places, argv=argv(DYING))
    assert log.read_text() == "an older line\nfirst\nthe key file is open to others\n"


def test_a_daemon_that_dies_without_a_word_is_told_by_its_exit_code(places: Places) -> None:
    with pytest.raises(CommandError, match=r"^the daemon did not start: exit code 3$"):
        running.start(places, argv=argv("raise SystemExit(3)"))


def test_a_daemon_that_never_gets_ready_is_ended(places: Places) -> None:
    with pytest.raises(CommandError, match=r"^the daemon was not ready after 0\.5 s; its log is `.*`$"):
        running.start(places, argv=argv(MUTE), seconds=0.5)
    assert running.holder(places) is None


def test_a_state_directory_made_for_the_runtime_directory_in_it_is_closed_too(
    tmp_path: Path, started: list[int]
) -> None:
    state = tmp_path / "new" / "latchd"
    places = Places(str(state / "run"), str(state), str(tmp_path / "config"))
    environ = {b"LATCHD_RUNTIME_DIR": places.runtime.encode(), b"LATCHD_STATE_DIR": places.state.encode()}
    pid, _ = running.start(places, argv=argv(WELL), environ=environ)
    started.append(pid)

    assert [stat.S_IMODE(path.stat().st_mode) for path in (state, state / "run")] == [0o700, 0o700]


def test_directories_and_log_are_closed_to_others(places: Places, started: list[int]) -> None:
    Path(places.state).rmdir()
    Path(places.runtime).rmdir()
    pid, _ = running.start(places, argv=argv(WELL))
    started.append(pid)

    modes = [Path(path).stat().st_mode & 0o777 for path in (places.runtime, places.state)]
    assert [*modes, (Path(places.state) / "latchd.log").stat().st_mode & 0o777] == [0o700, 0o700, 0o600]


def test_down_returns_once_the_lock_is_free(places: Places, started: list[int]) -> None:
    pid, _ = running.start(places, argv=argv(WELL))
    started.append(pid)

    assert (running.stop(places), running.holder(places), running.stop(places)) == (pid, None, None)


def test_a_daemon_that_does_not_stop_is_told(places: Places, started: list[int]) -> None:
    pid, _ = running.start(places, argv=argv(STUBBORN))
    started.append(pid)

    with pytest.raises(CommandError, match=rf"^the daemon \(pid {pid}\) did not stop within 0\.1 s$"):
        running.stop(places, seconds=0.1)


def test_a_pid_in_a_lock_that_nobody_holds_is_left_alone(places: Places) -> None:
    Path(places.lock).write_text(f"{os.getpid()}\n")

    assert running.stop(places) is None


def test_a_held_lock_without_a_pid_is_told(places: Places) -> None:
    with Path(places.lock).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        with pytest.raises(CommandError, match=r"^the lock `.*/latchd\.lock` is held, but names no process$"):
            running.stop(places)


def test_a_process_of_somebody_else_is_not_signalled(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.getuid()
    with Path(places.lock).open("w") as lock:
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)

        with pytest.raises(CommandError, match=rf"^the process {os.getpid()} that `.*` names is not yours$"):
            running.stop(places)


def test_the_commands_say_what_they_did(
    places: Places, started: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        running.start, "__kwdefaults__", dict(running.start.__kwdefaults__ or {}, argv=argv(WELL))
    )
    assert main(["up", "--json"]) == 0
    pid = running.holder(places)
    assert pid is not None
    started.append(pid)
    codes = [main(words.split()) for words in ("up", "up --json", "down", "down", "down --json")]

    first, *others = capsys.readouterr().out.splitlines()
    assert json.loads(first) == {"pid": pid, "started": True}
    assert (codes, others) == (
        [0] * 5,
        [
            f"latchd is already running, pid {pid}",
            f'{{"pid": {pid}, "started": false}}',
            f"latchd stopped, pid {pid}",
            "latchd was not running",
            '{"pid": null, "stopped": false}',
        ],
    )


def test_without_systemd_the_option_says_what_to_do(
    places: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert (main(["up", "--systemd"]), capsys.readouterr().err) == (
        1,
        "latchctl: there is no `systemctl` here; do without --systemd\n",
    )


def test_systemds_own_last_line_is_passed_on(
    places: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stand_in = tmp_path / "systemctl"
    stand_in.write_text('#!/bin/sh\necho "asked: $*" >&2\nexit 5\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    assert (main(["down", "--systemd"]), capsys.readouterr().err) == (
        1,
        "latchctl: `systemctl --user stop latchd-hook.socket latchd-events.socket latchd.service` failed: "
        "asked: --user stop latchd-hook.socket latchd-events.socket latchd.service\n",
    )
