"""Peers that want to hurt: whatever they send, another agent's call is answered before its shim gives up."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

import pytest

from latch_contracts.frames import MAX_FRAME, pack
from latch_contracts.records import FaultRecord, GapRecord
from latch_contracts.wire import (
    VERSION,
    CallView,
    End,
    HookReply,
    HookRequest,
    SessionList,
    Sessions,
    Show,
    Watch,
    encode,
)
from running_daemon import SILENT, Daemon, Talk, daemon, tool

SHIM_SECONDS: Final = 2.0  # how long the shim waits, connect to answer


def answered_in_time(running: Daemon, call: str) -> bool:
    """A call as the shim makes it, with the shim's own deadline."""
    with Talk(running.places.hook_socket) as talk:
        talk.socket.settimeout(SHIM_SECONDS)
        talk.send(running.request("PreToolUse", **tool("ls", call)))
        return talk.receive() == SILENT


@contextlib.contextmanager
def meanwhile(*attacks: Callable[[], object]) -> Generator[None]:
    """The attacks run beside the block, and are over at its end."""
    threads = [threading.Thread(target=attack) for attack in attacks]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()


def request(payload: bytes) -> HookRequest:
    return HookRequest(VERSION, "claudecode", "", "", "/", "", payload)


def reply_to(running: Daemon, payload: bytes) -> HookReply:
    with Talk(running.places.hook_socket) as talk:
        talk.send(request(payload))
        answer = talk.receive()
    assert isinstance(answer, HookReply)
    return answer


def proposal(arguments: bytes) -> bytes:
    head = b'{"hook_event_name":"PreToolUse","session_id":"b","cwd":"/home/dev","tool_name":"mcp__a__b",'
    return head + b'"tool_use_id":"bomb","tool_input":' + arguments + b"}"


