"""Any order of proposals, results, boundaries, clocks, policies and failures, against a model of a dict.

The engine is the real one on a real file. The model knows the transition table of docs/state.md and
nothing of how it is stored; what it foretells is compared after every step.
"""

from __future__ import annotations

import os
from typing import ClassVar, Final

import msgspec
import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]
)

from latch_contracts.records import (
    BoundaryRecord,
    DenialRecord,
    LifecycleRecord,
    OutcomeRecord,
    Record,
    VerdictRecord,
)
from latchd.hook_calls import Handled
from latchd.policy import parse
from latchd.store import late_results
from ledger_world import (
    CALLS,
    CLEAR,
    COMMANDS,
    EFFECTS,
    HAND_ON,
    POLICIES,
    RESULTS,
    SEND,
    SEND_ON,
    SENT,
    TAKE,
    WINDOW_MS,
    Key,
    World,
    failing,
    said,
)

KEPT_MS: Final = 7 * 24 * 3600 * 1000  # a refusal's receipt
STRICTNESS: Final = ["allow", "ask", "deny"].index

sessions = st.sampled_from(["s1", "s2"])
agents = st.sampled_from(["", "a1"])
turns = st.sampled_from(["p", "p1", "p2"])
calls = st.sampled_from(CALLS)
commands = st.sampled_from(sorted(COMMANDS))
kinds = st.sampled_from(sorted(RESULTS))
picks = st.integers(0, 19)


class Row(msgspec.Struct):
    """What the model knows of a call."""

    state: str
    action: str
    command: str
    turn: str
    policy: bytes
    boot: bytes
    boot_ns: int
    wall_ms: int
    results: set[tuple[str, str]] = msgspec.field(default_factory=set[tuple[str, str]])
    stepped: bool = False
    moves: bool = False  # its success says what a file holds

    @property
    def content(self) -> tuple[str, str]:
        return self.command, self.turn


class Mark(msgspec.Struct):
    """When and under which policy something was proven or refused."""

    policy: bytes
    boot: bytes
    boot_ns: int
    wall_ms: int


class Session(msgspec.Struct):
    """What the model knows of a session. ``last``: its latest event, if that was a boundary."""

    turn: str = ""
    over: set[str] = msgspec.field(default_factory=set[str])
    last: tuple[str, str, str] | None = None
    tainting: bool = False
    held: dict[str, Mark] = msgspec.field(default_factory=dict[str, Mark])


