"""Frames on the Unix sockets: a 4-byte big-endian length, then that many bytes.

Pure: bytes in, messages out. What the bytes mean is :mod:`latch_contracts.wire`'s business.
"""

from __future__ import annotations

from typing import Final

from latch_contracts.errors import BadFrame

PREFIX: Final = 4

# Agents send whole file contents, Claude Code twice after a write (1.5 MB written = a 3.0 MB
# payload, seen live), so the limit is on abuse, not on size. Analysis has limits of its own.
MAX_FRAME: Final = 16 * 1024 * 1024


def pack(message: bytes) -> bytes:
    """One message as a frame. Raises BadFrame when it is empty or over MAX_FRAME bytes."""
    _check(len(message))
    return len(message).to_bytes(PREFIX, "big") + message


class FrameBuffer:
    """Collects bytes as they come and gives back whole messages.

    A length that can't be honoured raises BadFrame as soon as its four bytes are here, before
    any of the body is read; the buffer is useless after that.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        """Bytes that wait for the rest of their frame."""
        return len(self._bytes)

    @property
    def announced(self) -> int:
        """Bytes that the frame under way will have; 0 while that is not known."""
        return self._size() or 0

    def feed(self, data: bytes) -> None:
        self._bytes += data
        self._size()

    def next(self) -> bytes | None:
        """The next whole message, or None until more bytes come."""
        size = self._size()
        if size is None or len(self._bytes) < PREFIX + size:
            return None
        message = bytes(self._bytes[PREFIX : PREFIX + size])
        del self._bytes[: PREFIX + size]
        return message

    def _size(self) -> int | None:
        if len(self._bytes) < PREFIX:
            return None
        size = int.from_bytes(self._bytes[:PREFIX], "big")
        _check(size)
        return size


def _check(size: int) -> None:
    if size == 0:
        raise BadFrame("a frame can't be empty")
    if size > MAX_FRAME:
        raise BadFrame(f"frame of {size} bytes is over the limit of {MAX_FRAME}")
