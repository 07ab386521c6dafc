"""Another key: nothing stored is recognised, so nothing of it promotes, refuses or is found any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_bench import Bench, only
from latch_contracts.records import FaultRecord, OutcomeRecord, VerdictRecord
from latch_contracts.verdict import Action
from latchd.policy import parse


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


def rotate(bench: Bench) -> None:
    """What a person does: stop the daemon, remove the file, start it."""
    bench.engine.close()
    Path(bench.places.key).unlink()
    bench.engine = bench.open()


def test_a_call_pending_under_the_old_key_is_never_promoted_and_expires(bench: Bench) -> None:
    bench.pre()
    rotate(bench)

    record = only(bench.post(), OutcomeRecord)

    assert (record.step, record.why) == (None, "no proposal is known under this id")
    assert bench.states() == []
    bench.clock.advance_ms(31 * 60_000)
    assert len(bench.engine.expire()) == 1


def test_steps_and_chains_of_the_old_key_arm_nothing(bench: Bench) -> None:
    bench.pre("sudo -l", call="c1")
    bench.post("sudo -l", call="c1")
    rotate(bench)

    assert only(bench.pre("sudo -i", call="c2"), VerdictRecord).action is not Action.DENY


def test_a_refusal_under_the_old_key_is_judged_anew(bench: Bench) -> None:
    bench.pre("rm -rf ~")
    rotate(bench)
    bench.engine.adopt(parse(b'profile = "observe"'))

    assert bench.pre("rm -rf ~").reply.exit_code == 0


def test_under_the_new_key_everything_works(bench: Bench) -> None:
    bench.pre("sudo -l", call="c1")
    rotate(bench)
    bench.pre("sudo -l", call="c1")
    bench.post("sudo -l", call="c1")

    assert bench.states("c1") == [("succeeded", True)]
    assert only(bench.pre("sudo -i", call="c2"), VerdictRecord).action is Action.DENY


def test_records_stay_readable_and_the_old_sessions_are_listed_by_their_old_keys(bench: Bench) -> None:
    before = bench.pre().records[0].session_key
    rotate(bench)
    after = bench.pre().records[0].session_key

    assert before != after
    assert [one["session_key"] for one in bench.engine.sessions(9).sessions] == [after, before]
    records = bench.engine.records_after(0, 9)
    assert [record.session_key for record in records if isinstance(record, VerdictRecord)] == [before, after]
    assert [record.code for record in records if isinstance(record, FaultRecord)] == ["key-made"]
