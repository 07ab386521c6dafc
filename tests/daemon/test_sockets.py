"""Binding: over nothing that lives, over nothing that is not a socket, and away with our own only."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from latch_contracts.places import PlaceError
from latchd.lock import RefusedToStart
from latchd.sockets import bind, passed


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A socket path short enough for the kernel wherever the temporary directory is."""
    monkeypatch.chdir(tmp_path)
    return "s.sock"


def listening(path: str) -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.bind(path)
    one.listen(1)
    return one


def test_a_bound_socket_is_ours_alone_and_goes_with_us(path: str) -> None:
    bound = bind(path)

    assert stat.S_IMODE(os.lstat(path).st_mode) == 0o600
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(path)
    bound.close()
    bound.close()
    assert not Path(path).exists()


def test_the_process_keeps_its_umask(path: str) -> None:
    before = os.umask(0o022)
    bind(path).close()

    assert os.umask(before) == 0o022


def test_a_dead_socket_is_replaced(path: str) -> None:
    listening(path).close()
    bound = bind(path)

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(path)
    bound.close()


def test_a_living_socket_is_left_alone(path: str) -> None:
    with listening(path) as other:
        with pytest.raises(RefusedToStart, match=r"another program listens at `s\.sock`"):
            bind(path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(path)
            other.accept()[0].close()


def test_a_full_queue_is_a_sign_of_life(path: str) -> None:
    with listening(path):
        waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
        assert any(one.connect_ex(path) for one in waiting)
        with pytest.raises(RefusedToStart, match="another program listens"):
            bind(path)
        for one in waiting:
            one.close()


@pytest.mark.parametrize("kind", ["a regular file", "a directory", "a symbolic link", "a special file"])
def test_what_is_no_socket_is_never_removed(path: str, kind: str) -> None:
    match kind:
        case "a regular file":
            Path(path).write_text("keep")
        case "a directory":
            Path(path).mkdir()
        case "a symbolic link":
            Path(path).symlink_to("nowhere")
        case _:
            os.mkfifo(path)
    before = os.lstat(path)

    with pytest.raises(RefusedToStart, match=f"`s.sock` is {kind}, not a socket; move it away"):
        bind(path)
    assert os.lstat(path) == before


def test_a_socket_that_took_our_place_is_not_removed(path: str) -> None:
    bound = bind(path)
    Path(path).rename("moved")
    with listening(path):
        bound.close()

        assert Path(path).is_socket()


def test_a_passed_sockets_path_stays(path: str) -> None:
    bound = passed(listening(path))

    assert (bound.path, bound.identity) == (path, None)
    bound.close()
    assert Path(path).is_socket()


def test_an_overlong_path_is_named_with_its_length() -> None:
    long = "/tmp/" + "ä" * 60

    with pytest.raises(PlaceError, match="has 125 bytes, the kernel takes 107; set LATCHD_RUNTIME_DIR"):
        bind(long)


def test_a_place_that_is_not_there_is_one_line(path: str) -> None:
    with pytest.raises(
        RefusedToStart, match=r"socket `no/s\.sock` can't be bound: no such file or directory"
    ):
        bind(f"no/{path}")
