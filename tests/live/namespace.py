"""A place to run an agent in: no network but loopback, no variable of this machine, nothing left after.

Net, mount and pid namespaces of its own, held by namespace_init.py; every process of a run is
started into them through `nsenter`, with an environment that is given whole.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

HERE: Final = Path(__file__).resolve().parent
SECONDS: Final = 60.0  # the longest wait for one command; a loaded machine may need more than its usual 1

_ROOT: Final = os.geteuid() == 0
_UNSHARE: Final = (
    "unshare",
    *(() if _ROOT else ("--user", "--map-root-user")),
    *("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
)
_NSENTER: Final = (
    "nsenter",
    *(() if _ROOT else ("--user", "--preserve-credentials")),
    *("--net", "--mount", "--pid"),
)


def why_not() -> str:
    """Why no namespace can be made here, "" when one can."""
    for program in ("unshare", "nsenter"):
        if shutil.which(program) is None:
            return f"there is no `{program}` (util-linux)"
    tried = subprocess.run([*_UNSHARE, "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"no namespaces here: {tried.stderr.strip()}"


def _child(pid: int) -> int:
    """The one child of a process, by the number that it has out here."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()[0])


class Namespace:
    """The namespaces of one run. A context manager: leaving it kills all that runs inside.

    ``environ`` is the whole environment of everything started here.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._holder = subprocess.Popen(
            [*_UNSHARE, sys.executable, "-IS", str(HERE / "namespace_init.py")],
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._started: list[subprocess.Popen[bytes]] = []
        if self._pipe(self._holder.stdout).readline() != "ready\n":
            self.close()
            raise RuntimeError("the namespace did not come up")
        self._init = _child(self._holder.pid)

    def __enter__(self) -> Namespace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path = Path("/"),
        stdout: IO[bytes] | int = subprocess.DEVNULL,
        stderr: IO[bytes] | int = subprocess.DEVNULL,
        more: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program inside. The process is `nsenter`'s own: it ends as the program does."""
        process = subprocess.Popen(
            self._entering(argv, cwd),
            env=self._environ | dict(more or {}),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
        self._started.append(process)
        return process

    def run(
        self, argv: Sequence[str], *, cwd: Path = Path("/"), stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program inside to its end."""
        return subprocess.run(
            self._entering(argv, cwd),
            env=self._environ,
            input=stdin,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )

    def signal(self, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        """Send a signal to the program that :meth:`start` started, not to the `nsenter` before it."""
        os.kill(_child(process.pid), number)

    def close(self) -> None:
        self._pipe(self._holder.stdin).close()
        self._holder.kill()  # --kill-child: process 1 goes with it, and with process 1 all the others
        self._pipe(self._holder.stdout).close()
        self._holder.wait(SECONDS)
        for process in self._started:
            process.wait(SECONDS)
            if process.stdout is not None:
                process.stdout.close()

    def _entering(self, argv: Sequence[str], cwd: Path) -> list[str]:
        # Entering mounts leads to their root, so the directory is taken inside.
        return [*_NSENTER, f"--target={self._init}", "--", "env", f"--chdir={cwd}", *argv]

    @staticmethod
    def _pipe(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream
