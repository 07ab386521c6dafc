"""What a hook call and a decision cost, each beside a floor that is timed in turn with it.

A private daemon with fresh state is asked; nothing it judges is run.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from latch_client import private
from latch_client.benches import crowd as crowds
from latch_client.benches.times import Times, timed
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.wire import VERSION, HookRequest, decode_answer, encode

SESSIONS: Final = 100
HOOK_BAR: Final = 1.35  # whole hook over the interpreter's own start
COMMANDS: Final = (
    "git status --short",
    "ls -la src && cat README.md",
    "grep -rn 'def main' --include='*.py' . | head -20",
    'for f in *.txt; do wc -l "$f"; done',
    "cd build && cmake .. -DCMAKE_BUILD_TYPE=Release && make -j4 2>&1 | tail -50",
)


def measure(daemon: private.Private, runs: int, decisions: int) -> dict[str, Any]:
    """All figures; ``hook_ratio`` and ``decision_ratio`` are over the floor of the same run."""
    interpreter = [sys.executable, "-I", "-S", "-c", "pass"]
    floors: list[float] = []
    hooks: list[float] = []
    for number in range(runs):  # interleaved, so that the machine's moods meet both alike
        payload = _payload(2 * 10**6 + number, COMMANDS[0])  # a new call each time: a replay would be cheaper
        floors.append(_process(interpreter, daemon.environ, payload))
        hooks.append(_process(daemon.hook_argv, daemon.environ, payload))
    # Unequal ids and sessions, so that every answer is a fresh decision with a record of its own.
    asked = timed(
        decisions, lambda number: _ask(daemon, _payload(number + 1, COMMANDS[number % len(COMMANDS)]))
    )
    long = "echo " + " ".join(f"word{n}" for n in range(500))
    asked_long = timed(
        max(10, decisions // 5), lambda number: _ask(daemon, _payload(10**6 + number, long[:4096]))
    )
    crowd = crowds.measure(
        daemon, decisions, SESSIONS, lambda n: _payload(3 * 10**6 + n, COMMANDS[n % len(COMMANDS)])
    )
    synced = timed(min(decisions, 200), _synced(daemon.home / "floor"))
    hook, floor = Times.of(hooks), Times.of(floors)
    return {
        "runs": runs,
        "interpreter_ms": floor,
        "hook_ms": hook,
        "hook_ratio": round(hook.median / floor.median, 3),
        "hook_ratio_of_minima": round(hook.minimum / floor.minimum, 3),
        "hook_bar": HOOK_BAR,
        "decisions": decisions,
        "decision_ms": Times.of(asked),
        "decision_4k_ms": Times.of(asked_long),
        "append_and_fsync_ms": Times.of(synced),
        "decisions_per_second": round(len(asked) / sum(asked)),
        "crowd": crowd,
    }


def _process(argv: list[str], environ: dict[str, str], stdin: bytes) -> float:
    """Seconds from spawn to exit, as an agent would see them."""
    read, write = os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.write(write, stdin)
        os.close(write)
        start = time.perf_counter()
        actions = [
            (os.POSIX_SPAWN_DUP2, read, 0),
            (os.POSIX_SPAWN_DUP2, null, 1),
            (os.POSIX_SPAWN_DUP2, null, 2),
        ]
        os.waitpid(os.posix_spawn(argv[0], argv, environ, file_actions=actions), 0)
        return time.perf_counter() - start
    finally:
        os.close(read)
        os.close(null)


def _ask(daemon: private.Private, payload: bytes) -> None:
    """One call as the shim makes it: connection, frame, answer."""
    request = HookRequest(VERSION, "claudecode", "", "", "/", "", payload)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(10)
        connection.connect(daemon.places.hook_socket)
        connection.sendall(pack(encode(request)))
        buffer = FrameBuffer()
        while (message := buffer.next()) is None:
            buffer.feed(connection.recv(65536))
    decode_answer(message)


def _synced(path: Path) -> Callable[[int], None]:
    """What any durable record costs here at least: one append and one fsync."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def step(_: int) -> None:
        os.write(file, bytes(1024))
        os.fsync(file)

    return step


def _payload(number: int, command: str) -> bytes:
    return json.dumps(
        {
            "session_id": f"bench-{number % SESSIONS}",
            "cwd": "/home/dev/project",
            "prompt_id": "bench",
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "bench"},
            "tool_use_id": f"call_{number}",
        }
    ).encode()
