"""Death, power loss and failing writes at every single change that one session makes on the disk.

The changes are counted by the disk of `failing_disk`, and each in turn is where it happens, until the
session runs through: nothing that was answered is lost, nothing is promoted that was not proven.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine_bench import Bench
from failing_disk import DEAD, Fault, plugged_in
from latch_contracts.wire import HookReply
from latchd.store.checks import examine
from latchd.store.database import Database, StoreError
from latchd.store.store import Bounds

Answer = tuple[int, bool] | None

# What a session does, in order. Each is one event of the agent, or the scheduler's sweep.
STEPS: tuple[Callable[[Bench], Answer], ...] = (
    lambda bench: told(bench.pre("git status", "c1").reply),
    lambda bench: told(bench.post("git status", "c1").reply),
    lambda bench: told(bench.pre("rm -rf ~", "c2").reply),
    lambda bench: told(bench.pre("make test", "c3").reply),
    lambda bench: told(bench.fail("make test", "c3").reply),
    lambda bench: told(bench.pre("ls", "c4").reply),
    lambda bench: told(bench.send("Stop").reply),
    lambda bench: told(bench.pre("ls -l", "c5").reply),
    lambda bench: swept(bench),
    lambda bench: told(bench.send("SessionEnd", reason="exit").reply),
)
CALLS = ("c1", "c2", "c3", "c4", "c5")
ENDS = ["succeeded", "denied", "failed", "cut", "expired"]
MANY = 400  # changes that no session of this length makes


def told(reply: HookReply) -> Answer:
    return reply.exit_code, b"deny" in reply.stdout


def swept(bench: Bench) -> Answer:
    bench.clock.advance_ms(31 * 60_000)
    bench.engine.expire()
    return None


def ends(bench: Bench) -> list[str]:
    return [state for call in CALLS for state, _ in bench.states(call)]


def breaches(root: Path) -> list[str]:
    database = Database.open_to_read(root / "latchd.db")
    try:
        return [str(found) for found in examine(database, Bounds()) if found.breaches]
    finally:
        database.close()


def undisturbed(root: Path) -> list[Answer]:
    bench = Bench(root)
    try:
        return [step(bench) for step in STEPS]
    finally:
        bench.engine.close()


def until_death(root: Path, fault: Fault, at: int) -> tuple[bool, int]:
    """Run the session in a process of its own: whether it died there, and how many answers it gave."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with plugged_in(fault, at):
                bench = Bench(root)
                for step in STEPS:
                    step(bench)
                    os.write(sending, b".")
                bench.engine.close()
            os._exit(0)
        finally:
            os._exit(1)
    os.close(sending)
    answered = b""
    while part := os.read(receiving, 64):
        answered += part
    os.close(receiving)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DEAD), code
    return code == DEAD, len(answered)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.KILL, Fault.POWER])
def test_after_death_at_any_change_what_was_answered_is_there_and_a_retry_goes_on(
    tmp_path: Path, fault: Fault
) -> None:
    wanted = undisturbed(tmp_path / "whole")
    for at in range(1, MANY):
        root = tmp_path / str(at)
        died, answered = until_death(root, fault, at)
        bench = Bench(root)
        assert not list(root.glob("*.corrupt-*")), at
        if died and answered > 8:
            bench.clock.advance_ms(31 * 60_000)  # the clock had gone on before it died
        again = [
            step(bench) for step in STEPS[answered:]
        ]  # the first of them may have been committed already

        assert again == wanted[answered:], at
        assert ends(bench) == ENDS, at
        assert len([1 for call in CALLS for _, step in bench.states(call) if step]) == 1, at
        bench.engine.close()
        assert breaches(root) == [], at
        if not died:
            break
    else:
        raise AssertionError("the session never ran through")
    assert at > 20  # the sweep has met every commit


def failing(root: Path, fault: Fault) -> Iterator[int]:
    """The changes at which to fail, one after the other, until the session meets none."""
    for at in range(1, MANY):
        with plugged_in(fault, at) as disk:
            try:
                bench = Bench(root / str(at))
            except StoreError:
                continue  # it does not start: refused, and nothing is there to lose
            answers = [step(bench) for step in STEPS]
            reached = disk.changes >= at
            disk.at = 0  # the cause has gone away
            check_failed(bench, answers)
            bench.engine.close()
        assert breaches(root / str(at)) == [], at
        yield at
        if not reached:
            return


def check_failed(bench: Bench, answers: list[Answer]) -> None:
    proposals = [answers[index] for index in (0, 3, 5, 7)]
    assert all(answer is not None and answer[0] in (0, 2) for answer in proposals)
    assert answers[2] is not None
    assert answers[2][0] == 2  # what is refused stays refused, record or not
    assert not [call for call in CALLS[1:] for _, step in bench.states(call) if step]
    assert told(bench.pre("git log", "z1", session_id="s2").reply) == (0, False)
    assert told(bench.post("git log", "z1", session_id="s2").reply) == (0, False)
    assert bench.states("z1") == [("succeeded", True)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.FULL, Fault.FULL_ON, Fault.BROKEN, Fault.BROKEN_ON])
def test_a_change_that_fails_promotes_nothing_and_is_got_over_without_a_restart(
    tmp_path: Path, fault: Fault
) -> None:
    assert len(list(failing(tmp_path, fault))) > 20
