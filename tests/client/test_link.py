"""Talking to the daemon, and every way it can go wrong."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from latch_client.link import LinkClosed, LinkError, ask, followed, history, stored
from latch_contracts.frames import MAX_FRAME, pack
from latch_contracts.places import Places
from latch_contracts.records import HealthRecord
from latch_contracts.wire import (
    VERSION,
    Answer,
    End,
    Fault,
    HookReply,
    HookRequest,
    SessionList,
    Status,
    StatusRequest,
    Streamed,
    Watch,
)
from wire_server import places_in, serving

STATUS = Status(VERSION, "0.1.0", 7, 0, "ok", [], "balanced", "0" * 16, {})
STARTED = HealthRecord(seq=1, at_ms=1000, health="ok", note="started")
STOPPED = HealthRecord(seq=2, at_ms=2000, health="ok", note="stopped")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def failure(action: Callable[[], object]) -> str:
    with pytest.raises(LinkError) as caught:
        action()
    return str(caught.value)


def ask_status(places: Places) -> Status:
    return ask(places.events_socket, StatusRequest(VERSION), Status)


def test_a_question_gets_its_answer(places: Places) -> None:
    with serving(places, lambda _: [STATUS]) as server:
        answer = ask_status(places)

    assert (answer, server.requests) == (STATUS, [StatusRequest(VERSION)])


def test_stored_records_come_with_the_cursor_to_go_on_from(places: Places) -> None:
    answers: list[Answer | bytes] = [Streamed(VERSION, STARTED), Streamed(VERSION, STOPPED), End(VERSION, 2)]
    with serving(places, lambda _: answers):
        got = stored(places.events_socket, Watch(VERSION, cursor=0, follow=False))

    assert got == ([STARTED, STOPPED], 2)


def test_history_asks_for_the_newest_after_a_cursor(places: Places) -> None:
    with serving(places, lambda _: [Streamed(VERSION, STOPPED), End(VERSION, 2)]) as server:
        records = history(places, cursor=1, limit=5)

    assert (records, server.requests) == ([STOPPED], [Watch(VERSION, cursor=1, follow=False, limit=5)])


def test_a_followed_stream_ends_where_the_daemon_ends_it(places: Places) -> None:
    with serving(places, lambda _: [Streamed(VERSION, STARTED), End(VERSION, 1)]):
        assert list(followed(places.events_socket, Watch(VERSION))) == [STARTED]


def test_a_stream_that_breaks_is_told_after_what_came(places: Places) -> None:
    with serving(places, lambda _: [Streamed(VERSION, STARTED)]):
        stream = followed(places.events_socket, Watch(VERSION))

        assert next(stream) == STARTED
        with pytest.raises(LinkClosed, match=r"^the daemon closed the connection$"):
            next(stream)


def test_a_missing_socket_says_how_to_start_the_daemon(places: Places) -> None:
    assert failure(lambda: ask_status(places)) == "the daemon is not running; start it with `latchctl up`"


def test_a_missing_runtime_directory_says_the_same(places: Places) -> None:
    Path(places.runtime).rmdir()

    assert failure(lambda: ask_status(places)) == "the daemon is not running; start it with `latchctl up`"


def test_a_file_in_the_socket_s_place_is_named(places: Places) -> None:
    Path(places.events_socket).touch()

    assert failure(lambda: ask_status(places)) == (
        f"`{places.events_socket}` is no socket; remove it, then start it with `latchctl up`"
    )


def test_a_socket_that_nobody_listens_on_is_told_apart(places: Places) -> None:
    with socket.socket(socket.AF_UNIX) as left_over:
        left_over.bind(places.events_socket)

    assert failure(lambda: ask_status(places)) == (
        f"the daemon is not running (nobody listens on `{places.events_socket}`); start it with `latchctl up`"
    )


def test_another_users_runtime_directory_is_refused(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.getuid()
    with serving(places, lambda _: [STATUS]) as server:
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
        why = failure(lambda: ask_status(places))

    assert (why, server.requests) == (
        f"`{places.runtime}` belongs to uid {owner}, not to you; "
        "run latchctl as that user, or set LATCHD_RUNTIME_DIR to a directory of yours",
        [],
    )


def test_a_daemon_of_another_version_is_to_be_restarted(places: Places) -> None:
    with serving(places, lambda _: [msgspec.structs.replace(STATUS, version=2)]):
        assert failure(lambda: ask_status(places)) == (
            "the daemon is another version: protocol version 2, this side speaks 1; "
            "run `latchctl down` and `latchctl up`"
        )


def test_a_fault_is_told_in_the_daemons_words(places: Places) -> None:
    with serving(places, lambda _: [Fault(VERSION, "busy", "too many watchers")]):
        assert failure(lambda: ask_status(places)) == "the daemon refused: too many watchers (busy)"


def test_a_daemon_that_hangs_up_is_told(places: Places) -> None:
    with serving(places, lambda _: []):
        assert failure(lambda: ask_status(places)) == "the daemon closed the connection"


def test_a_daemon_that_says_nothing_meets_the_deadline(places: Places) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(places.events_socket)
        silent.listen()

        assert (
            failure(lambda: ask(places.events_socket, StatusRequest(VERSION), Status, seconds=0.05))
            == "the daemon did not answer within 0.05 s; see `latchctl doctor`"
        )


def test_an_answer_to_another_question_is_refused(places: Places) -> None:
    with serving(places, lambda _: [SessionList(VERSION, [])]):
        assert failure(lambda: ask_status(places)) == (
            "the daemon's answer can't be read: it answers another question"
        )


@pytest.mark.parametrize("answer", [pack(b"\xc1"), b"\0\0\0\0", b"\xff\xff\xff\xff"])
def test_bytes_that_are_no_answer_are_refused(places: Places, answer: bytes) -> None:
    with serving(places, lambda _: [answer]):
        assert failure(lambda: ask_status(places)).startswith("the daemon's answer can't be read: ")


def test_a_request_that_fits_no_frame_is_not_sent(places: Places) -> None:
    request = HookRequest(VERSION, "claudecode", "", "", "/", "", bytes(MAX_FRAME))
    with serving(places, lambda _: []) as server:
        why = failure(lambda: ask(places.hook_socket, request, HookReply))

    assert why.startswith("the request can't be sent: frame of ")
    assert server.requests == []
