"""The person's way out, as they walk it: a refusal, its code from `latchctl tail`, then one pass."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from latch_contracts.records import AllowanceRecord, FaultRecord, VerdictRecord
from latch_contracts.wire import VERSION, Allow, Allowed, HookReply
from latchd.allowances import WRONG_PER_MINUTE, Answer
from running_daemon import SILENT, Daemon, Talk, daemon, environment

REFUSED = "rm -rf /opt/data"


def latchctl(root: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "latch_client.cli", *words],
        env=environment(root),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def code_of(reply: HookReply) -> str:
    told: dict[str, Any] = json.loads(reply.stdout)
    found = re.search(r"allow (\S{9})`", told["systemMessage"])
    assert found is not None
    return found[1]


def allow(running: Daemon, code: str) -> Allowed:
    with Talk(running.places.hook_socket) as talk:
        talk.send(Allow(VERSION, code, ""))
        answer = talk.receive()
    assert isinstance(answer, Allowed), answer
    return answer


def test_a_refused_call_is_allowed_once_from_the_command_line(root: Path) -> None:
    with daemon(root) as running:
        refused = running.pre(REFUSED, "c1")
        unasked = latchctl(root, "tail", "--no-follow")[1]
        found = re.search(r"`latchctl allow (\S+)`", latchctl(root, "tail", "--no-follow", "--codes")[1])
        assert found is not None
        allowed = latchctl(root, "allow", found[1])
        passed, again = running.pre(REFUSED, "c2"), running.pre(REFUSED, "c3")
        used = latchctl(root, "allow", found[1])
        records = running.records()

    assert (refused.exit_code, found[1]) == (2, code_of(refused))
    assert "latchctl allow" not in unasked
    assert (allowed[0], allowed[2]) == (0, "")
    assert re.fullmatch(
        rf"allowed once, until \d\d:\d\d:\d\d: Bash  {REFUSED}  \[fs\.delete-outside\]\n", allowed[1]
    )
    assert (passed, again.exit_code) == (SILENT, 2)
    assert used == (3, "", f"latchctl: {Answer.USED}\n")
    (grant,) = [one for one in records if isinstance(one, AllowanceRecord)]
    notes = [one.note for one in records if isinstance(one, VerdictRecord) and one.call == "c2"]
    assert notes == [f"allowed by the person, record {grant.seq}"]


def test_leave_outlives_a_crash(root: Path) -> None:
    with daemon(root) as first:
        told = code_of(first.pre(REFUSED, "c1"))
        first.kill()
    with daemon(root) as second:
        assert allow(second, told).why == "allowed"
        second.kill()
    with daemon(root) as third:
        passed, again = third.pre(REFUSED, "c2"), third.pre(REFUSED, "c3")

    assert (passed, again.exit_code) == (SILENT, 2)


def test_of_two_at_the_same_moment_one_passes(root: Path) -> None:
    with daemon(root) as running:
        for round_ in range(5):
            allow(running, code_of(running.pre(REFUSED, f"c{round_}")))
            start, replies = threading.Barrier(2), list[HookReply]()

            def propose(
                call: str, start: threading.Barrier = start, replies: list[HookReply] = replies
            ) -> None:
                start.wait()
                replies.append(running.pre(REFUSED, call))

            both = [threading.Thread(target=propose, args=(f"{round_}-{which}",)) for which in "ab"]
            for one in both:
                one.start()
            for one in both:
                one.join()

            assert sorted(reply.exit_code for reply in replies) == [0, 2]


def test_wrong_codes_are_recorded_and_soon_not_looked_at(root: Path) -> None:
    with daemon(root) as running:
        told = code_of(running.pre(REFUSED, "c1"))
        answers = [allow(running, "0000-0000").why for _ in range(WRONG_PER_MINUTE)]
        late = allow(running, told)
        faults = [one.detail for one in running.records() if isinstance(one, FaultRecord)]

    assert answers == [Answer.UNKNOWN] * WRONG_PER_MINUTE
    assert late == Allowed(VERSION, Answer.TOO_MANY)
    assert faults == [*answers, Answer.TOO_MANY]


def test_the_event_socket_allows_nothing(root: Path) -> None:
    with daemon(root) as running:
        told = code_of(running.pre(REFUSED, "c1"))
        with Talk(running.places.events_socket) as talk:
            talk.send(Allow(VERSION, told, ""))
            answer = talk.receive()
        refused = running.pre(REFUSED, "c2")

    assert (answer, refused.exit_code) == (None, 2)
