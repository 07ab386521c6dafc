"""Any order of proposals, results, boundaries, clocks, policies and failures, against a model of a dict.

The engine is the real one on a real file. The model knows the transition table of docs/state.md and
nothing of how it is stored; what it foretells is compared after every step.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]
)

from hand_clock import HandClock
from latch_contracts.places import Places
from latch_contracts.records import (
    BoundaryRecord,
    DenialRecord,
    LifecycleRecord,
    OutcomeRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.wire import VERSION, HookReply, HookRequest
from latchd.engine import Engine, Handled
from latchd.keys import Keys, load_or_create, shown
from latchd.policy import parse
from latchd.store.database import Database, StoreError

WINDOW_MS: Final = 30 * 60_000
POLICIES: Final = (b'durability = "normal"', b'durability = "normal"\nprotected = ["zz"]')
# A command and what the guard says of it, whatever the state is.
COMMANDS: Final = {"git status": "allow", "git log": "allow", "$(cat x) y": "ask", "rm -rf ~": "deny"}
OK: Final = {"stdout": "", "stderr": "", "interrupted": False}
# A result's members and what they prove.
RESULTS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "ok": ({"tool_response": OK}, "succeeded"),
    "other ok": ({"tool_response": OK | {"stdout": "x"}}, "succeeded"),
    "launched": ({"tool_response": OK | {"backgroundTaskId": "b"}}, "unknown"),
    "failed": ({"hook_event_name": "PostToolUseFailure", "error": "x"}, "failed"),
    "stopped": ({"hook_event_name": "PostToolUseFailure", "error": "x", "is_interrupt": True}, "cancelled"),
    "refused": ({"hook_event_name": "PermissionDenied", "reason": "x"}, "denied"),
}

sessions = st.sampled_from(["s1", "s2"])
agents = st.sampled_from(["", "a1"])
CALLS: Final = ("c1", "c2", "c3", "c4", "c5")
calls = st.sampled_from(CALLS)
commands = st.sampled_from(sorted(COMMANDS))
kinds = st.sampled_from(sorted(RESULTS))
picks = st.integers(0, 19)

Key = tuple[str, str, str]  # session, agent, call


class Row(msgspec.Struct):
    """What the model knows of a call."""

    state: str
    action: str
    command: str
    policy: bytes
    boot: bytes
    boot_ns: int
    wall_ms: int
    result: tuple[str, str] | None = None
    stepped: bool = False


class World:
    """An engine on a directory of its own, and Claude Code's side of the conversation."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="latchd-machine-"))
        self.clock = HandClock()
        self.places = Places(str(self.root), str(self.root), str(self.root))
        self.policy = POLICIES[0]
        self.engine = self.open()
        self.keys: Keys = load_or_create(Path(self.places.key))

    def open(self) -> Engine:
        return Engine.open(self.places, parse(self.policy), self.clock, home="/home/dev")

    def restart(self) -> None:
        self.engine.close()
        self.engine = self.open()

    def end(self) -> None:
        self.engine.close()
        shutil.rmtree(self.root)

    def send(self, event: str, session: str, agent: str = "", **members: Any) -> Handled:
        told = {"session_id": session, "cwd": "/home/dev/project", "prompt_id": "p", "hook_event_name": event}
        if agent:
            told["agent_id"] = agent
        body = json.dumps(told | members).encode()
        return self.engine.handle(HookRequest(VERSION, "claudecode", "", "", "/", "", body))

    def propose(self, key: Key, command: str) -> Handled:
        return self.send("PreToolUse", key[0], key[1], **_tool(key[2], command))

    def settle(self, key: Key, command: str, kind: str) -> Handled:
        return self.send("PostToolUse", key[0], key[1], **_tool(key[2], command) | RESULTS[kind][0])

    def rows(self) -> dict[Key, tuple[str, bool]]:
        """What is stored: state, and whether there is a step, by key."""
        found: dict[Key, tuple[str, bool]] = {}
        for call in CALLS:
            shown_rows = {
                (one["session_key"], one["call_key"]): (one["state"], one["step"] is not None)
                for one in self.engine.show(call).states
            }
            for session in ("s1", "s2"):
                for agent in ("", "a1"):
                    ends = (
                        shown(self.keys.session("claudecode", session)),
                        shown(self.keys.call("claudecode", session, agent, call)),
                    )
                    if ends in shown_rows:
                        found[session, agent, call] = shown_rows[ends]
        return found


