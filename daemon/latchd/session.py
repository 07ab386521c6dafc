"""One connection, without its socket: bytes in, requests out, answers to bytes.

Everything that moves a connection from one state to another is in HOOK_SIDE and EVENT_SIDE. Requests
are handed out one at a time: the next one waits until the last was answered, so answers are in order.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

import msgspec

from latch_contracts.errors import BadFrame, BadMessage, WrongVersion
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.wire import (
    VERSION,
    Answer,
    EventSide,
    Fault,
    HookSide,
    Watch,
    decode_event_side,
    decode_hook_side,
    encode,
)


class State(enum.StrEnum):
    """Where one connection stands."""

    READY = "ready"  # waits for a request
    ANSWERING = "answering"  # owes the answer to one
    STREAMING = "streaming"  # sends records until one side ends it
    CLOSED = "closed"


class Signal(enum.StrEnum):
    """What can happen to a connection."""

    REQUEST = "request"
    WATCH = "watch"
    ANSWER = "answer"
    RECORD = "record"
    END = "end"
    REFUSAL = "refusal"  # bytes that are no request of this side
    GONE = "gone"  # the peer hung up, or was too slow


Table = Mapping[State, Mapping[Signal, State]]

HOOK_SIDE: Final[Table] = {
    State.READY: {
        Signal.REQUEST: State.ANSWERING,
        Signal.REFUSAL: State.CLOSED,
        Signal.GONE: State.CLOSED,
    },
    State.ANSWERING: {Signal.ANSWER: State.READY, Signal.GONE: State.CLOSED},
    State.STREAMING: {},
    State.CLOSED: {},
}

EVENT_SIDE: Final[Table] = {
    State.READY: {
        Signal.REQUEST: State.ANSWERING,
        Signal.WATCH: State.STREAMING,
        Signal.REFUSAL: State.CLOSED,
        Signal.GONE: State.CLOSED,
    },
    State.ANSWERING: {Signal.ANSWER: State.READY, Signal.GONE: State.CLOSED},
    State.STREAMING: {
        Signal.RECORD: State.STREAMING,
        Signal.END: State.CLOSED,
        Signal.REFUSAL: State.CLOSED,  # a stream's reader has nothing left to say
        Signal.GONE: State.CLOSED,
    },
    State.CLOSED: {},
}


class SessionError(Exception):
    """We ourselves did what the table has no place for; never a peer's doing."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a connection ends. ``farewell`` is a whole frame to send first, b"" for none.

    ``code`` is a fault record's, ``detail`` holds nothing of what was sent.
    """

    code: str
    detail: str
    farewell: bytes = b""


R = TypeVar("R", bound=HookSide | EventSide)


class Session(Generic[R]):
    """Bytes come in by ``receive``, requests go out of ``next``, answers become bytes in ``send``."""

    def __init__(self, table: Table, decode: Callable[[bytes], R]) -> None:
        self._table = table
        self._decode = decode
        self._buffer = FrameBuffer()
        self._broken: BadFrame | None = None
        self.state = State.READY
        self.has_answered = False

    @property
    def is_between_requests(self) -> bool:
        """Nothing is owed and nothing has been begun: this is the moment to close in peace."""
        return self.state is State.READY and len(self._buffer) == 0

    @property
    def announced(self) -> int:
        """Bytes that the request under way will have; 0 while that is not known, or when it can't be read."""
        return 0 if self._broken is not None else self._buffer.announced

    def receive(self, data: bytes) -> None:
        """Take bytes. What is wrong with them is told by ``next``, after the good ones before them."""
        if self._broken is not None:
            return
        try:
            self._buffer.feed(data)
        except BadFrame as error:
            self._broken = error

    def next(self) -> R | Refusal | None:
        """The next request, or why there will be none, or None until more bytes or an answer came."""
        if self.state is State.STREAMING and (len(self._buffer) or self._broken is not None):
            self._move(Signal.REFUSAL)
            return Refusal("bad-message", "a request came while records were streaming")
        if self.state is not State.READY:
            return None
        try:
            if self._broken is not None:
                raise self._broken
            message = self._buffer.next()
            if message is None:
                return None
            request = self._decode(message)
        except BadFrame as error:
            self._move(Signal.REFUSAL)
            return Refusal("bad-frame", str(error))
        except BadMessage:
            # Its text quotes the decoder, who may quote the message.
            self._move(Signal.REFUSAL)
            return Refusal("bad-message", "a frame held no message that this socket takes")
        except WrongVersion as error:
            self._move(Signal.REFUSAL)
            farewell = Fault(VERSION, "wrong-version", f"{error}; upgrade latchd and its hooks together")
            return Refusal("wrong-version", str(error), pack(encode(farewell)))
        self._move(Signal.WATCH if isinstance(request, Watch) else Signal.REQUEST)
        return request

    def answer(self, answer: Answer) -> bytes:
        """The frame of the answer that is owed."""
        self.has_answered = True
        return self._send(Signal.ANSWER, answer)

    def record(self, answer: Answer) -> bytes:
        """The frame of one more record of a stream."""
        return self._send(Signal.RECORD, answer)

    def end(self, answer: Answer) -> bytes:
        """The frame that ends a stream."""
        return self._send(Signal.END, answer)

    def gone(self) -> Refusal | None:
        """The peer hung up. A request that was cut short is worth a fault; a quiet end is not."""
        begun = self.state is State.READY and len(self._buffer) > 0
        if self.state is not State.CLOSED:
            self._move(Signal.GONE)
        return Refusal("cut-short", "a connection ended inside a request") if begun else None

    def _send(self, signal: Signal, answer: Answer) -> bytes:
        frame = pack(encode(answer))
        self._move(signal)
        return frame

    def _move(self, signal: Signal) -> None:
        try:
            self.state = self._table[self.state][signal]
        except KeyError:
            raise SessionError(f"`{signal}` has no place in state `{self.state}`") from None


def hook_session() -> Session[HookSide]:
    return Session(HOOK_SIDE, decode_hook_side)


def event_session() -> Session[EventSide]:
    return Session(EVENT_SIDE, decode_event_side)
