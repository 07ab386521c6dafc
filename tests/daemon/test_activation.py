"""Sockets from the service manager: real descriptors from number 3 on, in a process of their own."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from latchd.activation import ActivationError, take

TAKE = """
import os, sys
from latchd.activation import ActivationError, take
environ = dict(os.environ) | {"LISTEN_PID": str(os.getpid())}
try:
    taken = take(environ, os.getpid())
except ActivationError as error:
    sys.exit(str(error))
for name, listener in taken.items():
    print(name, os.path.basename(listener.getsockname()), listener.fileno(), listener.get_inheritable())
print(sorted(name for name in environ if name.startswith("LISTEN")))
"""


def taken(names: str, *descriptors: int, count: str = "") -> tuple[str, str]:
    """What a process says that was started with these descriptors from 3 on: its stdout and its error."""
    numbers = " ".join(f"{number}<&{descriptor}" for number, descriptor in enumerate(descriptors, 103))
    moved = " ".join(f"{3 + index}<&{103 + index}" for index in range(len(descriptors)))
    shut = " ".join(f"{103 + index}<&-" for index in range(len(descriptors)))
    shell = f'exec {numbers}; exec {moved} {shut}; exec "$@"' if descriptors else 'exec "$@"'
    done = subprocess.run(
        ["bash", "-c", shell, "bash", sys.executable, "-c", TAKE],
        env={
            "PYTHONPATH": ":".join(sys.path),
            "LISTEN_FDS": count or str(len(descriptors)),
            "LISTEN_FDNAMES": names,
        },
        pass_fds=descriptors,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr.strip()


@pytest.fixture
def listeners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    monkeypatch.chdir(tmp_path)
    made: list[socket.socket] = []
    for name in ("a", "b"):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.bind(name)
        one.listen()
        made.append(one)
    return made


def test_sockets_come_by_name_whatever_their_order_and_are_not_passed_on(
    listeners: list[socket.socket],
) -> None:
    a, b = listeners
    with a, b:
        said = taken("events:hook", a.fileno(), b.fileno())

    assert said == ("events a 3 False\nhook b 4 False\n[]\n", "")


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ("hook:other", "a socket was passed as `other`; known names: hook, events"),
        ("hook:hook", "two sockets were passed as `hook`"),
        ("hook", "2 sockets were passed with 1 names in LISTEN_FDNAMES"),
        ("", "2 sockets were passed with 0 names in LISTEN_FDNAMES"),
    ],
)
def test_names_that_fit_no_socket_of_ours_are_refused(
    listeners: list[socket.socket], names: str, error: str
) -> None:
    a, b = listeners
    with a, b:
        assert taken(names, a.fileno(), b.fileno()) == ("", error)


def test_what_does_not_listen_is_refused(tmp_path: Path) -> None:
    wrong = "the socket passed as `hook` is no listening Unix stream socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        assert taken("hook", deaf.fileno()) == ("", wrong)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as foreign:
        foreign.bind(("127.0.0.1", 0))
        foreign.listen()
        assert taken("hook", foreign.fileno()) == ("", wrong)
    with (tmp_path / "file").open("w") as file:
        assert taken("hook", file.fileno()) == ("", "descriptor 3, passed as `hook`, is not a socket")


def test_a_descriptor_that_was_never_passed_is_named() -> None:
    assert taken("hook", count="1") == ("", "passed descriptor 3 is not open")


def test_sockets_for_another_process_are_left_alone() -> None:
    environ = {"LISTEN_PID": "1", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "hook:events"}

    assert (take(environ, 2), environ) == ({}, {})


def test_no_sockets_are_no_error() -> None:
    assert take({}, 2) == {}


def test_a_count_that_is_no_number_is_refused() -> None:
    with pytest.raises(ActivationError, match="LISTEN_FDS is `x`, not a number"):
        take({"LISTEN_PID": "2", "LISTEN_FDS": "x"}, 2)
