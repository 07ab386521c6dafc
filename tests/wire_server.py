"""A daemon's two sockets for client tests: real Unix sockets, answers written by the test.

Each connection brings one request. What the test's function gives for it is sent; after that the
connection is closed, as a daemon that dies would close it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import pytest

from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.places import Places
from latch_contracts.wire import Answer, EventSide, HookSide, decode_event_side, decode_hook_side, encode

Request = HookSide | EventSide
Answers = Callable[[Request], Iterable[Answer | bytes]]  # bytes go out as they are, framed by the test


class WireServer:
    """Listens until closed; ``requests`` are what came, in order."""

    def __init__(self, places: Places, answers: Answers) -> None:
        self.requests: list[Request] = []
        self._answers = answers
        self._listeners: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        for path in (places.hook_socket, places.events_socket):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(path)
            listener.listen()
            self._listeners.append(listener)
            decode: Callable[[bytes], Request] = (
                decode_hook_side if path == places.hook_socket else decode_event_side
            )
            thread = threading.Thread(target=self._serve, args=(listener, decode))
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for listener in self._listeners:
            listener.close()

    def _serve(self, listener: socket.socket, decode: Callable[[bytes], Request]) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                self._answer(connection, decode)

    def _answer(self, connection: socket.socket, decode: Callable[[bytes], Request]) -> None:
        buffer = FrameBuffer()
        while (message := buffer.next()) is None:
            data = connection.recv(1 << 16)
            if not data:
                return
            buffer.feed(data)
        request = decode(message)
        self.requests.append(request)
        for answer in self._answers(request):
            connection.sendall(answer if isinstance(answer, bytes) else pack(encode(answer)))


@contextmanager
def serving(places: Places, answers: Answers) -> Generator[WireServer]:
    server = WireServer(places, answers)
    try:
        yield server
    finally:
        server.close()


def places_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Places below ``root``, which latchctl finds too."""
    places = Places(runtime=f"{root}/run", state=f"{root}/state", config=f"{root}/config")
    for directory in (places.runtime, places.state, places.config):
        Path(directory).mkdir(mode=0o700)
    monkeypatch.setenv("LATCHD_RUNTIME_DIR", places.runtime)
    monkeypatch.setenv("LATCHD_STATE_DIR", places.state)
    monkeypatch.setenv("LATCHD_CONFIG_DIR", places.config)
    return places
