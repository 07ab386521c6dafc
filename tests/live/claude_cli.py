"""The real Claude Code: installed from npm into a cache, and driven turn by turn by a test.

A test plays the model: it says tool calls, the CLI runs its hooks and tools, and what the model
would be told comes back as :class:`Told`.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from live.namespace import SECONDS, Namespace

VERSION: Final = "2.1.332"  # the version the connector's contract was measured on
MODEL: Final = "claude-sonnet-4-5"
API_KEY: Final = "test-key"  # made up; the CLI wants one before it asks any model

_PACKAGES: Final = {
    "x86_64": "@anthropic-ai/claude-code-linux-x64",
    "aarch64": "@anthropic-ai/claude-code-linux-arm64",
}
_NPM_SECONDS: Final = 280.0
_DONE: Final = {"type": "text", "text": "done"}


class NotInstallable(Exception):
    """The CLI can't be had here; the text says why."""


def installed(cache: Path, version: str = VERSION) -> Path:
    """The CLI's native binary below ``cache``, fetched with npm at the first use. Raises NotInstallable.

    The platform's own package is fetched: it holds the binary and needs no install script.
    """
    package = _PACKAGES.get(os.uname().machine)
    if package is None:
        raise NotInstallable(f"no Claude Code binary is known for {os.uname().machine}")
    binary = cache / version / "node_modules" / package / "claude"
    if not binary.exists():
        _fetch(cache / version, f"{package}@{version}")
    if not os.access(binary, os.X_OK):
        raise NotInstallable(f"`{binary}` is not there or not executable")
    return binary


def _fetch(prefix: Path, what: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstallable("there is no `npm`")
    prefix.mkdir(parents=True, exist_ok=True)
    argv = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(prefix), what]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_NPM_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotInstallable(f"`{what}` did not come within {_NPM_SECONDS:g} s") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise NotInstallable(f"npm could not install `{what}`: {lines[-1]}")


class Told(NamedTuple):
    """One tool result as the model gets it."""

    call: str
    is_error: bool
    text: str


class Ended(Exception):
    """The CLI ended, or fell silent, while the model still had something to hear."""


def use(call: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """One tool call of an assistant message; ``call`` is the id the model gives it."""
    return {"type": "tool_use", "id": call, "name": tool, "input": arguments}


def bash(call: str, command: str, **more: Any) -> dict[str, Any]:
    return use(call, "Bash", command=command, **more)


class Conversation:
    """One `claude -p` run in which the test is the model. A context manager; ends with :meth:`finish`."""

    def __init__(
        self,
        namespace: Namespace,
        binary: Path,
        *,
        root: Path,
        cwd: Path,
        port: int,
        control: socket.socket,
        options: Sequence[str],
        more: Mapping[str, str],
    ) -> None:
        self._namespace = namespace
        self._control = control
        self._output = root / "claude.jsonl"
        self._errors = root / "claude.stderr"
        self._waiting: socket.socket | None = None
        argv = [
            *(str(binary), "-p", "go on", "--output-format", "stream-json", "--verbose"),
            *("--model", MODEL, *options),
        ]
        with self._output.open("wb") as stdout, self._errors.open("wb") as stderr:
            self._process = namespace.start(
                argv,
                cwd=cwd,
                stdout=stdout,
                stderr=stderr,
                more={"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": API_KEY, **more},
            )
        self.hear()  # the person's prompt, which holds no results

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting is not None:
            self._waiting.close()

    def say(self, *blocks: dict[str, Any]) -> list[Told]:
        """One assistant message with these calls; gives what the model is told of them."""
        self._answer(blocks)
        return self.hear()

    def start(self, *blocks: dict[str, Any]) -> None:
        """One assistant message whose results :meth:`hear` waits for later, or nobody."""
        self._answer(blocks)

    def hear(self) -> list[Told]:
        """Wait for the next request and give what the model is told in it. Raises Ended when none comes."""
        if not self._is_told():
            said = self._errors.read_text("utf-8", "replace") + self._output.read_text("utf-8", "replace")
            raise Ended(f"claude ended while its model had more to say; its own words: {said[-2000:]}")
        self._waiting = self._control.accept()[0]
        with self._waiting.makefile("rb") as lines:
            return [Told(**result) for result in json.loads(lines.readline())]

    def signal(self, number: signal.Signals) -> None:
        """Send the CLI a signal and wait for its end."""
        self._namespace.signal(self._process, number)
        self._process.wait(SECONDS)

    def finish(self) -> dict[str, Any]:
        """The model has no more calls; waits for the CLI's end and gives its own summary of the run.

        What it is still told meanwhile, of background tasks that ended, changes nothing of that.
        """
        self._answer((_DONE,))
        while self._is_told():
            self.hear()
            self._answer((_DONE,))
        self._process.wait(SECONDS)
        lines = [json.loads(line) for line in self._output.read_text("utf-8").splitlines()]
        return next(line for line in reversed(lines) if line.get("type") == "result")

    def _answer(self, blocks: Sequence[dict[str, Any]]) -> None:
        assert self._waiting is not None
        with self._waiting as request:
            request.sendall(json.dumps(list(blocks)).encode() + b"\n")
        self._waiting = None

    def _is_told(self) -> bool:
        """Wait for the next request to the model, or the CLI's end. Raises Ended when neither comes."""
        pidfd = os.pidfd_open(self._process.pid)
        try:
            ready, _, _ = select.select([self._control.fileno(), pidfd], [], [], SECONDS)
        finally:
            os.close(pidfd)
        if not ready:
            raise Ended(f"claude neither asked its model nor ended within {SECONDS:g} s")
        return self._control.fileno() in ready
