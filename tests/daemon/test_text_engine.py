"""Prompts and results through a whole engine: a record says where something is, and no file says what."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bench import OK, Bench, only
from latch_contracts.records import NoticeRecord, OutcomeRecord
from latch_contracts.verdict import Disposition
from latchd import hook_calls
from latchd.policy import PolicyError, parse
from latchd.text.rule import WORD, made

BODY = made(WORD, 36)
TOKEN = "ghp_" + BODY


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def kept(bench: Bench) -> bytes:
    """Every byte of every file below the bench's directory but the project's own."""
    files = (path for path in bench.root.rglob("*") if path.is_file() and bench.project not in path.parents)
    return b"".join(path.read_bytes() for path in files)


def where(record: NoticeRecord) -> list[tuple[str, str, int, int]]:
    return [(one.rule, one.surface, one.start, one.end) for one in record.findings]


def test_a_token_in_a_prompt_is_a_record_with_its_place_and_nothing_of_it_is_kept(bench: Bench) -> None:
    told = only(bench.send("UserPromptSubmit", prompt=f"use {TOKEN} please"), NoticeRecord)

    assert where(told) == [("text.github-token", "prompt", 4, 44)]
    assert [one.disposition for one in told.findings] == [Disposition.DETECT]
    assert told in bench.engine.records_after(0, 100)
    stored = kept(bench)
    assert b"text.github-token" in stored  # so that what is searched is what was written
    assert [start for start in range(len(BODY) - 8) if BODY[start : start + 8].encode() in stored] == []


def test_what_a_result_printed_is_told_with_its_call_and_changes_nothing(bench: Bench) -> None:
    bench.pre()

    handled = bench.post(tool_response=OK | {"stdout": f"found\n{TOKEN}\n"})

    assert where(only(handled, NoticeRecord)) == [("text.github-token", "result.stdout", 6, 46)]
    assert only(handled, NoticeRecord).call == "c1"
    assert only(handled, OutcomeRecord).step is not None
    assert (handled.reply.exit_code, handled.reply.stdout) == (0, b"")
    assert BODY[4:20].encode() not in kept(bench)


def test_a_result_that_came_before_is_told_of_once(bench: Bench) -> None:
    bench.pre()
    bench.post(tool_response=OK | {"stdout": TOKEN})

    assert bench.post(tool_response=OK | {"stdout": TOKEN}).records == []


def test_an_ordinary_prompt_has_no_record_of_its_text(bench: Bench) -> None:
    records = bench.send("UserPromptSubmit", prompt="fix the parser").records

    assert [record for record in records if isinstance(record, NoticeRecord)] == []


def test_what_was_too_long_to_look_at_is_said(bench: Bench) -> None:
    told = only(bench.send("UserPromptSubmit", prompt="word " * 60_000), NoticeRecord)

    assert told.findings == ()
    assert (told.examined, told.unexamined) == (256 * 1024, 300_000 - 256 * 1024)


def test_with_redaction_none_the_place_is_still_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, b'[records]\nredaction = "none"\n')

    told = only(bench.send("UserPromptSubmit", prompt=TOKEN), NoticeRecord)

    assert where(told) == [("text.github-token", "prompt", 0, 40)]


def test_detection_can_be_switched_off_whole_or_rule_by_rule(tmp_path: Path) -> None:
    silent = Bench(tmp_path / "a", b"[text]\ndetect = false\n")
    partly = Bench(tmp_path / "b", b'[text]\ndisable = ["text.github-token"]\n')

    for bench in (silent, partly):
        records = bench.send("UserPromptSubmit", prompt=TOKEN).records
        assert [record for record in records if isinstance(record, NoticeRecord)] == []


def test_a_rule_that_is_not_there_can_not_be_switched_off() -> None:
    with pytest.raises(PolicyError, match=r"`text\.disable` holds `text\.githab`, which is no text rule"):
        parse(b'[text]\ndisable = ["text.githab"]\n')


def test_a_fault_of_detection_costs_no_outcome(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(hook_calls, "detect", fail)
    bench.pre()

    assert only(bench.post(), OutcomeRecord).step is not None
    assert bench.engine.counters["text_failures"] == 1
