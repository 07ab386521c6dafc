"""Many decisions through one real daemon, and what its memory does meanwhile. A tool, not a test.

``PYTHONPATH=tests python tests/tools/soak.py DECISIONS`` prints one JSON line per twentieth of them, and a
summary. Every other call is reported as a success, so calls, steps, sessions and records all come to their
bounds.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from latch_contracts.wire import HookReply
from running_daemon import OK, Daemon, Talk, daemon, tool

CONNECTIONS = 8  # enough to keep one core of a daemon busy
SESSIONS = 5000  # more than are kept
SAMPLES = 20
COMMANDS = (
    "git status --short",
    "ls -la src && cat README.md",
    "grep -rn 'def main' --include='*.py' . | head -20",
    'for f in *.txt; do wc -l "$f"; done',
    "cd build && cmake .. && make -j4 2>&1 | tail -50",
    "rm -rf /",
)


def memory(pid: int) -> dict[str, float]:
    """Resident MiB of a process: all of it, and what is its own."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    kibibytes = {
        line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssAnon"))
    }
    return {name: round(int(kibibytes[name]) / 1024, 1) for name in ("VmRSS", "RssAnon")}


def members(number: int) -> dict[str, Any]:
    command = COMMANDS[number % len(COMMANDS)]
    return tool(command, f"call-{number}") | {"session_id": f"soak-{number // 40 % SESSIONS}"}


def asked(running: Daemon, talks: list[Talk], event: str, numbers: list[int], **more: Any) -> None:
    """One request on each connection, then each answer."""
    pairs = list(zip(talks, numbers, strict=False))
    for talk, number in pairs:
        talk.send(running.request(event, **members(number) | more))
    for talk, _ in pairs:
        answer = talk.receive()
        assert isinstance(answer, HookReply), answer


def soak(running: Daemon, decisions: int) -> None:
    pid = running.process.pid
    talks = [Talk(running.places.hook_socket) for _ in range(CONNECTIONS)]
    started = time.monotonic()
    told = -1
    for first in range(0, decisions, CONNECTIONS):
        numbers = list(range(first, min(first + CONNECTIONS, decisions)))
        asked(running, talks, "PreToolUse", numbers)
        asked(running, talks, "PostToolUse", numbers[::2], tool_response=OK)
        if (sample := first * SAMPLES // decisions) != told:
            told = sample
            print(json.dumps({"decisions": first, **memory(pid)}), flush=True)
    seconds = time.monotonic() - started
    size = round(Path(running.places.database).stat().st_size / 2**20, 1)
    rate = round(decisions / seconds)
    summary = {"decisions": decisions, "seconds": round(seconds), "a_second": rate, "database_MiB": size}
    print(json.dumps(summary | memory(pid)), flush=True)
    for talk in talks:
        talk.socket.close()


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="latchd-"))
    try:
        with daemon(root, "--log-level", "error") as running:
            soak(running, int(sys.argv[1]))
            running.stop()
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
