"""What breaks under a real daemon: the disk, the lock, the file itself. None of it is a pass."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

import foreign
from latch_contracts.records import DenialRecord, GapRecord, HealthRecord, Record, VerdictRecord
from latch_contracts.verdict import Action
from running_daemon import SILENT, daemon, places, refused

UNWRITABLE = b"[floor.record-unwritable]"


def calls(records: list[Record], action: Action) -> list[str]:
    return [
        record.call for record in records if isinstance(record, VerdictRecord) and record.action is action
    ]


def test_a_full_disk_refuses_every_call_until_there_is_room(root: Path) -> None:
    with daemon(root) as running:
        assert running.pre(call="before") == SILENT
        pid = running.process.pid
        # A limit on file size is what a full disk is, for one process.
        soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, hard))
        full = [running.pre(call=f"full-{number}") for number in range(5)]
        ill = running.status()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
        after = running.pre(call="after")
        well = running.status()
        records = running.records()

    assert {(reply.exit_code, UNWRITABLE in reply.stderr) for reply in full} == {(2, True)}
    assert (ill.health, after, well.health) == ("degraded", SILENT, "ok")
    assert calls(records, Action.ALLOW) == ["before", "after"]
    assert [(one.what, one.count) for one in records if isinstance(one, GapRecord)] == [("unrecorded", 5)]


def test_a_lock_that_another_process_holds_costs_refusals_and_no_hang(root: Path) -> None:
    with daemon(root) as running:
        with foreign.holding(running.places.database):
            held = [running.pre(call=f"held-{number}") for number in range(3)]
            stopped = running.hook("Stop")
        after = running.pre(call="after")
        records = running.records()

    assert {UNWRITABLE in reply.stderr for reply in held} == {True}
    assert (stopped, after, calls(records, Action.ALLOW)) == (SILENT, SILENT, ["after"])


def test_a_database_that_is_removed_is_missed_at_once_and_replaced(root: Path) -> None:
    with daemon(root) as running:
        running.pre(call="lost")
        Path(running.places.database).unlink()
        refused_reply = running.pre(call="refused")

        assert UNWRITABLE in refused_reply.stderr
        assert running.status().health == "degraded"


@pytest.mark.parametrize("junk", [b"not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_corrupt_database_is_moved_aside_and_a_record_says_where(root: Path, junk: bytes) -> None:
    Path(places(root).state).mkdir(mode=0o700)
    Path(places(root).database).write_bytes(junk)
    with daemon(root) as running:
        reply, status = running.pre(), running.status()
        health = [record for record in running.records() if isinstance(record, HealthRecord)]

    aside = f"{running.places.database}.corrupt-1"
    assert (reply, status.health, Path(aside).read_bytes()) == (SILENT, "degraded", junk)
    assert (health[0].health, f"moved aside to `{aside}`" in health[0].note) == ("degraded", True)


@pytest.mark.skipif(os.getuid() == 0, reason="root may rename in a read-only directory")
def test_a_corrupt_database_in_a_read_only_directory_is_one_line(root: Path) -> None:
    state = Path(places(root).state)
    state.mkdir(mode=0o700)
    Path(places(root).database).write_bytes(b"junk" * 4000)
    state.chmod(0o500)
    code, said = refused(root)
    state.chmod(0o700)

    assert (code, len(said)) == (1, 1)


def test_a_refusal_is_a_refusal_while_nothing_can_be_written(root: Path) -> None:
    config = Path(places(root).config)
    config.mkdir(parents=True)
    (config / "config.toml").write_text('fail = "open"')
    with daemon(root) as running:
        with foreign.holding(running.places.database):
            allowed, denied = running.pre("git status", "c1"), running.pre("rm -rf ~", "c2")
        running.pre(call="c3")
        records = running.records()

    assert (allowed, denied.exit_code) == (SILENT, 2)
    assert [record.call for record in records if isinstance(record, DenialRecord)] == []
    assert [(one.count, one.detail) for one in records if isinstance(one, GapRecord)] == [
        (1, "proposals that were let through"),
        (1, "proposals, all refused"),
    ]