def _tool(call: str, command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}


@contextlib.contextmanager
def failing() -> Generator[None]:
    """Every COMMIT in here fails, and nothing of its transaction is kept."""
    real = Database.transaction

    @contextlib.contextmanager
    def transaction(self: Database) -> Generator[None]:
        with real(self):
            yield
            raise StoreError("disk full")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", transaction)
        yield


class Ledger(RuleBasedStateMachine):
    """``known`` is the model. A rule acts, foretells, and compares."""

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.known: dict[Key, Row] = {}
        self.turns: dict[str, str] = {}
        self.owed_calls: set[Key] = set()
        self.owed_ends: set[str] = set()
        self.owes = False
        self.verdicts = 0
        self.last_seq = 0

    def teardown(self) -> None:
        if hasattr(self, "world"):
            records = self.world.engine.records_after(0, 100_000)
            assert [record.seq for record in records] == list(range(1, len(records) + 1))
            assert sum(isinstance(record, VerdictRecord) for record in records) == self.verdicts
            self.world.end()

    # proposals

    @rule(session=sessions, agent=agents, call=calls, command=commands)
    def propose(self, session: str, agent: str, call: str, command: str) -> None:
        key = (session, agent, call)
        handled = self.world.propose(key, command)
        told = self._caught_up(handled)
        row, action = self.known.get(key), COMMANDS[command]
        answer = action
        if row is not None and row.command == command:
            answer = max(action, row.action, key=["allow", "ask", "deny"].index)
            assert told == []  # an exact replay: the same answer, nothing new
        else:
            self.verdicts += 1
            kinds = [VerdictRecord, DenialRecord] if action == "deny" else [VerdictRecord]
            assert [type(record) for record in told] == kinds
            if row is None:
                self.known[key] = self._opened(command, action)
            elif row.state == "pending":
                row.state = "poisoned"
        assert _said(handled.reply) == answer

    @rule(session=sessions, agent=agents, call=calls, command=commands)
    def propose_while_the_store_fails(self, session: str, agent: str, call: str, command: str) -> None:
        key = (session, agent, call)
        with failing():
            handled = self.world.propose(key, command)
        row = self.known.get(key)
        assert handled.records == []
        if row is not None and row.command == command and not self.owes:
            return  # a replay writes nothing, so nothing failed
        assert _said(handled.reply) == "deny"
        self.owes = True
        self.owed_calls.add(key)

    @rule(pick=picks, command=commands, same=st.booleans())
    def propose_under_a_known_id(self, pick: int, command: str, same: bool) -> None:
        if (known := self._picked(pick)) is not None:
            self.propose(*known[0], known[1].command if same else command)

    # results

    @rule(session=sessions, agent=agents, call=calls, command=commands, kind=kinds)
    def settle(self, session: str, agent: str, call: str, command: str, kind: str) -> None:
        self._settle((session, agent, call), command, kind)

    @rule(pick=picks, kind=kinds)
    def settle_a_pending_call(self, pick: int, kind: str) -> None:
        if (known := self._picked(pick, "pending")) is not None:
            self._settle(known[0], known[1].command, kind)

    @rule(pick=picks, command=commands)
    def succeed_with_what_may_be_another_command(self, pick: int, command: str) -> None:
        if (known := self._picked(pick, "pending")) is not None:
            self._settle(known[0], command, "ok")

    @rule(pick=picks, times=st.integers(1, 2))
    def succeed(self, pick: int, times: int) -> None:
        if (known := self._picked(pick)) is not None:
            for _ in range(times):
                self._settle(known[0], known[1].command, "ok")

    @rule(pick=picks, ms=st.sampled_from([WINDOW_MS - 1, WINDOW_MS]))
    def succeed_late(self, pick: int, ms: int) -> None:
        self.time_passes(ms)
        self.succeed(pick, 1)

    @rule(pick=picks, policy=st.sampled_from(POLICIES))
    def succeed_under_what_may_be_another_policy(self, pick: int, policy: bytes) -> None:
        if (known := self._picked(pick, "pending")) is not None:
            self.change_policy(policy)
            self._settle(known[0], known[1].command, "ok")

    @rule(session=sessions, agent=agents, command=commands, between=st.integers(0, 12))
    def a_call_and_what_may_come_before_its_success(
        self, session: str, agent: str, command: str, between: int
    ) -> None:
        """The short histories that matter most, under an id that is still unused."""
        free = [call for call in CALLS if (session, agent, call) not in self.known]
        if not free:
            return
        call, other = free[0], "" if agent else "a1"
        self.propose(session, agent, call, command)
        match between:
            case 0:
                self.propose(session, agent, call, "git log")
            case 1:
                self.stop(session, agent)
            case 2:
                self.stop(session, other)
            case 3:
                self.end_of_a_session(session)
            case 4:
                self.prompt(session, "p1")
                self.prompt(session, "p2")
            case 5:
                self.batch(session, agent, {call})
            case 6:
                self.batch(session, other, {call})
            case 7:
                self.reboot()
                self.somebody_sets_the_clock(-1)
            case 8:
                self.propose_while_the_store_fails(session, agent, call, "git log")
            case 9:
                self.stop_while_the_store_fails(session)
            case 10:
                self.change_policy(POLICIES[self.world.policy == POLICIES[0]])
            case 11:
                self.stop("s2" if session == "s1" else "s1", agent)
            case _:
                self.restart()
        self._settle((session, agent, call), command, "ok")

    def _settle(self, key: Key, command: str, kind: str) -> None:
        handled = self.world.settle(key, command, kind)
        told = self._caught_up(handled)
        assert _said(handled.reply) == "allow"  # a result is never answered
        row, outcome = self.known.get(key), RESULTS[kind][1]
        if row is not None and row.result == (command, kind):
            assert told == []
            return
        (record,) = told
        assert isinstance(record, OutcomeRecord)
        promoted = False
        if row is not None and row.state == "pending":
            row.result = (command, kind)
            if self._is_over(row) or row.policy != self.world.policy:
                row.state = "expired"
            elif row.command != command:
                row.state = "unknown"
            else:
                row.state = outcome
                promoted = outcome == "succeeded"
            row.stepped |= promoted
        ran = row is not None and row.state == "denied" and row.action == "deny" and outcome != "denied"
        assert (record.step is not None, record.alarm == "denied-call-executed") == (promoted, ran)

    # boundaries

    @rule(session=sessions, agent=agents)
    def stop(self, session: str, agent: str) -> None:
        (record,) = self._caught_up(self.world.send("Stop", session, agent))
        assert isinstance(record, BoundaryRecord)
        assert record.pending_cut == self._cut(session, agent)

    @rule(session=sessions)
    def end_of_a_session(self, session: str) -> None:
        (record,) = self._caught_up(self.world.send("SessionEnd", session))
        assert isinstance(record, BoundaryRecord)
        assert record.pending_cut == self._cut(session, None)

    @rule(session=sessions)
    def stop_while_the_store_fails(self, session: str) -> None:
        with failing():
            assert self.world.send("Stop", session).records == []
        self.owes = True
        self.owed_ends.add(session)

    @rule(session=sessions, turn=st.sampled_from(["p1", "p2"]))
    def prompt(self, session: str, turn: str) -> None:
        told = self._caught_up(self.world.send("UserPromptSubmit", session, prompt="x", prompt_id=turn))
        before = self.turns.get(session, "")
        self.turns[session] = turn
        cut = self._cut(session, "") if before not in ("", turn) else 0
        kinds = [LifecycleRecord, BoundaryRecord] if cut else [LifecycleRecord]
        assert [type(record) for record in told] == kinds

    @rule(session=sessions, agent=agents, ids=st.sets(calls))
    def batch(self, session: str, agent: str, ids: set[str]) -> None:
        listed = [{"tool_use_id": call} for call in sorted(ids)]
        told = self._caught_up(self.world.send("PostToolBatch", session, agent, tool_calls=listed))
        (record,) = told
        assert isinstance(record, BoundaryRecord)
        closed = 0
        for call in ids:
            row = self.known.get((session, agent, call))
            if row is not None and row.state == "pending":
                row.state = "unknown"
                closed += 1
        assert record.pending_cut == closed

    # time, policy, process

    @rule(ms=st.sampled_from([1, 60_000, WINDOW_MS - 1, WINDOW_MS]))
    def time_passes(self, ms: int) -> None:
        self.world.clock.advance_ms(ms)

    @rule(ms=st.sampled_from([-10 * WINDOW_MS, -1, 1, 10 * WINDOW_MS]))
    def somebody_sets_the_clock(self, ms: int) -> None:
        self.world.clock.step_wall_ms(ms)

    @rule()
    def reboot(self) -> None:
        self.world.clock.reboot()
        self._restart()

    @rule()
    def restart(self) -> None:
        self._restart()

    @rule(policy=st.sampled_from(POLICIES))
    def change_policy(self, policy: bytes) -> None:
        self.world.policy = policy
        self.world.engine.adopt(parse(policy))

    @rule()
    def sweep(self) -> None:
        self._watch(self.world.engine.expire())
        self._settle_owed()
        for row in self.known.values():
            if row.state == "pending" and self._is_over(row):
                row.state = "expired"

    @rule()
    def look_after_the_database(self) -> None:
        self._watch(self.world.engine.verify())
        self._settle_owed()

    @invariant()
    def the_ledger_is_the_models(self) -> None:
        if hasattr(self, "known"):
            assert self.world.rows() == {key: (row.state, row.stepped) for key, row in self.known.items()}
            assert self.world.engine.health_word == ("degraded" if self.owes else "ok")

    # the model's own

    def _picked(self, pick: int, state: str = "") -> tuple[Key, Row] | None:
        found = [
            pair
            for pair in sorted(self.known.items(), key=lambda pair: pair[0])
            if state in ("", pair[1].state)
        ]
        return found[pick % len(found)] if found else None

    def _opened(self, command: str, action: str) -> Row:
        clock = self.world.clock
        state = "denied" if action == "deny" else "pending"
        return Row(
            state, action, command, self.world.policy, clock.boot_id(), clock.boot_ns(), clock.wall_ms()
        )

    def _is_over(self, row: Row) -> bool:
        clock = self.world.clock
        if row.boot == clock.boot_id():
            age = (clock.boot_ns() - row.boot_ns) // 1_000_000
        else:
            age = clock.wall_ms() - row.wall_ms
        return not 0 <= age < WINDOW_MS

    def _cut(self, session: str, agent: str | None) -> int:
        cut = 0
        for key, row in self.known.items():
            if key[0] == session and agent in (None, key[1]) and row.state == "pending":
                row.state = "cut"
                cut += 1
        return cut

    def _restart(self) -> None:
        self.world.restart()
        self.owes = False  # what was owed is in memory alone
        self.owed_calls.clear()
        self.owed_ends.clear()

    def _caught_up(self, handled: Handled) -> list[Record]:
        """The records of the event itself; before them come those that were owed."""
        self._watch(handled.records)
        owed = 0
        if self.owes:
            kinds = [record.__struct_config__.tag for record in handled.records]
            owed = kinds.index("health") + 1
            assert set(kinds[: owed - 1]) == {"gap"}
            self._settle_owed()
        return handled.records[owed:]

    def _settle_owed(self) -> None:
        for key in self.owed_calls:
            if (row := self.known.get(key)) is not None:
                row.action = "deny"
                if row.state == "pending":
                    row.state = "denied"
        for session in self.owed_ends:
            self._cut(session, None)
        self.owes = False
        self.owed_calls.clear()
        self.owed_ends.clear()

    def _watch(self, records: list[Record]) -> None:
        """What is published is what is stored, in its order, without a hole."""
        stored = self.world.engine.records_after(self.last_seq, len(records) + 1)
        assert stored == records
        for record in records:
            self.last_seq += 1
            assert record.seq == self.last_seq
        assert self.world.engine.newest_seq() == self.last_seq


