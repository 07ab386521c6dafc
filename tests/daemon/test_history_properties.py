"""What may be different in two histories without changing an answer, and what never makes one stricter."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latch_contracts.records import OutcomeRecord
from latch_contracts.wire import VERSION, HookRequest
from ledger_world import CALLS, COMMANDS, RESULTS, SEND, SEND_ON, TAKE, WINDOW_MS, World, said

_QUIET: Final = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
# Of which nothing is remembered that an answer could depend on.
_PLAIN: Final = sorted(COMMANDS.keys() - {SEND, SEND_ON})

sessions = st.sampled_from(["s1", "s2"])
agents = st.sampled_from(["", "a1"])
calls = st.sampled_from(CALLS)
commands = st.sampled_from(sorted(COMMANDS))
kinds = st.sampled_from(sorted(RESULTS))

events = st.one_of(
    st.tuples(st.just("propose"), sessions, agents, calls, commands),
    st.tuples(st.just("settle"), sessions, agents, calls, commands, kinds),
    st.tuples(st.just("stop"), sessions, agents),
    st.tuples(st.just("end"), sessions),
    st.tuples(st.just("wait"), st.sampled_from([1, WINDOW_MS // 2, WINDOW_MS])),
)
# The answer, its words for the model, and whether a step was made. The code that a person may lift a
# refusal with is another one in every world.
Told = tuple[str, bytes, bool]


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
            return "allow", b"", False
        case _:
            raise AssertionError(event)
    step = any(isinstance(record, OutcomeRecord) and record.step is not None for record in handled.records)
    return said(handled.reply), handled.reply.stderr, step


@contextlib.contextmanager
def worlds(count: int) -> Generator[list[World]]:
    made = [World() for _ in range(count)]
    try:
        yield made
    finally:
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
@given(
    st.lists(st.tuples(sessions, agents, calls, st.sampled_from(_PLAIN), kinds), max_size=12), st.randoms()
)
def test_a_history_told_again_in_any_order_adds_nothing(history: list[tuple[Any, ...]], random: Any) -> None:
    """First deliveries only: under an id that two contents share, nothing is a replay any more."""
    first = {event[:3]: event for event in reversed(history)}
    with worlds(1) as (world,):
        told: list[tuple[tuple[Any, ...], Told]] = []
        for *key, command, kind in first.values():
            proposed = ("propose", *key, command)
            told.append((proposed, do(world, proposed)))
            if told[-1][1][0] != "deny":
                settled = ("settle", *key, command, kind)
                told.append((settled, (*do(world, settled)[:2], False)))  # a step is made once
            for late in ("other ok", "failed"):
                settled = ("settle", *key, command, late)
                told.append((settled, (*do(world, settled)[:2], False)))
        rows, newest = world.rows(), world.engine.newest_seq()
        again = told * 2
        random.shuffle(again)

        assert [do(world, event) for event, _ in again] == [answer for _, answer in again]
        assert (world.rows(), world.engine.newest_seq()) == (rows, newest)


# What proves nothing: proposals of calls of their own, and any result of theirs but success.
noise = st.tuples(
    sessions,
    st.sampled_from(sorted(COMMANDS)),
    st.sampled_from(["none", "launched", "failed", "stopped", "refused"]),
)


@settings(max_examples=25, suppress_health_check=_QUIET)
@given(st.lists(st.tuples(events, st.lists(noise, max_size=2)), max_size=25))
def test_what_proves_nothing_never_makes_an_answer_stricter(
    history: list[tuple[tuple[Any, ...], list[tuple[str, str, str]]]],
) -> None:
    with worlds(2) as (quiet, noisy):
        for number, (event, between) in enumerate(history):
            for index, (session, command, kind) in enumerate(between):
                key = (session, "", f"n{number}-{index}")
                noisy.propose(key, command)
                if kind != "none":
                    noisy.settle(key, command, kind)

            assert do(noisy, event)[:2] == do(quiet, event)[:2]


_STATE: Final = (
    ("calls", "opened_seq"),
    ("steps", "seq"),
    ("chain_events", "seq"),
    ("taints", "seq"),
    ("turns", "seq"),
    ("denials", "seq"),
    ("files", "seq"),
    ("sessions", "last_seq"),
)


@settings(max_examples=25, suppress_health_check=_QUIET)
@given(
    st.lists(events, max_size=20),
    st.sampled_from(_STATE),
    st.integers(0, 9),
    st.lists(events.filter(lambda event: event[0] == "propose"), max_size=8),
)
def test_a_lost_row_never_makes_an_answer_stricter(
    history: list[tuple[Any, ...]],
    table: tuple[str, str],
    pick: int,
    proposals: list[tuple[Any, ...]],
) -> None:
    name, order = table
    with worlds(2) as (whole, torn):
        for event in history:
            do(whole, event)
            do(torn, event)
        # Names come from the table above.
        torn.store.database.run(
            f"DELETE FROM {name} WHERE {order} IN "
            f"(SELECT {order} FROM {name} ORDER BY {order} LIMIT 1 OFFSET ?)",
            (pick,),
        )
        strictness = ["allow", "ask", "deny"].index
        for event in proposals:
            kept, lost = do(whole, event)[0], do(torn, event)[0]

            assert strictness(lost) <= strictness(kept)


def test_blanks_order_and_escapes_of_a_payload_change_nothing() -> None:
    members = {
        "session_id": "s1",
        "cwd": "/home/dev/project",
        "prompt_id": "p",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": TAKE, "description": "ü"},
        "tool_use_id": "c1",
    }
    spellings = (
        json.dumps(members),
        json.dumps(dict(reversed(members.items())), indent=3),
        json.dumps(members, ensure_ascii=False, separators=(",", ":")),
        json.dumps(members).replace("Bash", "\\u0042\\u0061sh"),
    )
    with worlds(1) as (world,):
        handled = [
            world.engine.handle(HookRequest(VERSION, "claudecode", "", "", "/", "", spelling.encode()))
            for spelling in spellings
        ]

    assert {one.reply for one in handled} == {handled[0].reply}
    assert [len(one.records) for one in handled] == [1, 0, 0, 0]
