"""Every change that a session makes on the disk fails in turn: once, or until the cause goes away.

The session and its changes are those of the crash sweeps (tests/crash_scenarios.py); here nothing dies.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from crash_scenarios import ACTS, CALLS, breaches
from engine_bench import Bench
from failing_disk import Disk, Fault, plugged_in
from latch_contracts.records import GapRecord, HealthRecord
from latchd.hook_calls import Handled
from latchd.store.errors import StoreError

MOST = 2000  # changes; a session with more has lost its end
UNWRITABLE = b"[floor.record-unwritable]"
# What each call comes to when nothing fails; a failure may only take from it.
WHOLE = {
    "c1": "succeeded",
    "c2": "denied",
    "c3": "cut",
    "c4": "failed",
    "c5": "poisoned",
    "c6": "expired",
    "c7": "",
}
PROPOSALS = {
    "proposal": "c1",
    "refusal": "c2",
    "cut proposal": "c3",
    "failing proposal": "c4",
    "soon conflicting": "c5",
    "late proposal": "c6",
}


def session(bench: Bench, disk: Disk, at: int) -> list[str]:
    """Run it; what was wrong meanwhile and after the cause went away."""
    wrong: list[str] = []
    unwritten = 0
    for name, act in ACTS:
        result = act(bench)
        if not isinstance(result, Handled):
            continue
        unwritable = UNWRITABLE in result.reply.stderr
        unwritten += unwritable
        if unwritable and bench.engine.health_word != "degraded":
            wrong.append(f"{name}: refused for want of a record, and health is fine")
        if name == "refusal" and result.reply.exit_code != 2:
            wrong.append("a refusal was let through")
        if (call := PROPOSALS.get(name)) and not unwritable and not bench.states(call):
            wrong.append(f"{name}: answered, and not stored")
        if name == "refusal":
            with contextlib.suppress(StoreError):  # done again five seconds later
                bench.engine.checkpoint()
    disk.at = 0  # the cause has gone away
    alive = bench.pre("git log", "z1", session_id="s2")
    bench.post("git log", "z1", session_id="s2")
    if alive.reply.exit_code != 0 or bench.states("z1") != [("succeeded", True)]:
        wrong.append("the next call is not paired")
    if bench.engine.degraded:
        wrong.append(f"still degraded: {bench.engine.degraded}")
    records = bench.engine.records_after(0, 999)
    gaps = sum(one.count for one in records if isinstance(one, GapRecord) and "proposals" in one.detail)
    if gaps != unwritten:
        wrong.append(f"{unwritten} proposals unrecorded, {gaps} told")
    if unwritten and not [one for one in records if isinstance(one, HealthRecord) and one.health == "ok"]:
        wrong.append("nothing says that it is well again")
    for call in CALLS:
        for state, stepped in bench.states(call):
            if stepped and (call, state) != ("c1", "succeeded"):
                wrong.append(f"{call} was promoted")
            if state == "pending":
                wrong.append(f"{call} is open after the session's end")
    if at > disk.changes and {call: "".join(s for s, _ in bench.states(call)) for call in CALLS} != WHOLE:
        wrong.append("without a failure it came to something else")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.FULL, Fault.FULL_ON, Fault.BROKEN, Fault.BROKEN_ON])
def test_a_change_that_fails_is_told_promotes_nothing_and_is_got_over_without_a_restart(
    tmp_path: Path, fault: Fault
) -> None:
    wrong: list[str] = []
    refused = 0
    for at in range(1, MOST):
        root = tmp_path / str(at)
        with plugged_in(fault, at) as disk:
            try:
                bench = Bench(root)
            except StoreError:
                refused += 1  # no start, one line, and nothing was there to lose
                continue
            met = [f"change {at}: {one}" for one in session(bench, disk, at)]
            bench.engine.close()
        wrong += met + [f"change {at}: {one}" for one in breaches(root / "latchd.db")]
        if disk.changes < at:
            break
    else:
        raise AssertionError("the session never ran through")

    assert wrong == []
    assert at > 200
    assert refused > 20
