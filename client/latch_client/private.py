"""A daemon of one's own in a temporary directory: what the demo and the bench talk to, never the user's."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from latch_client import hook
from latch_contracts.places import Places

READY_SECONDS = 20.0  # a cold start takes well under one; a loaded machine may need more


class PrivateError(Exception):
    """The private daemon did not start; the text holds what it said."""


class Private(msgspec.Struct, frozen=True):
    """``environ`` is what the hook, latchctl and the daemon itself run with: this and nothing else."""

    places: Places
    home: Path
    environ: dict[str, str]
    pid: int

    @property
    def hook_argv(self) -> list[str]:
        """The installed hook line, as a list."""
        return [sys.executable, "-IS", str(Path(hook.__file__).resolve()), "claudecode"]


@contextlib.contextmanager
def daemon(*, config: str = "") -> Iterator[Private]:
    """A running daemon with fresh state, stopped and removed at the end. Raises PrivateError."""
    with tempfile.TemporaryDirectory(prefix="latchd-") as root:
        base = Path(root)
        places = Places(runtime=f"{root}/run", state=f"{root}/state", config=f"{root}/config")
        home = base / "home"
        for directory in (home, base / "config"):
            directory.mkdir(mode=0o700)
        (base / "config" / "config.toml").write_text(config, encoding="utf-8")
        environ = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LATCHD_RUNTIME_DIR": places.runtime,
            "LATCHD_STATE_DIR": places.state,
            "LATCHD_CONFIG_DIR": places.config,
        }
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, (base / "log").open("wb") as log:
            ready.bind(f"{root}/ready")
            process = subprocess.Popen(
                [sys.executable, "-m", "latchd"],
                env=environ | {"NOTIFY_SOCKET": f"{root}/ready"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                _wait(ready, process, base / "log")
                yield Private(places, home, environ, process.pid)
            finally:
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()
                process.wait()


def _wait(ready: socket.socket, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the daemon says that its sockets answer, or is gone, or takes too long."""
    ready.settimeout(READY_SECONDS / 40)
    for _ in range(40):
        with contextlib.suppress(TimeoutError):
            if b"READY=1" in ready.recv(4096).split(b"\n"):
                return
        if process.poll() is not None:
            break
    said = log.read_text("utf-8", "replace").strip() or f"exit code {process.poll()}"
    raise PrivateError(f"the daemon did not get ready: {said}")
