"""Rules and policy are read again and again under a real daemon while agents ask: each answer is whole."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from latch_contracts.records import FaultRecord, HealthRecord, LifecycleRecord, Record, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, HookReply, Streamed, Watch
from latchd.policy import Policy
from latchd.rules.standing import standing
from running_daemon import Daemon, Talk, daemon, places, tool

pytestmark = pytest.mark.slow

GENERATIONS = 18
AGENTS = 5
COMMANDS = ("deploytool one", "deploytool two", "deploytool one; deploytool two")


def pack(name: str, number: int, *, denies: bool, **fields: object) -> bytes:
    """One rule that carries its generation in its id, and refuses or only finds."""
    command = f"deploytool {name}"
    rule: dict[str, Any] = {
        "id": f"{name}.g{number}",
        "title": "a deployment is begun",
        "severity": "high",
        "group": "destroy" if denies else "notable",
        "confidence": 0.9,
        "programs": ["deploytool"],
        "expression": f'f.commands.exists(c, c.program == "deploytool" && "{name}" in c.words)',
        "pattern": f"^{command}$",
        "tags": ["deployment"],
        "message": "this deploys",
        "instead": "let the person do it",
        "denies": [command],
        "passes": ["deploytool status"],
    }
    return msgspec.json.encode({"version": 1, "category": name, "rules": [rule | fields]})


def write_good(config: Path, number: int) -> str:
    """Two packs that disagree, the other way round in the next generation; the fingerprint of the rules."""
    rules = config / "rules"
    (rules / "one.yaml").write_bytes(pack("one", number, denies=number % 2 == 0))
    (rules / "two.yaml").write_bytes(pack("two", number, denies=number % 2 == 1))
    (config / "config.toml").write_text(f"[records]\ndays = {10 + number}\n")
    return standing(Policy(), str(rules)).fingerprint.hex()[:16]


def write_bad(config: Path, number: int) -> str:
    """A candidate that can't be used, of one of three kinds, beside a pack that could; what is said of it."""
    two = config / "rules" / "two.yaml"
    (config / "rules" / "one.yaml").write_bytes(pack("one", number, denies=True))
    match number % 3:
        case 0:
            two.write_bytes(pack("two", number, denies=True, colour="red"))
            return f"the old rules stay: {two}:1: `colour` is no field that is known here"
        case 1:
            two.write_bytes(pack("two", number, denies=True, passes=["deploytool two"]))
            return f"the old rules stay: {two}:1: `two.g{number}`: `deploytool two` is found by its own rule"
        case _:
            two.write_bytes(pack("two", number, denies=True))
            (config / "config.toml").write_text('profile = "lax"\n')
            return "the old policy stays: config"


def wanted(number: int, command: str) -> tuple[Action, str | None, list[str]]:
    """Verdict, rule and findings of a command in one generation."""
    said = [name for name in ("one", "two") if name in command]
    refuses = "one" if number % 2 == 0 else "two"
    rules = [f"{name}.g{number}" for name in said]
    if refuses in said:
        return Action.DENY, f"{refuses}.g{number}", rules
    return Action.ALLOW, None, rules


class Agent(threading.Thread):
    """Asks without pause over one connection until it is told to stop."""

    def __init__(self, running: Daemon, name: str, done: threading.Event) -> None:
        super().__init__(name=name)
        self._running = running
        self._done = done
        self.answers: dict[str, tuple[str, HookReply | None]] = {}

    def run(self) -> None:
        with Talk(self._running.places.hook_socket) as talk:
            while not self._done.is_set():
                call = f"{self.name}-{len(self.answers)}"
                command = COMMANDS[len(self.answers) % len(COMMANDS)]
                talk.send(self._running.request("PreToolUse", session_id=self.name, **tool(command, call)))
                answer = talk.receive()
                self.answers[call] = command, answer if isinstance(answer, HookReply) else None


def reload(running: Daemon, cursor: int) -> list[Record]:
    """Send the signal and read what is told about policy and rules after ``cursor``, to the last of it."""
    told: list[Record] = []
    with Talk(running.places.events_socket) as watcher:
        watcher.send(Watch(VERSION, cursor=cursor, kinds=["lifecycle", "fault", "health"]))
        running.process.send_signal(signal.SIGHUP)
        while isinstance(streamed := watcher.receive(), Streamed):
            told.append(streamed.record)
            match streamed.record:
                case LifecycleRecord() | FaultRecord(code="policy-refused") | HealthRecord(health="degraded"):
                    return told
                case _:
                    continue
    raise AssertionError("the daemon hung up")


def test_every_answer_under_reloads_is_of_one_whole_generation_and_nothing_is_lost(root: Path) -> None:
    config = Path(places(root).config)
    (config / "rules").mkdir(parents=True)
    generations = {write_good(config, 0): 0}
    done, cursor = threading.Event(), 0
    with daemon(root) as running:
        agents = [Agent(running, f"agent{number}", done) for number in range(AGENTS)]
        for agent in agents:
            agent.start()
        try:
            for number in range(1, GENERATIONS + 1):
                if number % 3:
                    fingerprint = write_good(config, number)
                    generations[fingerprint] = number
                    told = reload(running, cursor)
                    read = told[-1]
                    assert isinstance(read, LifecycleRecord)
                    assert read.note.endswith(f"rules, {fingerprint}")
                    assert running.status().rules == fingerprint
                else:
                    before = running.status()
                    why = write_bad(config, number // 3)
                    told = reload(running, cursor)
                    fault = next(one for one in told if isinstance(one, FaultRecord))
                    after = running.status()
                    assert fault.detail.startswith(why)
                    assert (after.rules, after.policy) == (before.rules, before.policy)
                    assert why.startswith("the old policy") or fault.detail in after.notes
                cursor = told[-1].seq
        finally:
            done.set()
            for agent in agents:
                agent.join()
        records = running.records()

    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    verdicts = {one.call: one for one in records if isinstance(one, VerdictRecord)}
    asked = {call: answer for agent in agents for call, answer in agent.answers.items()}
    assert verdicts.keys() == asked.keys()
    seen: Counter[int] = Counter()
    for call, (command, reply) in asked.items():
        record = verdicts[call]
        number = generations[record.rules]
        seen[number] += 1
        found = [finding.rule for finding in record.findings]
        assert (record.action, record.rule, found) == wanted(number, command), (call, number)
        assert reply is not None
        assert reply.exit_code == (2 if record.action is Action.DENY else 0)
    assert len(seen) > GENERATIONS // 2, seen  # else nothing was under load