ROOM: Final = MAX_FRAME - 400
BOMBS: Final = {
    "numbers": b'{"v":[' + b"1," * (ROOM // 2) + b"1]}",
    "arrays": b'{"v":[' + b"[]," * (ROOM // 3) + b"1]}",
    "deep": b'{"v":' + b"[" * (ROOM // 2) + b"]" * (ROOM // 2) + b"}",
    "giant integer": b'{"v":' + b"1" * ROOM + b"}",
    "giant fraction": b'{"v":1.' + b"1" * ROOM + b"}",
    "equal keys": b"{" + b'"a":1,' * 100_000 + b'"a":1}',
    "distinct keys": b"{" + b",".join(b'"%x":1' % number for number in range(1_200_000)) + b"}",
    "texts just under the bound": b'{"v":[' + b'"/etc/x",' * 99_000 + b'"x"]}',
    "keys just under the bound": b"{" + b",".join(b'"k%x":"/x"' % number for number in range(99_000)) + b"}",
}


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_of_a_payload_costs_another_agent_less_than_its_deadline(root: Path, bomb: bytes) -> None:
    exploded: list[int] = []
    with daemon(root) as running:
        with meanwhile(lambda: exploded.append(reply_to(running, proposal(bomb)).exit_code)):
            in_time = [answered_in_time(running, f"c{number}") for number in range(20)]
        assert in_time == [True] * 20
    assert len(exploded) == 1


def test_the_largest_payload_is_answered_and_one_byte_more_is_not_read(root: Path) -> None:
    empty = len(encode(request(b"x" * (1 << 20)))) - (1 << 20)
    with daemon(root) as running:
        for size in (MAX_FRAME - 1, MAX_FRAME):
            content = b"x" * (size - empty - len(proposal(b'{"content":""}')))
            payload = proposal(b'{"content":"' + content + b'"}')
            assert len(encode(request(payload))) == size
            assert reply_to(running, payload) == SILENT
        with Talk(running.places.hook_socket) as talk:
            talk.socket.sendall((MAX_FRAME + 1).to_bytes(4, "big"))
            assert talk.receive() is None
        assert answered_in_time(running, "after")


def test_a_hundred_clients_at_once_are_all_answered(root: Path) -> None:
    answers: list[HookReply] = []
    with daemon(root) as running:

        def work(number: int) -> None:
            for one in range(5):
                answers.append(running.pre(call=f"c{number}-{one}", session_id=f"s{number}"))

        with meanwhile(*(lambda number=number: work(number) for number in range(100))):
            pass
        records = running.records()

    assert answers == [SILENT] * 500
    assert len({record.call for record in records if record.call}) == 500


def test_loris_half_frames_and_noise_cost_others_nothing(root: Path) -> None:
    noise = random.Random(4711)  # noqa: S311 (the same noise every time)
    with daemon(root) as running:
        with contextlib.ExitStack() as open_talks:
            for number in range(200):
                talk = open_talks.enter_context(Talk(running.places.hook_socket))
                if number % 3 == 0:
                    talk.socket.sendall(MAX_FRAME.to_bytes(4, "big") + b"x" * number)
                elif number % 3 == 1:
                    talk.socket.sendall(b"\0")
            assert answered_in_time(running, "beside 200")
        for _ in range(200):
            with Talk(running.places.hook_socket) as talk, contextlib.suppress(BrokenPipeError):
                talk.socket.sendall(pack(noise.randbytes(noise.randrange(1, 400))))
        assert answered_in_time(running, "after noise")
        assert running.status().health == "ok"


@pytest.mark.slow
def test_ten_thousand_malformed_frames_leave_a_bounded_trace(root: Path) -> None:
    with daemon(root) as running:
        for number in range(10_000):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(running.places.hook_socket)
                peer.sendall(b"\0\0\0\x01\xc1")
                peer.recv(1)
            if number % 2000 == 0:
                assert answered_in_time(running, f"c{number}")
        assert answered_in_time(running, "last")
        watched = running.records()
        running.stop()
    with daemon(root) as again:
        records = again.records()

    # A slow run may see a second minute begin.
    assert sum(isinstance(record, FaultRecord) for record in watched) <= 60 * 5
    gaps = [record for record in records if isinstance(record, GapRecord)]
    faults = [record for record in records if isinstance(record, FaultRecord)]
    assert {gap.what for gap in gaps} == {"faults"}
    assert sum(gap.count for gap in gaps) + len(faults) == 10_000


def test_absurd_questions_are_answered_or_end_their_connection(root: Path) -> None:
    with daemon(root) as running:
        running.pre()
        for watch in (
            Watch(VERSION, cursor=2**64 - 1, follow=False, limit=2**64 - 1),
            Watch(VERSION, cursor=-(2**63), follow=False, limit=-(2**63)),
            Watch(VERSION, cursor=2**62, follow=False, kinds=["x" * 100_000] * 20, connectors=[""]),
        ):
            with Talk(running.places.events_socket) as talk:
                talk.send(watch)
                assert isinstance(talk.receive(), End)
        with Talk(running.places.events_socket) as talk:
            talk.send(Show(VERSION, "x" * (1 << 20)))
            view = talk.receive()
            talk.send(Sessions(VERSION, limit=-(2**63)))
            listed = talk.receive()
        assert isinstance(view, CallView)
        assert (len(view.call_id) <= 200, view.records) == (True, [])
        assert isinstance(listed, SessionList)
        assert running.status().counters.get("refused_internal", 0) == 0


def test_one_id_used_without_end_can_still_be_shown(root: Path) -> None:
    with daemon(root) as running:
        with Talk(running.places.hook_socket) as talk:
            for number in range(400):
                talk.send(running.request("PreToolUse", **tool(f"echo {number}", "c1")))
                assert talk.receive() == SILENT
        with Talk(running.places.events_socket) as talk:
            talk.send(Show(VERSION, "c1"))
            view = talk.receive()

    assert isinstance(view, CallView)
    assert (len(view.records), view.records[-1].seq > 400) == (256, True)


def test_a_pipe_where_a_payload_points_holds_nobody_up(root: Path) -> None:
    with daemon(root) as running:
        os.mkfifo(running.project / ".latchd.toml")
        denied = running.pre(call="c1")
        changed = running.hook("ConfigChange", source="x", file_path=str(running.project / ".latchd.toml"))
        endless = running.hook("ConfigChange", source="x", file_path="/dev/zero")
        (running.project / ".latchd.toml").unlink()

        assert (b"is not a regular file" in denied.stderr, changed, endless) == (True, SILENT, SILENT)
        assert answered_in_time(running, "c2")
        assert json.loads(denied.stdout) != {}
