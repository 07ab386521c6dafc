"""Messages and their bytes, read whole, byte by byte, with more behind, too long and cut short."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.errors import BadFrame
from latch_contracts.frames import MAX_FRAME, PREFIX, FrameBuffer, pack

FRAMES: Final = [
    (b"x", b"\0\0\0\x01x"),
    (b"\0\0\0\0", b"\0\0\0\x04\0\0\0\0"),
    (b"hello\nworld", b"\0\0\0\x0bhello\nworld"),
    (b"z" * 300, b"\0\0\x01\x2c" + b"z" * 300),
]


def _messages(frames: FrameBuffer) -> list[bytes]:
    found: list[bytes] = []
    while (message := frames.next()) is not None:
        found.append(message)
    return found


@pytest.mark.parametrize(("message", "frame"), FRAMES)
def test_a_message_is_its_length_and_itself(message: bytes, frame: bytes) -> None:
    assert pack(message) == frame


@pytest.mark.parametrize(("message", "frame"), FRAMES)
def test_a_whole_frame_is_one_message(message: bytes, frame: bytes) -> None:
    frames = FrameBuffer()
    frames.feed(frame)

    assert (_messages(frames), len(frames)) == ([message], 0)


@pytest.mark.parametrize(("message", "frame"), FRAMES)
def test_a_frame_byte_by_byte_is_a_message_only_at_its_last_byte(message: bytes, frame: bytes) -> None:
    frames = FrameBuffer()
    for byte in frame[:-1]:
        frames.feed(bytes([byte]))
        assert frames.next() is None
    frames.feed(frame[-1:])

    assert _messages(frames) == [message]


@pytest.mark.parametrize(("message", "frame"), FRAMES)
def test_bytes_behind_a_frame_wait_for_their_own(message: bytes, frame: bytes) -> None:
    frames = FrameBuffer()
    frames.feed(frame + b"\0\0\0\x02a")

    assert (_messages(frames), len(frames)) == ([message], 5)
    frames.feed(b"b" + frame)
    assert (_messages(frames), len(frames)) == ([b"ab", message], 0)


@pytest.mark.parametrize(("message", "frame"), FRAMES)
def test_a_frame_cut_short_is_no_message_and_its_bytes_are_counted(message: bytes, frame: bytes) -> None:
    for end in range(len(frame)):
        frames = FrameBuffer()
        frames.feed(frame[:end])
        assert (frames.next(), len(frames)) == (None, end)


def test_the_longest_frame_is_taken() -> None:
    longest = b"m" * MAX_FRAME
    frames = FrameBuffer()
    frames.feed(pack(longest))

    assert frames.next() == longest


@pytest.mark.parametrize("size", [0, MAX_FRAME + 1, 2**32 - 1])
def test_a_length_that_can_not_be_honoured_is_refused_before_the_body_comes(size: int) -> None:
    frames = FrameBuffer()
    with pytest.raises(BadFrame):
        frames.feed(size.to_bytes(PREFIX, "big"))


def test_a_bad_length_behind_a_good_frame_is_refused_once_the_good_one_was_taken() -> None:
    frames = FrameBuffer()
    frames.feed(pack(b"good") + b"\xff\xff\xff\xff")

    assert frames.next() == b"good"
    with pytest.raises(BadFrame, match="frame of 4294967295 bytes is over the limit of 16777216"):
        frames.next()


@pytest.mark.parametrize(
    ("message", "error"),
    [(b"", "a frame can't be empty"), (b"m" * (MAX_FRAME + 1), "is over the limit of 16777216")],
    ids=["empty", "too long"],
)
def test_what_no_reader_would_take_is_not_packed(message: bytes, error: str) -> None:
    with pytest.raises(BadFrame, match=error):
        pack(message)


@given(messages=st.lists(st.binary(min_size=1, max_size=40), max_size=6), cuts=st.lists(st.integers(0, 240)))
def test_however_a_stream_is_cut_the_same_messages_come_out(messages: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(pack(message) for message in messages)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    frames = FrameBuffer()
    found: list[bytes] = []
    for start, end in pairwise(edges):
        frames.feed(stream[start:end])
        found += _messages(frames)

    assert found == messages