def _said(reply: HookReply) -> str:
    if reply.exit_code == 2 and b'"deny"' in reply.stdout:
        return "deny"
    return "ask" if b'"ask"' in reply.stdout else "allow"


_QUIET: Final = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def test_the_ledger_does_what_its_model_foretells() -> None:
    run_state_machine_as_test(
        Ledger,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=_QUIET
        ),
    )


@pytest.mark.slow
def test_the_ledger_does_what_its_model_foretells_for_20_000_steps() -> None:
    run_state_machine_as_test(
        Ledger,
        settings=settings(
            max_examples=400, stateful_step_count=50, deadline=None, suppress_health_check=_QUIET
        ),
    )


# What may stand between any two events without changing a single answer.

events = st.one_of(
    st.tuples(st.just("propose"), sessions, agents, calls, commands),
    st.tuples(st.just("settle"), sessions, agents, calls, commands, kinds),
    st.tuples(st.just("stop"), sessions, agents),
    st.tuples(st.just("end"), sessions),
    st.tuples(st.just("wait"), st.sampled_from([1, WINDOW_MS // 2, WINDOW_MS])),
)
Told = tuple[HookReply, bool]  # the answer, and whether a step was made


def do(world: World, event: tuple[Any, ...]) -> Told:
    match event:
        case ("propose", session, agent, call, command):
            handled = world.propose((session, agent, call), command)
        case ("settle", session, agent, call, command, kind):
            handled = world.settle((session, agent, call), command, kind)
        case ("stop", session, agent):
            handled = world.send("Stop", session, agent)
        case ("end", session):
            handled = world.send("SessionEnd", session)
        case (_, ms):
            world.clock.advance_ms(ms)
            return HookReply(VERSION, 0, b"", b""), False
        case _:
            raise AssertionError(event)
    return handled.reply, any(
        isinstance(record, OutcomeRecord) and record.step is not None for record in handled.records
    )


@contextlib.contextmanager
def worlds(count: int) -> Generator[list[World]]:
    made = [World() for _ in range(count)]
    yield made
    for world in made:
        world.end()


@settings(max_examples=12, suppress_health_check=_QUIET)
@given(st.lists(events, max_size=25))
def test_neither_sweeps_nor_restarts_change_an_answer(history: list[tuple[Any, ...]]) -> None:
    with worlds(3) as (plain, swept, restarted):
        for event in history:
            told = do(plain, event)
            swept.engine.expire()
            restarted.restart()

            assert [do(swept, event), do(restarted, event)] == [told, told]


@settings(max_examples=12, suppress_health_check=_QUIET)
@given(st.lists(events.filter(lambda event: event[0] != "wait"), max_size=25))
def test_events_of_two_sessions_may_come_in_any_order(history: list[tuple[Any, ...]]) -> None:
    with worlds(2) as (mixed, sorted_out):
        told = [(event, do(mixed, event)) for event in history]
        one_after_the_other = sorted(history, key=lambda event: event[1])

        assert [(event, do(sorted_out, event)) for event in one_after_the_other] == sorted(
            told, key=lambda pair: pair[0][1]
        )
        assert mixed.rows() == sorted_out.rows()


@settings(max_examples=12, suppress_health_check=_QUIET)
@given(st.lists(events.filter(lambda event: event[0] == "propose"), max_size=20), st.randoms())
def test_a_history_told_again_in_any_order_adds_nothing(history: list[tuple[Any, ...]], random: Any) -> None:
    """First deliveries only: under an id that two contents share, nothing is a replay any more."""
    first = {event[1:4]: event for event in reversed(history)}
    with worlds(1) as (world,):
        told = {key: do(world, event) for key, event in first.items()}
        newest = world.engine.newest_seq()
        again = list(first.items()) * 2
        random.shuffle(again)

        assert [do(world, event) for _, event in again] == [told[key] for key, _ in again]
        assert world.engine.newest_seq() == newest
