"""A real daemon with real sockets: what it keeps through a crash, and what no client can do to another."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from latch_contracts.outcome import State
from latch_contracts.records import (
    DenialRecord,
    FaultRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    OutcomeRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, Status, StatusRequest, Streamed, Watch
from running_daemon import SILENT, Daemon, Talk, daemon, places, tool


def verdicts(records: list[Record]) -> list[tuple[str, Action]]:
    return [(record.call, record.action) for record in records if isinstance(record, VerdictRecord)]


def test_an_acknowledged_decision_is_there_after_a_crash(root: Path) -> None:
    with daemon(root) as first:
        allowed, denied = first.pre("git status", "c1"), first.pre("rm -rf /", "c2")
        before = first.records()
        first.kill()
    with daemon(root) as second:
        after = second.records()

    assert (allowed, denied.exit_code, denied.stdout != b"") == (SILENT, 2, True)
    assert verdicts(after) == [("c1", Action.ALLOW), ("c2", Action.DENY)]
    assert [record.call for record in after if isinstance(record, DenialRecord)] == ["c2"]
    assert after[: len(before)] == before


def test_a_call_pending_through_a_crash_is_promoted_by_its_result(root: Path) -> None:
    with daemon(root) as first:
        first.pre("git status", "c1")
        first.kill()
    with daemon(root) as second:
        reply = second.post("git status", "c1")
        outcome = next(record for record in second.records() if isinstance(record, OutcomeRecord))

    assert reply == SILENT
    assert (outcome.before, outcome.after, outcome.step) == (State.PENDING, State.SUCCEEDED, outcome.seq)


def test_garbage_ends_its_own_connection_alone(root: Path) -> None:
    with daemon(root) as running:
        for wire in (bytes(4), b"GET / HTTP/1.0\r\n\r\n", b"\0\0\0\x01\xc1", b"\xff\xff\xff\xff"):
            with Talk(running.places.hook_socket) as bad:
                bad.socket.sendall(wire)

                assert bad.receive() is None
            assert running.pre(call=f"after {wire!r}") == SILENT
        faults = [record.code for record in running.records() if isinstance(record, FaultRecord)]

    assert faults == ["bad-frame", "bad-frame", "bad-message", "bad-frame"]


def test_nothing_on_the_event_socket_changes_anything(root: Path) -> None:
    with daemon(root) as running:
        running.pre("git status", "c1")
        with Talk(running.places.events_socket) as talk:
            talk.send(running.request("PostToolUse", **tool("git status", "c1")))

            assert talk.receive() is None
        records = running.records()

    assert [record for record in records if isinstance(record, OutcomeRecord)] == []
    assert [record.code for record in records if isinstance(record, FaultRecord)] == ["bad-message"]


@pytest.mark.slow
def test_a_tailer_that_does_not_read_costs_nobody_anything_and_is_told_what_it_missed(root: Path) -> None:
    with daemon(root) as running:
        with Talk(running.places.events_socket) as slow, Talk(running.places.events_socket) as quick:
            slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for watcher in (slow, quick):
                watcher.send(Watch(VERSION, cursor=0, kinds=["verdict"]))
            with Talk(running.places.hook_socket) as hook:
                for number in range(1800):
                    hook.send(running.request("PreToolUse", **tool("git status", f"c{number}")))

                    assert hook.receive() == SILENT
                    streamed = quick.receive()
                    assert isinstance(streamed, Streamed)
                    assert streamed.record.call == f"c{number}"
            got: list[Record] = []
            while not got or not isinstance(got[-1], GapRecord):
                streamed = slow.receive()
                assert isinstance(streamed, Streamed)
                got.append(streamed.record)
        missed = running.records(cursor=got[-2].seq)

    gap = got[-1]
    assert isinstance(gap, GapRecord)
    assert [record.call for record in got[:-1]] == [f"c{number}" for number in range(len(got) - 1)]
    assert gap.count == len([record for record in missed if isinstance(record, VerdictRecord)])
    assert (gap.what, gap.to_seq) == ("subscriber", verdict_seqs(missed)[-1])


def verdict_seqs(records: list[Record]) -> list[int]:
    return [record.seq for record in records if isinstance(record, VerdictRecord)]


def test_a_stderr_that_nobody_reads_stops_no_decision(root: Path) -> None:
    with daemon(root, "--log-level", "debug") as running:
        for number in range(300):  # a pipe holds 64 KiB, this makes more
            assert running.pre("git status", f"c{number}") == SILENT

        assert running.stop() == 0


def test_a_person_sees_every_decision_as_one_line(root: Path) -> None:
    with daemon(root, "--log-format", "human") as running:
        running.pre("git status", "c1")
        running.pre("rm -rf /", "c2")
        running.stop()
    shown = [line.split(maxsplit=4)[1:4] for line in running.said if "Bash" in line]

    assert shown == [["allow", "Bash", "git"], ["deny", "Bash", "rm"]]


def test_it_ends_in_peace_and_takes_its_sockets_with_it(root: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with daemon(root) as running:
            running.pre()
            code = running.stop(number)

        assert (code, sorted(path.name for path in Path(running.places.runtime).iterdir())) == (
            0,
            ["latchd.lock"],
        )
    with daemon(root) as last:
        health = [record.note.split()[-1] for record in last.records() if isinstance(record, HealthRecord)]
    assert health == ["started", "stopped", "started", "stopped", "started"]


def test_an_edited_policy_holds_after_a_hangup_and_a_broken_one_does_not(root: Path) -> None:
    config = Path(places(root).config)
    config.mkdir(parents=True)
    with daemon(root) as running:
        profiles = [running.status().profile]
        for text in ('profile = "strict"', 'profile = "lax"'):
            (config / "config.toml").write_text(text)
            with Talk(running.places.events_socket) as watcher:
                watcher.send(Watch(VERSION, cursor=-1, kinds=["lifecycle", "fault"]))
                settle(running)
                running.process.send_signal(signal.SIGHUP)
                streamed = watcher.receive()
            assert isinstance(streamed, Streamed)
            assert isinstance(streamed.record, LifecycleRecord if "strict" in text else FaultRecord)
            profiles.append(running.status().profile)

    assert profiles == ["balanced", "strict", "strict"]


def settle(running: Daemon) -> None:
    """The daemon has read what was sent to it before: it answers in the order that things came."""
    with Talk(running.places.hook_socket) as talk:
        talk.send(StatusRequest(VERSION))
        assert isinstance(talk.receive(), Status)


def test_what_shims_spooled_is_told_at_the_next_start(root: Path) -> None:
    state = Path(places(root).state)
    state.mkdir(mode=0o700)
    line = '{"v":1,"connector":"claudecode","event":"PreToolUse","why":"no-daemon","pid":7,"size":9}\n'
    (state / "spool.jsonl").write_text(line * 3 + "junk\n")
    with daemon(root) as running:
        gaps = [record for record in running.records() if isinstance(record, GapRecord)]

    assert [(gap.what, gap.count, gap.detail) for gap in gaps] == [
        ("unreachable", 3, "claudecode PreToolUse: no-daemon"),
        ("unreachable", 1, "lines of the spool that can't be read"),
    ]
    assert not (state / "spool.jsonl").exists()


def test_a_required_token_lets_in_only_who_brings_it(root: Path) -> None:
    config = Path(places(root).config)
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[hook]\nrequire_token = true\n")
    with daemon(root) as running:
        token = Path(running.places.token)
        mode = token.stat().st_mode & 0o777
        without = running.pre(call="c1")
        wrong = running.hook("PreToolUse", token="0" * 64, **tool("git status", "c2"))
        right = running.hook("PreToolUse", token=token.read_text(), **tool("git status", "c3"))

    assert (mode, without.exit_code, wrong.exit_code, right) == (0o600, 2, 2, SILENT)
