"""Whole hook calls against the bare start of the same interpreter, interleaved in one run.

    [PYTHONPATH=client:contracts] python tests/bench/shim_bench.py [--runs 30] [--runtime-dir DIR]

Without ``--runtime-dir`` a server that allows everything answers; with it, the daemon that lives
there. The ratio of medians is the figure to hold: times alone say more of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import latch_client
from latch_contracts import wire
from latch_contracts.frames import FrameBuffer, pack

BAR: Final = 1.35
HOOK: Final = Path(latch_client.__file__).with_name("hook.py")
PAYLOAD: Final = json.dumps(
    {
        "session_id": "00000000-0000-4000-8000-000000000000",
        "transcript_path": "/home/dev/.claude/projects/p/00000000-0000-4000-8000-000000000000.jsonl",
        "cwd": "/home/dev/project",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git status --short", "description": "Show what changed"},
        "tool_use_id": "toolu_bench",
    }
).encode()


@contextmanager
def allowing_server(directory: Path) -> Generator[None]:
    """A hook socket in ``directory`` whose every answer is an allow."""
    reply = pack(wire.encode(wire.HookReply(wire.VERSION, 0, b"", b"")))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "hook.sock"))
        listener.listen(16)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    frames = FrameBuffer()
                    while frames.next() is None and (data := connection.recv(65536)):
                        frames.feed(data)
                    connection.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def run_once(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds from spawn to exit, with the payload waiting on stdin."""
    ours, theirs = os.pipe()
    os.write(theirs, PAYLOAD)
    os.close(theirs)
    start = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, ours, 0)]
    pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    spent = (time.perf_counter() - start) * 1000
    os.close(ours)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"`{' '.join(command)}` was not let through (status {status})")
    return spent


def measure(runtime: Path, runs: int) -> dict[str, float]:
    """Medians and minima in milliseconds, and the ratio of the medians."""
    environment = {
        "LATCHD_RUNTIME_DIR": str(runtime),
        "LATCHD_STATE_DIR": str(runtime / "state"),
        "HOME": "/",
    }
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    hook = [sys.executable, "-IS", str(HOOK), "claudecode"]
    for command in (bare, hook):  # the first run writes bytecode and warms the page cache
        run_once(command, environment)
    times: dict[str, list[float]] = {"bare": [], "hook": []}
    for _ in range(runs):
        times["bare"].append(run_once(bare, environment))
        times["hook"].append(run_once(hook, environment))
    median = {name: statistics.median(values) for name, values in times.items()}
    return {
        "bare_ms": median["bare"],
        "hook_ms": median["hook"],
        "bare_min_ms": min(times["bare"]),
        "hook_min_ms": min(times["hook"]),
        "ratio": median["hook"] / median["bare"],
        "ratio_of_minima": min(times["hook"]) / min(times["bare"]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="time the hook against a bare interpreter start")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--runtime-dir", type=Path, default=None, help="where a daemon already listens")
    arguments = parser.parse_args()
    if arguments.runtime_dir is not None:
        figures = measure(arguments.runtime_dir, arguments.runs)
    else:
        with tempfile.TemporaryDirectory() as directory, allowing_server(Path(directory)):
            figures = measure(Path(directory), arguments.runs)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()} | {"bar": BAR}))
    return 0 if figures["ratio"] <= BAR else 1


if __name__ == "__main__":
    raise SystemExit(main())
