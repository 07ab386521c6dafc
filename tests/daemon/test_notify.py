"""What the service manager hears, on a real datagram socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from latchd.notify import Notifier


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A listening manager, and the address to put into NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.setblocking(False)
        if request.param == "path":
            listening.bind(str(tmp_path / "n"))
            yield listening, str(tmp_path / "n")
        else:
            listening.bind("")  # the kernel chooses an abstract name
            yield listening, "@" + listening.getsockname()[1:].decode()


def test_every_word_arrives(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    notifier = Notifier({"NOTIFY_SOCKET": address}, 1)
    notifier.ready("fine")
    notifier.alive()
    notifier.status("busy")
    notifier.stopping()

    assert [listening.recv(99) for _ in range(4)] == [
        b"READY=1\nSTATUS=fine",
        b"WATCHDOG=1",
        b"STATUS=busy",
        b"STOPPING=1",
    ]


@pytest.mark.parametrize("address", ["", "/nobody/listens/here", "relative", "vsock:2:1"])
def test_nobody_listening_is_no_error(address: str) -> None:
    Notifier({"NOTIFY_SOCKET": address}, 1).ready("fine")


def test_a_manager_that_does_not_read_stops_nothing(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "n"))
        notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "n")}, 1)
        for _ in range(2000):
            notifier.alive()


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"),
    [
        ("30000000", "", 30.0),
        ("500000", "7", 0.5),
        ("500000", "8", None),
        ("", "", None),
        ("0", "", None),
        ("x", "", None),
    ],
)
def test_the_watchdog_counts_only_when_it_is_ours(usec: str, pid: str, seconds: float | None) -> None:
    environ = {"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": usec, "WATCHDOG_PID": pid}

    assert (Notifier(environ, 7).watchdog_seconds, environ) == (seconds, {})


def test_without_a_manager_no_watchdog_counts() -> None:
    assert Notifier({"WATCHDOG_USEC": "500000"}, 7).watchdog_seconds is None
