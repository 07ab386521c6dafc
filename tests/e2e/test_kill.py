"""Crashes under sixteen sessions at once: nothing that was answered is lost, nothing unproven is promoted.

The moments are random, counted in answers; the seed is printed, and so are the counts. ``LATCHD_KILLS=1000``
in the environment makes it a thousand of them, in twenty minutes or so.
"""

from __future__ import annotations

import enum
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from latch_contracts.outcome import State
from latch_contracts.records import DenialRecord, OutcomeRecord, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import Answer, HookReply
from latchd.store.bounds import Bounds
from latchd.store.checks import examine
from latchd.store.database import Database
from running_daemon import OK, SILENT, Daemon, Talk, daemon, places, tool

KILLS = int(os.environ.get("LATCHD_KILLS", "40"))
SECONDS = 2.5 * KILLS  # a loaded machine gets through fewer, and says how many
WORKERS = 16
DEEPEST = 240  # answers between a start and its kill, at most


class Ending(enum.StrEnum):
    """What the agent reports of a call that was let through."""

    SUCCESS = "PostToolUse"
    FAILURE = "PostToolUseFailure"
    NOTHING = ""


class Call:
    """One call as its agent sees it: what it sent, and which of it was answered."""

    def __init__(self, name: str, session: str, denied: bool, ending: Ending) -> None:
        self.name = name
        self.session = session
        self.command = "rm -rf /" if denied else f"echo {name}"
        self.denied = denied
        self.ending = ending
        self.verdict: HookReply | None = None
        self.result_sent = False
        self.result_answered = False


class Count:
    """Answers of one round, over all workers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._answers = 0
        self._working = WORKERS

    def answer(self) -> None:
        with self._changed:
            self._answers += 1
            self._changed.notify()

    def worker_ended(self) -> None:
        with self._changed:
            self._working -= 1
            self._changed.notify()

    def reach(self, answers: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._answers >= answers or not self._working)


class Worker:
    """One agent. A call it was in the middle of when the daemon died goes on with the next daemon."""

    def __init__(self, number: int, seed: int) -> None:
        self.number = number
        self.calls: list[Call] = []
        self._random = random.Random(f"{seed}/{number}")  # noqa: S311 (nothing secret)
        self._open: Call | None = None

    def work(self, running: Daemon, session: str, count: Count) -> None:
        try:
            with Talk(running.places.hook_socket) as talk:
                while self._step(talk, running, session):
                    count.answer()
        except OSError:
            return  # the daemon is dead
        finally:
            count.worker_ended()

    def _step(self, talk: Talk, running: Daemon, session: str) -> bool:
        """One request and its answer; False when the daemon died before it came."""
        call = self._open
        if call is None:
            denied = self._random.random() < 0.2
            ending = self._random.choice(list(Ending))
            call = Call(f"w{self.number}-{len(self.calls)}", session, denied, ending)
            self.calls.append(call)
            self._open = call
        if call.verdict is None:
            answer = self._ask(talk, running, call, "PreToolUse")
            if not isinstance(answer, HookReply):
                return False
            call.verdict = answer
            if call.denied or call.ending is Ending.NOTHING:
                self._open = None
            return True
        call.result_sent = True
        more = {"tool_response": OK} if call.ending is Ending.SUCCESS else {"error": "Exit code 1"}
        if not isinstance(self._ask(talk, running, call, call.ending.value, **more), HookReply):
            return False
        call.result_answered = True
        self._open = None
        return True

    def _ask(self, talk: Talk, running: Daemon, call: Call, event: str, **more: Any) -> Answer | None:
        members = tool(call.command, call.name) | {"session_id": call.session} | more
        talk.send(running.request(event, **members))
        return talk.receive()


@pytest.mark.slow
def test_nothing_answered_is_lost_and_nothing_unproven_is_promoted(root: Path) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    moments = random.Random(seed)  # noqa: S311 (nothing secret)
    workers = [Worker(number, seed) for number in range(WORKERS)]
    kills = 0
    started = time.monotonic()
    while kills < KILLS and time.monotonic() - started < SECONDS:
        with daemon(root) as running:
            count = Count()
            threads = [
                threading.Thread(target=worker.work, args=(running, f"s{kills}-{worker.number}", count))
                for worker in workers
            ]
            for thread in threads:
                thread.start()
            count.reach(moments.randint(1, DEEPEST))
            running.kill()
            for thread in threads:
                thread.join()
        kills += 1
    with daemon(root) as last:
        records = last.records()
        health = last.status().health
        last.stop()

    calls = [call for worker in workers for call in worker.calls]
    verdicts = {record.call: record.action for record in records if isinstance(record, VerdictRecord)}
    denials = {record.call for record in records if isinstance(record, DenialRecord)}
    outcomes = [record for record in records if isinstance(record, OutcomeRecord)]
    steps = {record.call for record in outcomes if record.step is not None}
    answered = [call for call in calls if call.verdict is not None]
    wrong = [(call.name, call.verdict) for call in answered if (call.verdict == SILENT) == call.denied]
    lost = [
        call.name
        for call in answered
        if verdicts.get(call.name) is not (Action.ALLOW if call.verdict == SILENT else Action.DENY)
        or (call.name in denials) != (call.verdict != SILENT)
    ]
    told = {call.name: call for call in calls}
    succeeded = {call.name for call in calls if call.ending is Ending.SUCCESS and call.verdict == SILENT}
    unproven = [name for name in steps if not (told[name].result_sent and name in succeeded)]
    proven = [call.name for call in calls if call.result_answered and call.name in succeeded]
    unpromoted = [name for name in proven if name not in steps]
    promotions = [record for record in outcomes if record.after is State.SUCCEEDED and record.step]
    twice = len(promotions) - len(steps)
    order = [record.seq for record in records]
    database = Database.open_to_read(Path(places(root).database))
    broken = [f"{one.check}: {one.examples}" for one in examine(database, Bounds()) if one.breaches]
    database.close()
    print(
        f"\nseed {seed}: {kills} kills in {time.monotonic() - started:.0f} s, "
        f"{len(answered)} answered verdicts, {len(proven)} answered successes, {len(steps)} steps; "
        f"wrong {len(wrong)}, lost {len(lost)}, unproven {len(unproven)}, unpromoted {len(unpromoted)}, "
        f"twice {twice}, broken promises of the state {len(broken)}, health {health}"
    )

    assert (wrong, lost, unproven, unpromoted, twice) == ([], [], [], [], 0)
    assert order == list(range(1, len(order) + 1))
    assert (broken, health) == ([], "ok")
    assert kills >= min(KILLS, 20)
