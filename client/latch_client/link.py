"""A blocking connection to one of the daemon's two sockets: requests out, answers in, one deadline.

Every way it can go wrong is a LinkError whose text is one line and says what to do.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

from latch_client.errors import CommandError
from latch_contracts.errors import BadFrame, BadMessage, WrongVersion
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.places import Places
from latch_contracts.records import Record
from latch_contracts.wire import (
    VERSION,
    Answer,
    End,
    EventSide,
    Fault,
    HookSide,
    Streamed,
    Watch,
    decode_answer,
    encode,
)

# A person waits longer than a hook: a busy daemon answers its hooks first. Seconds.
DEADLINE: Final = 5.0

START_IT: Final = "start it with `latchctl up`"
_CHUNK: Final = 1 << 16

A = TypeVar("A", bound=Answer)


class LinkError(CommandError):
    """The daemon can't be reached, or what it says can't be used."""


class LinkClosed(LinkError):
    """The daemon hung up."""


class Link:
    """One open connection; use it as a context manager. ``seconds`` is for everything done with it."""

    def __init__(self, path: str, *, seconds: float = DEADLINE) -> None:
        _check(path)
        self._seconds = seconds
        self._end: float | None = time.monotonic() + seconds
        self._buffer = FrameBuffer()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._arm()
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise _refused(path, error) from error

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def wait_forever(self) -> None:
        """From here on no deadline: a stream is silent as long as nothing happens."""
        self._end = None

    def send(self, message: HookSide | EventSide) -> None:
        try:
            frame = pack(encode(message))
        except BadFrame as error:
            raise LinkError(f"the request can't be sent: {error}") from error
        self._arm()
        try:
            self._socket.sendall(frame)
        except TimeoutError as error:
            raise self._late() from error
        except OSError as error:
            raise LinkClosed("the daemon closed the connection") from error

    def receive(self) -> Answer:
        """The next answer. A fault is raised as LinkError, with the daemon's own words."""
        try:
            while (message := self._buffer.next()) is None:
                self._buffer.feed(self._read())
            answer = decode_answer(message)
        except WrongVersion as error:
            raise LinkError(
                f"the daemon is another version: {error}; run `latchctl down` and `latchctl up`"
            ) from error
        except (BadFrame, BadMessage) as error:
            raise LinkError(f"the daemon's answer can't be read: {error}") from error
        if isinstance(answer, Fault):
            raise LinkError(f"the daemon refused: {answer.why} ({answer.code})")
        return answer

    def _read(self) -> bytes:
        self._arm()
        try:
            data = self._socket.recv(_CHUNK)
        except TimeoutError as error:
            raise self._late() from error
        except OSError as error:
            raise LinkClosed("the daemon closed the connection") from error
        if not data:
            raise LinkClosed("the daemon closed the connection")
        return data

    def _arm(self) -> None:
        left = None if self._end is None else self._end - time.monotonic()
        if left is not None and left <= 0:
            raise self._late()
        self._socket.settimeout(left)

    def _late(self) -> LinkError:
        return LinkError(f"the daemon did not answer within {self._seconds:g} s; see `latchctl doctor`")


def ask(path: str, request: HookSide | EventSide, answer: type[A], *, seconds: float = DEADLINE) -> A:
    """Send one request and give back its one answer. Raises LinkError."""
    with Link(path, seconds=seconds) as link:
        link.send(request)
        got = link.receive()
    if not isinstance(got, answer):
        raise LinkError("the daemon's answer can't be read: it answers another question")
    return got


def stored(path: str, watch: Watch, *, seconds: float = DEADLINE) -> tuple[list[Record], int]:
    """The records of a Watch that does not follow, and the cursor to go on from. Raises LinkError."""
    records: list[Record] = []
    with Link(path, seconds=seconds) as link:
        link.send(watch)
        while True:
            match link.receive():
                case Streamed(record=record):
                    records.append(record)
                case End(cursor=cursor):
                    return records, cursor
                case _:
                    raise LinkError("the daemon's answer can't be read: it answers another question")


def history(places: Places, *, cursor: int = 0, limit: int = 0) -> list[Record]:
    """The stored records after ``cursor``, in order; with a limit only the newest so many."""
    return stored(places.events_socket, Watch(VERSION, cursor=cursor, follow=False, limit=limit))[0]


def followed(path: str, watch: Watch) -> Iterator[Record]:
    """Records as they come, until the daemon ends the stream. Raises LinkError, LinkClosed at its death."""
    with Link(path) as link:
        link.send(watch)
        link.wait_forever()
        while True:
            match link.receive():
                case Streamed(record=record):
                    yield record
                case End():
                    return
                case _:
                    raise LinkError("the daemon's answer can't be read: it answers another question")


def _check(path: str) -> None:
    """The directory must be ours and the socket a socket: who owns the path answers for the daemon."""
    directory = str(Path(path).parent)
    try:
        owner = os.stat(directory).st_uid  # noqa: PTH116 (one style for both)
        kind = os.stat(path).st_mode  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError) as error:
        raise LinkError(f"the daemon is not running; {START_IT}") from error
    except OSError as error:
        raise LinkError(f"`{path}` can't be looked at: {_words(error)}") from error
    if owner != os.getuid():
        raise LinkError(
            f"`{directory}` belongs to uid {owner}, not to you; "
            "run latchctl as that user, or set LATCHD_RUNTIME_DIR to a directory of yours"
        )
    if not stat.S_ISSOCK(kind):
        raise LinkError(f"`{path}` is no socket; remove it, then {START_IT}")


def _refused(path: str, error: OSError) -> LinkError:
    match error:
        case ConnectionRefusedError() | FileNotFoundError():
            return LinkError(f"the daemon is not running (nobody listens on `{path}`); {START_IT}")
        case TimeoutError() | BlockingIOError():
            return LinkError("the daemon takes no more connections; see `latchctl doctor`")
        case _:
            return LinkError(f"`{path}` can't be connected to: {_words(error)}")


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
