"""The systemd units: sound to systemd itself, and a daemon that starts from passed sockets."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from corpora import REPOSITORY
from latch_contracts.wire import VERSION, Status, StatusRequest
from running_daemon import PATIENCE, SILENT, Talk, Words, daemon, environment, places

UNITS = REPOSITORY / "systemd"
needs_analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)
needs_activate = pytest.mark.skipif(
    shutil.which("systemd-socket-activate") is None, reason="systemd-socket-activate is not installed"
)


@needs_analyze
def test_systemd_finds_nothing_to_say_about_the_units(root: Path) -> None:
    for unit in UNITS.glob("latchd*"):
        text = re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", unit.read_text(), flags=re.MULTILINE)
        (root / unit.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", *sorted(map(str, root.glob("latchd*")))],
        env={"XDG_RUNTIME_DIR": str(root), "HOME": str(root), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_units_and_daemon_agree_on_the_sockets_names_and_places() -> None:
    for name in ("hook", "events"):
        unit = (UNITS / f"latchd-{name}.socket").read_text().splitlines()

        assert f"ListenStream=%t/latchd/{name}.sock" in unit
        assert f"FileDescriptorName={name}" in unit
        assert "SocketMode=0600" in unit
        assert "DirectoryMode=0700" in unit
        assert "Service=latchd.service" in unit


@needs_activate
def test_the_first_hook_starts_the_daemon_and_is_answered(root: Path) -> None:
    where = places(root)
    Path(where.runtime).mkdir(mode=0o700)
    variables = environment(root)
    activator = subprocess.Popen(
        [
            "systemd-socket-activate",
            *("-l", where.hook_socket, "-l", where.events_socket, "--fdname=hook:events"),
            *(f"-E{name}={value}" for name, value in variables.items()),
            *(sys.executable, "-m", "latchd"),
        ],
        env=variables,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert activator.stderr is not None
    try:
        for line in activator.stderr:
            if f"Listening on {where.events_socket}" in line:
                break
        words = Words(where, root)
        reply, status = words.pre(), words.status()
        activator.send_signal(signal.SIGTERM)
        _, said = activator.communicate(timeout=PATIENCE)
    finally:
        if activator.poll() is None:
            activator.kill()
            activator.wait()
        activator.stderr.close()

    assert (reply, status.pid, activator.returncode) == (SILENT, activator.pid, 0)
    assert f"latchd: ready, hook {where.hook_socket}, events {where.events_socket}, profile balanced" in said
    # What was passed to us is not ours to remove.
    assert [Path(path).is_socket() for path in (where.hook_socket, where.events_socket)] == [True, True]


def test_the_service_manager_hears_of_readiness_life_and_end(root: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(PATIENCE)
        manager.bind(f"{root}/n")
        told = {"NOTIFY_SOCKET": f"{root}/n", "WATCHDOG_USEC": "60000000"}
        with daemon(root, environ=told) as running:
            first = {manager.recv(999).split(b"\n")[0] for _ in range(2)}
            with Talk(running.places.hook_socket) as talk:
                talk.send(StatusRequest(VERSION))
                answer = talk.receive()
            running.stop()

            assert first == {b"READY=1", b"WATCHDOG=1"}
            assert isinstance(answer, Status)
            assert manager.recv(999) == b"STOPPING=1"
