"""Everything one live run needs, built in order: directories, namespace, model, and when asked for, latchd.

All of it lies below one directory that is not in scratch space, because the guard lets an agent
delete there: ``home``, ``project`` (the agent's working directory) and ``outside``.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from corpora import REPOSITORY
from live.claude_cli import Conversation
from live.namespace import HERE, SECONDS, Namespace

_SOURCES: Final = ":".join(str(REPOSITORY / part) for part in ("daemon", "client", "contracts"))
DAEMON: Final = (sys.executable, "-P", "-m", "latchd")  # -P: never a module from the working directory

# Of a record: what differs from run to run, and how the keyed digests came out.
_VOLATILE: Final = frozenset(
    {"seq", "at_ms", "session", "session_key", "call_key", "latency_us", "policy", "rules"}
)


class Stage:
    """One run's world. A context manager: leaving it kills what runs and removes the directories."""

    def __init__(self, root: Path, binary: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.outside = root / "outside"
        self.session = str(uuid.uuid4())
        self._bin = root / "bin"
        for directory in (self.home, self.project, self.outside, self._bin, root / "tmp"):
            directory.mkdir(parents=True, mode=0o700)
        (self._bin / "claude").symlink_to(binary)  # `latchctl install` asks the agent on PATH its version
        self._binary = binary
        self._daemon: subprocess.Popen[bytes] | None = None
        self._open = contextlib.ExitStack()
        with contextlib.ExitStack() as building:
            building.callback(shutil.rmtree, root, ignore_errors=True)
            self.namespace = building.enter_context(Namespace(self.environ()))
            self._control = building.enter_context(socket.socket(socket.AF_UNIX))
            self._control.bind(str(root / "model"))
            self._control.listen()
            self._port = self._start_model()
            self._open = building.pop_all()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def environ(self) -> dict[str, str]:
        """The whole environment of everything in the run; nothing of this machine's own is in it."""
        return {
            "HOME": str(self.home),
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            # Never what XDG_RUNTIME_DIR or /run/user say: there the person's own daemon may listen.
            "LATCHD_RUNTIME_DIR": str(self.root / "run"),
            "LATCHD_STATE_DIR": str(self.home / ".local/state/latchd"),
            "LATCHD_CONFIG_DIR": str(self.home / ".config/latchd"),
            "PYTHONPATH": _SOURCES,
            "CLAUDE_CODE_TMPDIR": str(self.root / "tmp"),
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    @property
    def settings(self) -> Path:
        """The user-level settings of the agent in this run."""
        return self.home / ".claude" / "settings.json"

    def converse(
        self,
        *,
        allowed: Sequence[str] = ("Bash",),
        resume: bool = False,
        options: Sequence[str] = (),
        more: Mapping[str, str] | None = None,
    ) -> Conversation:
        """Start the agent in the project; the test is its model from here on.

        ``resume`` goes on with the session of the run before; ``more`` are variables for the agent.
        """
        return Conversation(
            self.namespace,
            self._binary,
            root=self.root,
            cwd=self.project,
            port=self._port,
            control=self._control,
            options=(
                *("--resume" if resume else "--session-id", self.session),
                *(("--allowedTools", ",".join(allowed)) if allowed else ()),
                *options,
            ),
            more=more or {},
        )

    # latchd

    def install_hooks(self, *options: str) -> dict[str, Any]:
        """`latchctl install claudecode`, as a person runs it; gives what it says with --json."""
        return self.latchctl("install", "claudecode", "--json", *options)[0]

    def add_hook(self, mode: str, *events: str) -> Path:
        """Register recording_hook.py beside what is in the settings; gives the file it records to."""
        seen = self.root / "seen.jsonl"
        line = f'"{sys.executable}" -IS "{HERE / "recording_hook.py"}" {mode} "{seen}"'
        settings: dict[str, Any] = {"hooks": {}}
        with contextlib.suppress(FileNotFoundError):
            settings = json.loads(self.settings.read_bytes())
        for event in events:
            handler = {"type": "command", "command": line, "timeout": 20}
            settings["hooks"].setdefault(event, []).append({"hooks": [handler]})
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(json.dumps(settings), encoding="utf-8")
        return seen

    def start_daemon(self) -> None:
        """Start the daemon and wait until it says that its sockets answer."""
        notices = self.root / "ready"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, self.daemon_log.open("ab") as log:
            ready.bind(str(notices))
            ready.settimeout(SECONDS / 100)
            self._daemon = self.namespace.start(
                DAEMON, stdout=log, stderr=log, more={"NOTIFY_SOCKET": str(notices)}
            )
            for _ in range(100):
                with contextlib.suppress(TimeoutError):
                    if b"READY=1" in ready.recv(4096).split(b"\n"):
                        break
                if self._daemon.poll() is not None:
                    raise RuntimeError(f"the daemon did not start: {self.daemon_said()}")
            else:
                raise RuntimeError(f"the daemon never got ready: {self.daemon_said()}")
        notices.unlink()

    def kill_daemon(self) -> None:
        """SIGKILL, and wait for its death: no goodbye, no clean-up."""
        assert self._daemon is not None
        self.namespace.signal(self._daemon, signal.SIGKILL)
        self._daemon.wait(SECONDS)

    @property
    def daemon_log(self) -> Path:
        return self.root / "daemon.log"

    def daemon_said(self) -> str:
        return self.daemon_log.read_text("utf-8", "replace")[-4000:]

    def latchctl(self, *words: str) -> list[dict[str, Any]]:
        """Run one command of latchctl; gives its JSON lines."""
        done = self.namespace.run([sys.executable, "-P", "-m", "latch_client.cli", *words])
        if done.returncode != 0:
            raise RuntimeError(f"latchctl {' '.join(words)}: {done.stderr.decode()}{self.daemon_said()}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def records(self, call: str | None = None, *, kind: str = "") -> list[dict[str, Any]]:
        """The stored records in order without what differs from run to run, of one call or of all."""
        lines = self.latchctl("history", "-n", "0", "--json", *(("--kind", kind) if kind else ()))
        return [_steady(line) for line in lines if call is None or line.get("call") == call]

    def first_record(self, kind: str) -> dict[str, Any]:
        """Wait on the event socket for the first record of this kind."""
        tail = self.namespace.start(
            [
                sys.executable,
                "-P",
                "-m",
                "latch_client.cli",
                "tail",
                "--since",
                "0",
                "--json",
                "--kind",
                kind,
            ],
            stdout=subprocess.PIPE,
        )
        assert tail.stdout is not None
        ready, _, _ = select.select([tail.stdout], [], [], SECONDS)
        assert ready, f"no {kind} record came; the daemon said: {self.daemon_said()}"
        return _steady(json.loads(tail.stdout.readline()))

    def show(self, call: str) -> dict[str, Any]:
        """`latchctl show CALL --json`."""
        return self.latchctl("show", call, "--json")[0]

    def _start_model(self) -> int:
        model = self.namespace.start(
            [sys.executable, "-IS", str(HERE / "model_server.py"), str(self.root / "model")],
            stdout=subprocess.PIPE,
        )
        assert model.stdout is not None
        return int(model.stdout.readline())


def _steady(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in _VOLATILE}


def new_root(cache: Path) -> Path:
    """A directory for one run. Short, because socket paths are; never below /tmp, which is scratch."""
    return cache / "runs" / f"{os.getpid():x}-{uuid.uuid4().hex[:6]}"