class Ledger(RuleBasedStateMachine):
    """``known`` is the model. A rule acts, foretells, and compares. ``steps`` counts over all histories."""

    steps: ClassVar[int] = 0

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.known: dict[Key, Row] = {}
        self.sessions = {"s1": Session(), "s2": Session()}
        self.refused: dict[tuple[Key, tuple[str, str]], Mark] = {}
        self.owed_calls: set[Key] = set()
        self.owed_ends: set[str] = set()
        self.owes = False
        self.verdicts = 0
        self.last_seq = 0

    def teardown(self) -> None:
        if hasattr(self, "world"):
            try:
                records = self.world.engine.records_after(0, 100_000)
                assert [record.seq for record in records] == list(range(1, len(records) + 1))
                assert sum(isinstance(record, VerdictRecord) for record in records) == self.verdicts
            finally:
                self.world.end()

    # proposals

    @rule(session=sessions, agent=agents, call=calls, command=commands, turn=turns)
    def propose(self, session: str, agent: str, call: str, command: str, turn: str = "p") -> None:
        key, content = (session, agent, call), (command, turn)
        handled = self.world.propose(key, command, turn)
        told = self._caught_up(handled)
        row, action = self.known.get(key), self._action(session, command)
        denial = self._denial(key, content)
        if row is not None and row.content == content:
            kinds: list[type] = []  # an exact replay: the same answer, nothing new
            if STRICTNESS(action) > STRICTNESS(row.action):
                kinds = self._recorded(session, action)
                row.action = action
                if action == "deny":
                    self.refused[key, content] = self._mark()
                    row.state = "denied" if row.state == "pending" else row.state
            answer = row.action
        elif denial and (row is None or row.state != "pending"):
            kinds, answer = [], "deny"
        else:
            answer = "deny" if denial else action
            kinds = self._recorded(session, answer)
            if row is not None:
                row.state = "poisoned" if row.state == "pending" else row.state
            elif agent or turn not in self.sessions[session].over:
                self.known[key] = self._opened(session, command, turn, answer)
            if answer == "deny" and not denial:
                self.refused[key, content] = self._mark()
        assert [type(record) for record in told] == kinds
        assert said(handled.reply) == answer

    @rule(session=sessions, agent=agents, call=calls, command=commands, turn=turns)
    def propose_while_the_store_fails(
        self, session: str, agent: str, call: str, command: str, turn: str = "p"
    ) -> None:
        key, content = (session, agent, call), (command, turn)
        with failing():
            handled = self.world.propose(key, command, turn)
        row = self.known.get(key)
        assert handled.records == []
        if not self.owes:
            same = row is not None and row.content == content
            if row is not None and same:
                if STRICTNESS(self._action(session, command)) <= STRICTNESS(row.action):
                    assert said(handled.reply) == row.action
                    return  # a replay needs nothing written, so nothing failed
            elif self._denial(key, content) and (row is None or row.state != "pending"):
                assert said(handled.reply) == "deny"
                return
        assert said(handled.reply) == "deny"
        self.owes = True
        self.owed_calls.add(key)

    @rule(pick=picks, command=commands, same=st.booleans())
    def propose_under_a_known_id(self, pick: int, command: str, same: bool) -> None:
        if (known := self._picked(pick)) is not None:
            self.propose(*known[0], known[1].command if same else command, known[1].turn)

    @rule(pick=picks)
    def propose_what_was_refused(self, pick: int) -> None:
        if self.refused:
            key, (command, turn) = sorted(self.refused)[pick % len(self.refused)]
            self.propose(*key, command, turn)

    @rule(
        session=sessions,
        last=st.sampled_from([SEND, SEND_ON]),
        clears=st.booleans(),
        between=st.sampled_from(["", "", "stop", "end", "wait"]),
    )
    def a_secret_goes_out(self, session: str, last: str, clears: bool, between: str) -> None:
        """What a session does about a secret, under ids that are still unused."""
        free = [call for call in CALLS if (session, "", call) not in self.known]
        steps = [TAKE, HAND_ON, CLEAR] if clears else [TAKE, HAND_ON]
        for call, command in zip(free, steps, strict=False):
            self.propose(session, "", call, command)
            self._settle((session, "", call), command, "ok")
        match between:
            case "stop":
                self.stop(session, "")
            case "end":
                self.end_of_a_session(session)
            case "wait":
                self.time_passes(WINDOW_MS)
            case _:
                pass
        if len(free) > len(steps):
            self.propose(session, "", free[len(steps)], last)

    @rule(session=sessions, command=commands, ends=st.sampled_from(["stop", "session", "prompt"]))
    def an_end_of_the_turn_before_comes_late(self, session: str, command: str, ends: str) -> None:
        self.prompt(session, "p1")
        self.prompt(session, "p2")
        free = [call for call in CALLS if (session, "", call) not in self.known]
        if not free:
            return
        self.propose(session, "", free[0], command, "p2")
        match ends:
            case "stop":
                self.stop(session, "", "p1")
            case "session":
                self.end_of_a_session(session, "p1")
            case _:
                self.prompt(session, "p1")
        self._settle((session, "", free[0]), command, "ok")

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
        assert said(handled.reply) == "allow"  # a result is never answered
        row, outcome = self.known.get(key), RESULTS[kind][1]
        if row is not None and len(row.results) >= late_results.MOST - 1:
            return  # more than are remembered: told or not
        if row is not None and (command, kind) in row.results:
            assert told == []
            return
        (record,) = told
        assert isinstance(record, OutcomeRecord)
        self.sessions[key[0]].last = None
        promoted = False
        if row is not None:
            row.results.add((command, kind))
        if row is not None and row.state == "pending":
            if self._is_over(row) or row.policy != self.world.policy:
                row.state = "expired"
            elif row.command != command:
                row.state = "unknown"
            else:
                row.state = outcome
                promoted = outcome == "succeeded"
            row.stepped |= promoted
            if promoted and row.moves:
                self._move(key[0], command)
        ran = row is not None and row.state == "denied" and row.action == "deny" and outcome != "denied"
        assert (record.step is not None, record.alarm == "denied-call-executed") == (promoted, ran)

    # boundaries

    @rule(session=sessions, agent=agents, turn=turns)
    def stop(self, session: str, agent: str, turn: str = "p") -> None:
        told = self._caught_up(self.world.send("Stop", session, agent, turn))
        if self._ends(session, ("Stop", agent, turn), told):
            (record,) = told
            assert isinstance(record, BoundaryRecord)
            assert record.pending_cut == self._cut(session, agent)

    @rule(session=sessions, turn=turns)
    def end_of_a_session(self, session: str, turn: str = "p") -> None:
        told = self._caught_up(self.world.send("SessionEnd", session, "", turn))
        if self._ends(session, ("SessionEnd", "", turn), told):
            (record,) = told
            assert isinstance(record, BoundaryRecord)
            assert record.pending_cut == self._cut(session, None)
            known = self.sessions[session]
            known.over |= {known.turn} - {""}
            known.tainting = False
            known.held.clear()

    def _ends(self, session: str, boundary: tuple[str, str, str], told: list[Record]) -> bool:
        """Whether it ends anything: the very same again does not, and one of a replaced turn is late."""
        known, (_, agent, turn) = self.sessions[session], boundary
        if known.last == boundary:
            assert told == []
            return False
        if not agent and turn != known.turn and turn in known.over:
            (record,) = told
            assert isinstance(record, BoundaryRecord)
            assert (record.late, record.pending_cut, record.steps_closed) == (True, 0, 0)
            known.last = None
            return False
        known.last = boundary
        return True

    @rule(session=sessions)
    def stop_while_the_store_fails(self, session: str) -> None:
        with failing():
            assert self.world.send("Stop", session).records == []
        self.owes = True
        self.owed_ends.add(session)

    @rule(session=sessions, turn=st.sampled_from(["p1", "p2"]))
    def prompt(self, session: str, turn: str) -> None:
        told = self._caught_up(self.world.send("UserPromptSubmit", session, "", turn, prompt="x"))
        known, cut = self.sessions[session], 0
        known.last = None
        if turn != known.turn and turn not in known.over:
            known.over |= {known.turn} - {""}
            cut = self._cut(session, "") if known.turn else 0
            known.turn = turn
        kinds = [LifecycleRecord, BoundaryRecord] if cut else [LifecycleRecord]
        assert [type(record) for record in told] == kinds

    @rule(session=sessions, agent=agents, ids=st.sets(calls))
    def batch(self, session: str, agent: str, ids: set[str]) -> None:
        listed = [{"tool_use_id": call} for call in sorted(ids)]
        told = self._caught_up(self.world.send("PostToolBatch", session, agent, tool_calls=listed))
        (record,) = told
        assert isinstance(record, BoundaryRecord)
        self.sessions[session].last = None
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
            Ledger.steps += 1
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

    def _action(self, session: str, command: str) -> str:
        """What is said today: a file that holds a secret does not go out."""
        return "deny" if self._holds(session, SENT.get(command, "")) else COMMANDS[command]

    def _holds(self, session: str, path: str) -> bool:
        mark = self.sessions[session].held.get(path)
        if mark is None or mark.policy != self.world.policy:
            return False
        return (self._age(mark) or 0) <= WINDOW_MS

    def _move(self, session: str, command: str) -> None:
        path, content = EFFECTS[command]
        held = self.sessions[session].held
        if content == "secret" or self._holds(session, content):
            held[path] = self._mark()
        else:
            held.pop(path, None)

    def _denial(self, key: Key, content: tuple[str, str]) -> bool:
        mark = self.refused.get((key, content))
        return mark is not None and (self._age(mark) or 0) < KEPT_MS

    def _recorded(self, session: str, action: str) -> list[type]:
        """A verdict was written down: what records that makes."""
        self.verdicts += 1
        self.sessions[session].last = None
        return [VerdictRecord, DenialRecord] if action == "deny" else [VerdictRecord]

    def _mark(self) -> Mark:
        clock = self.world.clock
        return Mark(self.world.policy, clock.boot_id(), clock.boot_ns(), clock.wall_ms())

    def _opened(self, session: str, command: str, turn: str, action: str) -> Row:
        mark, known = self._mark(), self.sessions[session]
        state = "denied" if action == "deny" else "pending"
        known.tainting |= command == TAKE
        return Row(
            state,
            action,
            command,
            turn,
            mark.policy,
            mark.boot,
            mark.boot_ns,
            mark.wall_ms,
            moves=known.tainting and command in EFFECTS,
        )

    def _age(self, then: Row | Mark) -> int | None:
        clock = self.world.clock
        if then.boot == clock.boot_id():
            age = (clock.boot_ns() - then.boot_ns) // 1_000_000
        else:
            age = clock.wall_ms() - then.wall_ms
        return age if age >= 0 else None

    def _is_over(self, row: Row) -> bool:
        age = self._age(row)
        return age is None or age >= WINDOW_MS

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
    """LATCHD_MACHINE_EXAMPLES asks for more histories of 50 steps, LATCHD_MACHINE_SEED for other ones."""
    before = Ledger.steps
    many = int(os.environ.get("LATCHD_MACHINE_EXAMPLES", "450"))
    seeded = seed(int(os.environ["LATCHD_MACHINE_SEED"])) if "LATCHD_MACHINE_SEED" in os.environ else None
    run_state_machine_as_test(
        Ledger if seeded is None else seeded(Ledger),
        settings=settings(
            max_examples=many,
            stateful_step_count=50,
            database=None,
            deadline=None,
            suppress_health_check=_QUIET,
        ),
    )
    print(f"{Ledger.steps - before} steps")
    assert Ledger.steps - before >= 50 * many * 0.9
