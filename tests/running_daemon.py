"""A real daemon process on temporary directories, and the words to speak with it.

Nothing here waits by sleeping: readiness is the daemon's own line on stderr, its end is its exit.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.places import Places
from latch_contracts.records import Record
from latch_contracts.wire import (
    VERSION,
    Answer,
    End,
    EventSide,
    HookReply,
    HookRequest,
    HookSide,
    Status,
    StatusRequest,
    Streamed,
    Watch,
    decode_answer,
    encode,
)

# Long enough for any machine; a test that gets here has failed.
PATIENCE = 30.0
OK = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
SILENT = HookReply(VERSION, 0, b"", b"")


class Talk:
    """One connection."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self._buffer = FrameBuffer()

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, message: HookSide | EventSide) -> None:
        self.socket.sendall(pack(encode(message)))

    def receive(self) -> Answer | None:
        """The next answer, None when the daemon hung up or died."""
        while (message := self._buffer.next()) is None:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._buffer.feed(data)
        return decode_answer(message)


class Words:
    """What can be said to the daemon behind these places, each time over a connection of its own."""

    def __init__(self, places: Places, project: Path) -> None:
        self.places = places
        self.project = project

    def hook(self, event: str, **members: Any) -> HookReply:
        with Talk(self.places.hook_socket) as talk:
            talk.send(self.request(event, **members))
            answer = talk.receive()
        assert isinstance(answer, HookReply), answer
        return answer

    def pre(self, command: str = "git status", call: str = "c1", **members: Any) -> HookReply:
        return self.hook("PreToolUse", **tool(command, call) | members)

    def post(self, command: str = "git status", call: str = "c1", **members: Any) -> HookReply:
        return self.hook("PostToolUse", **tool(command, call) | {"tool_response": OK} | members)

    def request(self, event: str, *, token: str = "", **members: Any) -> HookRequest:
        payload = {
            "session_id": "s1",
            "cwd": str(self.project),
            "prompt_id": "p1",
            "permission_mode": "default",
            "hook_event_name": event,
        } | members
        return HookRequest(VERSION, "claudecode", "", "", "/", token, json.dumps(payload).encode())

    def status(self) -> Status:
        with Talk(self.places.events_socket) as talk:
            talk.send(StatusRequest(VERSION))
            answer = talk.receive()
        assert isinstance(answer, Status), answer
        return answer

    def records(self, cursor: int = 0) -> list[Record]:
        """All that is stored after ``cursor``, in order."""
        found: list[Record] = []
        with Talk(self.places.events_socket) as talk:
            talk.send(Watch(VERSION, cursor=cursor, follow=False))
            while isinstance(answer := talk.receive(), Streamed):
                found.append(answer.record)
        assert isinstance(answer, End), answer
        return found


class Daemon(Words):
    """A running one. ``root`` holds its runtime, state and config directories and a project."""

    def __init__(self, root: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(places(root), root / "home" / "project")
        self.project.mkdir(parents=True, exist_ok=True)
        self.process = start(root, *arguments, environ=environ)
        self.said: list[str] = []
        stderr = self.process.stderr
        assert stderr is not None
        for line in stderr:
            self.said.append(line.rstrip("\n"))
            if line.startswith("latchd: ready"):
                return
        raise AssertionError(f"not ready, exit code {self.process.wait()}: {self.said}")

    def kill(self) -> None:
        """SIGKILL, as a crash or an out-of-memory killer would."""
        self.process.kill()
        self._ended()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(number)
        return self._ended()

    def _ended(self) -> int:
        _, rest = self.process.communicate(timeout=PATIENCE)
        self.said += rest.splitlines()
        return self.process.returncode


def tool(command: str, call: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}


def places(root: Path) -> Places:
    return Places(runtime=f"{root}/run", state=f"{root}/state", config=f"{root}/config")


def environment(root: Path) -> dict[str, str]:
    """What a daemon runs with: this and nothing of the tests' own."""
    where = places(root)
    return {
        "HOME": f"{root}/home",
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "PYTHONPATH": ":".join(sys.path),
        "LATCHD_RUNTIME_DIR": where.runtime,
        "LATCHD_STATE_DIR": where.state,
        "LATCHD_CONFIG_DIR": where.config,
    }


def start(root: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "latchd", *arguments],
        env=environment(root) | dict(environ or {}),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def refused(root: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> tuple[int, list[str]]:
    """Exit code and lines of a daemon that is expected not to start."""
    with start(root, *arguments, environ=environ) as process:
        _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said.splitlines()


@contextlib.contextmanager
def daemon(root: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> Generator[Daemon]:
    """A daemon that is gone at the end, however that comes."""
    running = Daemon(root, *arguments, environ=environ)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()
        if running.process.stderr is not None:
            running.process.stderr.close()
