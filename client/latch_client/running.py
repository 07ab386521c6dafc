"""Starting and stopping the daemon process: its lock says whether it runs, its notice says it is ready.

Nothing here polls. Readiness is the daemon's own READY=1 on a socket of ours, its death a pidfd.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from latch_client import autostart
from latch_client.errors import CommandError
from latch_contracts.places import Places

DAEMON: Final[Sequence[str]] = (sys.executable, "-P", "-m", "latchd")  # -P: never a module from the cwd

START_SECONDS: Final = 20.0  # a cold start takes well under one; a loaded machine may need more
STOP_SECONDS: Final = 10.0  # it lets open calls finish first

_UNNAMED: Final = 0


def holder(places: Places) -> int | None:
    """The pid of the daemon that holds the lock, 0 when it left none there, None when nobody holds it."""
    try:
        descriptor = os.open(places.lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        first = os.read(descriptor, 32).split()
        return int(first[0]) if first and first[0].isdigit() else _UNNAMED
    finally:
        os.close(descriptor)
    return None


def start(
    places: Places,
    *,
    argv: Sequence[str] = DAEMON,
    environ: Mapping[bytes, bytes] = os.environb,
    seconds: float = START_SECONDS,
) -> tuple[int, bool]:
    """Start the daemon unless it runs. Its pid, and whether it was started by this call.

    It gets a session of its own, no descriptor but /dev/null and its log, and the few variables that
    say where things live. Raises CommandError with the last thing it said when it doesn't get ready.
    """
    if (running := holder(places)) is not None:
        return running, False
    for directory in (places.state, places.runtime):  # in this order: the second may lie in the first,
        Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)  # and parents get no mode of ours
    log = Path(places.state) / "latchd.log"
    notices = f"{places.runtime}/n{os.getpid()}"  # not longer than the sockets' own names
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        Path(notices).unlink(missing_ok=True)
        listening.bind(notices)
        stack.callback(Path(notices).unlink, missing_ok=True)
        said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        stack.callback(os.close, said)
        before = os.fstat(said).st_size
        process = subprocess.Popen(
            argv,
            env=autostart.environment(dict(environ)) | {b"NOTIFY_SOCKET": os.fsencode(notices)},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        alive = stack.enter_context(_pidfd(process.pid))
        ready = _wait_until_ready(listening, alive, seconds)
    if ready:
        process.returncode = 0  # it outlives us on purpose; without this Popen warns of it
        return process.pid, True
    if process.poll() is None:
        process.kill()  # it is in no state to be asked
        process.wait()
        raise CommandError(f"the daemon was not ready after {seconds:g} s; its log is `{log}`")
    if (running := holder(places)) is not None:
        return running, False  # somebody else started one at the same moment
    last = _last_line(log, before) or f"exit code {process.returncode}"
    raise CommandError(f"the daemon did not start: {last}")


def stop(places: Places, *, seconds: float = STOP_SECONDS) -> int | None:
    """Ask the daemon to end, and wait until its lock is free. Its pid, None when none was running.

    Raises CommandError when the lock names no process of ours, or it is still there after ``seconds``.
    """
    pid = holder(places)
    if pid is None:
        return None
    if pid == _UNNAMED:
        raise CommandError(f"the lock `{places.lock}` is held, but names no process")
    try:
        pidfd = _pidfd(pid)
    except ProcessLookupError:
        return pid
    with pidfd as process:
        # Asked again now that the pid can't be given to another process without our seeing it.
        if holder(places) != pid:
            return pid
        if _owner(pid) != os.getuid():
            raise CommandError(f"the process {pid} that `{places.lock}` names is not yours")
        signal.pidfd_send_signal(process.fileno(), signal.SIGTERM)
        gone = select.poll()
        gone.register(process, select.POLLIN)
        if not gone.poll(seconds * 1000):
            raise CommandError(f"the daemon (pid {pid}) did not stop within {seconds:g} s")
    if holder(places) is not None:
        raise CommandError(f"the daemon (pid {pid}) is gone, but another holds `{places.lock}` now")
    return pid


def _pidfd(pid: int) -> Descriptor:
    return Descriptor(os.pidfd_open(pid))


class Descriptor:
    """A file descriptor that a ``with`` closes and poll takes."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> Descriptor:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._number)

    def fileno(self) -> int:
        return self._number


def _wait_until_ready(listening: socket.socket, alive: Descriptor, seconds: float) -> bool:
    """Wait for READY=1; False when the process ended or the time was up first."""
    waiting = select.poll()
    waiting.register(listening, select.POLLIN)
    waiting.register(alive, select.POLLIN)
    end = time.monotonic() + seconds
    while events := waiting.poll(max(0.0, end - time.monotonic()) * 1000):
        if any(number == listening.fileno() for number, _ in events):
            if b"READY=1" in listening.recv(4096).split(b"\n"):
                return True
        else:
            return False
    return False


def _owner(pid: int) -> int | None:
    """The real uid of a process; /proc/PID itself belongs to root when the process hides its memory."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("Uid:")), None)


def _last_line(log: Path, offset: int) -> str:
    """The last line written to the log from ``offset`` on, "" when there is none."""
    with log.open("rb") as lines:
        lines.seek(offset)
        said = lines.read(1 << 16).decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(said) if line.strip()), "")
