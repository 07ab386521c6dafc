"""Telling the service manager how we are: the datagrams of sd_notify(3).

Nobody listening is the normal case of a daemon started by hand; then every word is free and unsaid.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import MutableMapping

_VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


class Notifier:
    """``watchdog_seconds`` is how often we must say that we live, None when nobody counts."""

    def __init__(self, environ: MutableMapping[str, str], pid: int) -> None:
        """Take our variables out of the environment: what we may start is not the service."""
        address, usec, watched = (environ.pop(name, "") for name in _VARIABLES)
        self._address = _address(address)
        counts = self._address is not None and usec.isdecimal() and int(usec) > 0
        self.watchdog_seconds: float | None = (
            int(usec) / 1_000_000 if counts and watched in ("", str(pid)) else None
        )

    def ready(self, status: str) -> None:
        """Only after the sockets were seen to answer: who waits for this connects next."""
        self._say(f"READY=1\nSTATUS={status}")

    def status(self, status: str) -> None:
        self._say(f"STATUS={status}")

    def stopping(self) -> None:
        self._say("STOPPING=1")

    def alive(self) -> None:
        self._say("WATCHDOG=1")

    def _say(self, words: str) -> None:
        if self._address is None:
            return
        # A manager that is gone or does not read must not stop the daemon; the watchdog is its own judge.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out,
        ):
            out.setblocking(False)
            out.sendto(words.encode(), self._address)


def _address(text: str) -> str | None:
    """A path, or with a leading @ a name in the abstract namespace; anything else is not for us."""
    if text.startswith("@"):
        return "\0" + text[1:]
    return text if text.startswith("/") else None
