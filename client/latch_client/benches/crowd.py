"""How many decisions a second a daemon makes when many agents ask at once.

Each call comes over a connection of its own, as hooks make them, several at a time and of many sessions.
The daemon's processor time beside the wall's says what one core could do without its neighbours.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from latch_client import private
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.wire import VERSION, HookRequest, encode

AT_ONCE: Final = 16  # connections with a call under way
BAR: Final = 800  # decisions a second
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Crowd(msgspec.Struct, frozen=True):
    """``of_one_core`` are decisions a second of the daemon's processor time, 0 where that is not told."""

    decisions: int
    sessions: int
    at_once: int
    decisions_per_second: int
    of_one_core: int
    bar: int = BAR


def measure(daemon: private.Private, decisions: int, sessions: int, payload: Callable[[int], bytes]) -> Crowd:
    """Ask for ``payload(0)`` … ; the payloads are of so many sessions."""
    worked, started = _worked(daemon.pid), time.perf_counter()
    with selectors.DefaultSelector() as selector:
        try:
            _all_answered(selector, daemon.places.hook_socket, decisions, payload)
        finally:
            for key in selector.get_map().values():
                key.data[0].close()
    seconds, worked = time.perf_counter() - started, _worked(daemon.pid) - worked
    of_one_core = round(decisions / worked) if worked else 0
    return Crowd(decisions, sessions, AT_ONCE, round(decisions / seconds), of_one_core)


def _all_answered(
    selector: selectors.BaseSelector, path: str, decisions: int, payload: Callable[[int], bytes]
) -> None:
    asked = 0
    waiting = 0
    while asked < decisions or waiting:
        while asked < decisions and waiting < AT_ONCE:
            _ask(selector, path, payload(asked))
            asked += 1
            waiting += 1
        waiting -= _answered(selector)


def _ask(selector: selectors.BaseSelector, path: str, payload: bytes) -> None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(10)
    connection.connect(path)
    connection.sendall(pack(encode(HookRequest(VERSION, "claudecode", "", "", "/", "", payload))))
    selector.register(connection, selectors.EVENT_READ, (connection, FrameBuffer()))


def _answered(selector: selectors.BaseSelector) -> int:
    """Wait until there is something to read; how many calls have their answer now."""
    answered = 0
    for key, _ in selector.select():
        connection, buffer = key.data
        data = connection.recv(1 << 16)
        if not data:
            raise ConnectionError("the daemon hung up on a call")
        buffer.feed(data)
        if buffer.next() is not None:
            selector.unregister(connection)
            connection.close()
            answered += 1
    return answered


def _worked(pid: int) -> float:
    """Seconds of processor time of a process so far, 0 where the system does not tell."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(after_name[11]) + int(after_name[12])) / _TICKS
