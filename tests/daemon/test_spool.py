"""What shims wrote while nobody answered becomes gaps, once, whatever else is in the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from doubles import FakeEngine
from latch_contracts.records import GapRecord
from latchd.spool import MAX_BYTES, MAX_KINDS, collect


def line(why: str, event: str = "PreToolUse", **members: object) -> str:
    return json.dumps({"v": 1, "connector": "claudecode", "event": event, "why": why} | members) + "\n"


def test_lines_become_one_gap_per_kind_with_their_count(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_text(
        line("no-daemon", pid=1, size=9) + line("too-large") + line("no-daemon") + line("timeout", "")
    )
    engine = FakeEngine()

    assert collect(str(spool), engine) == [
        GapRecord(seq=1, what="unreachable", count=2, detail="claudecode PreToolUse: no-daemon"),
        GapRecord(seq=2, what="oversize", count=1, detail="claudecode PreToolUse: too-large"),
        GapRecord(seq=3, what="unreachable", count=1, detail="claudecode proposal: timeout"),
    ]
    assert (list(tmp_path.iterdir()), collect(str(spool), engine)) == ([], [])


@pytest.mark.parametrize(
    "junk",
    [b"not json\n", b"{}\n", b'{"v":1}\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"\n", b'{"v":1,"connec'],
)
def test_junk_is_counted_and_hides_no_good_line(tmp_path: Path, junk: bytes) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(junk + b"\n" * (not junk.endswith(b"\n")) + line("no-daemon").encode())

    assert collect(str(spool), FakeEngine()) == [
        GapRecord(seq=1, what="unreachable", count=1, detail="claudecode PreToolUse: no-daemon"),
        GapRecord(seq=2, what="unreachable", count=1, detail="lines of the spool that can't be read"),
    ]


def test_a_spool_over_its_bound_is_cut_and_says_so(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    one = line("no-daemon")
    spool.write_text(one * (MAX_BYTES // len(one) + 10))

    records = collect(str(spool), FakeEngine())

    assert records[-1] == GapRecord(
        seq=len(records), what="unreachable", count=1, detail="the spool was longer than it may be; cut"
    )
    assert list(tmp_path.iterdir()) == []


def test_control_characters_do_not_reach_a_record(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_text(line("no-daemon: \u001b[2J " + "x" * 999))
    (record,) = collect(str(spool), FakeEngine())

    assert isinstance(record, GapRecord)
    assert (record.detail.isprintable(), 190 < len(record.detail.encode()) <= 200) == (True, True)


def test_kinds_of_line_without_end_are_told_in_one_gap_more_than_the_bound(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_text("".join(line(f"why-{number}") for number in range(MAX_KINDS + 300)))
    records = collect(str(spool), FakeEngine())

    assert len(records) == MAX_KINDS + 1
    assert records[-1] == GapRecord(
        seq=MAX_KINDS + 1,
        what="unreachable",
        count=300,
        detail="more kinds of line than are told one by one",
    )


def test_what_looks_like_a_secret_in_a_spool_is_masked(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_text(line("API_TOKEN=zq81hh2kd9"))
    (record,) = collect(str(spool), FakeEngine())

    assert "zq81hh2kd9" not in str(record)


def test_a_store_that_can_not_take_it_leaves_the_spool(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_text(line("no-daemon"))
    engine = FakeEngine()
    engine.store_is_full = True
    lost = collect(str(spool), engine)
    engine.store_is_full = False

    assert lost == []
    spool.write_text(line("timeout"))  # another shim has written meanwhile
    assert [record.detail for record in collect(str(spool), engine) if isinstance(record, GapRecord)] == [
        "claudecode PreToolUse: no-daemon",
        "claudecode PreToolUse: timeout",
    ]


def test_no_spool_and_an_empty_one_are_nothing(tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.touch()

    assert (collect(str(spool), FakeEngine()), collect(str(spool), FakeEngine())) == ([], [])
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_spool_is_not_followed(tmp_path: Path) -> None:
    precious, spool = tmp_path / "precious", tmp_path / "spool.jsonl"
    precious.write_text(line("no-daemon"))
    spool.symlink_to(precious)

    assert collect(str(spool), FakeEngine()) == []
    assert precious.read_text() == line("no-daemon")


def test_a_pipe_in_the_place_of_the_spool_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "spool.jsonl")

    assert collect(str(tmp_path / "spool.jsonl"), FakeEngine()) == []
