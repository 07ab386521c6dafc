"""What a person is told of sessions: counts that nothing has to be counted for, and all of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_bench import OK, Bench
from latch_contracts.wire import VERSION, SessionView
from latchd.keys import load_or_create, shown
from latchd.store.bounds import Bounds

ELEVATION = "chain.privilege-discovery-then-elevation"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, b'[allow]\npaths = ["~/.ssh"]')
    yield bench
    bench.engine.close()


def key_of(bench: Bench, session: str = "s1") -> str:
    return load_or_create(Path(bench.places.key)).session("claudecode", session).hex()


def counts(bench: Bench) -> dict[str, int]:
    (session,) = bench.engine.sessions(9).sessions
    found: dict[str, int] = session["counts"]
    return found


def one_of_each(bench: Bench) -> None:
    bench.pre(call="c1")
    bench.post(call="c1")
    bench.pre(call="c2")
    bench.fail(call="c2")
    bench.pre(call="c3")
    bench.post(call="c3", tool_response=OK | {"backgroundTaskId": "b"})
    bench.pre("rm -rf ~", call="c4")
    bench.pre(call="c5")
    bench.pre("git log", call="c5")
    bench.pre(call="c6")
    bench.fail(call="c6", is_interrupt=True)
    bench.pre(call="c7")
    bench.post(call="c7", hook_event_name="PermissionDenied", reason="no", tool_response=None)
    bench.pre(call="c8")
    bench.send("Stop")
    bench.pre(call="c9")
    bench.clock.advance_ms(31 * 60_000)
    bench.engine.expire()
    bench.pre(call="c10")


EACH = {
    "pending": 1,
    "succeeded": 1,
    "failed": 1,
    "cancelled": 1,
    "denied": 2,
    "unknown": 1,
    "expired": 1,
    "cut": 1,
    "poisoned": 1,
}


def test_every_call_is_counted_where_it_ended(bench: Bench) -> None:
    one_of_each(bench)

    assert counts(bench) == EACH | {"steps": 1}


def test_counts_are_those_of_the_rows_while_no_row_is_pruned(bench: Bench) -> None:
    one_of_each(bench)

    rows = bench.store.database.rows("SELECT state, count(*) FROM calls GROUP BY state")
    assert dict(rows) == EACH


def test_what_is_pruned_stays_counted(bench: Bench) -> None:
    one_of_each(bench)
    with bench.store.database.transaction():
        bench.store.prune(Bounds(calls=1), 0)

    assert counts(bench) == EACH | {"steps": 1}


def test_the_sessions_end_closes_its_steps_and_chains(bench: Bench) -> None:
    bench.pre("sudo -l")
    bench.post("sudo -l")
    before = bench.engine.sessions(9).sessions[0]
    bench.send("SessionEnd", reason="other")
    after = bench.engine.sessions(9).sessions[0]

    assert (before["counts"]["steps"], before["chains"]) == (1, [ELEVATION])
    assert (after["counts"]["steps"], after["chains"]) == (0, [])


def test_no_listing_walks_the_calls(bench: Bench) -> None:
    """At the bound of 262,144 calls a walk takes most of a second of the daemon's only loop."""
    asked: list[str] = []
    real = bench.store.database.rows

    def spied(sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        asked.append(sql.replace("?", "0"))
        return real(sql, values)

    bench.pre()
    bench.store.database.rows = spied  # type: ignore[method-assign]
    bench.engine.sessions(9)
    bench.engine.session("s1", 9)
    del bench.store.database.rows

    plans = [str(row[3]) for sql in asked for row in real(f"EXPLAIN QUERY PLAN {sql}")]
    assert len(asked) >= 4
    assert [plan for plan in plans if plan.startswith("SCAN") and "sessions" not in plan] == []


def test_one_session_is_shown_with_its_calls_chains_and_secret_files(bench: Bench) -> None:
    bench.pre("sudo -l", call="c1")
    bench.post("sudo -l", call="c1")
    bench.clock.advance_ms(1000)
    bench.pre("cp ~/.ssh/id_rsa k", call="c2")
    bench.post("cp ~/.ssh/id_rsa k", call="c2")
    bench.clock.advance_ms(60_000)

    view = bench.engine.session("s1", 9)

    assert (view.matches, view.session["session_key"]) == (1, shown(bytes.fromhex(key_of(bench))))
    assert [(call["state"], call["step"], call["age_ms"]) for call in view.calls] == [
        ("succeeded", 2, 61_000),
        ("succeeded", 4, 60_000),
    ]
    assert [(one["chain"], one["step"], one["exact"], one["age_ms"]) for one in view.chains] == [
        (ELEVATION, 2, True, 61_000),
        ("chain.secret-read-then-egress", 4, False, 60_000),
    ]
    assert [one["events_left"] for one in view.chains] == [29, 62]
    assert view.secret_files == 2  # the copy, and what it would be inside a directory of that name


def test_a_session_is_found_by_its_id_its_key_and_any_beginning_of_it(bench: Bench) -> None:
    bench.pre()
    key = key_of(bench)

    found = [bench.engine.session(name, 9) for name in ("s1", key, key[:16], key[:15], key[:1])]
    assert {view.matches for view in found} == {1}
    assert {view.session["session_key"] for view in found} == {key[:16]}


@pytest.mark.parametrize("name", ["", "nobody", "0" * 64, "0" * 65, "zz", "x" * 10_000, "é"])
def test_what_names_no_session_finds_none(bench: Bench, name: str) -> None:
    bench.pre()

    assert bench.engine.session(name, 9) == SessionView(VERSION, 0)


def test_a_beginning_of_several_keys_is_ambiguous(bench: Bench) -> None:
    for number in range(17):  # sixteen digits, so two of them share one
        bench.pre(session_id=f"s{number}")
    digits = [key_of(bench, f"s{number}")[0] for number in range(17)]
    shared = next(digit for digit in digits if digits.count(digit) > 1)

    assert bench.engine.session(shared, 9) == SessionView(VERSION, 2)


def test_only_the_newest_calls_are_shown(bench: Bench) -> None:
    for number in range(5):
        bench.pre(call=f"c{number}")

    assert [call["opened_seq"] for call in bench.engine.session("s1", 2).calls] == [4, 5]


def test_a_long_session_is_shown_like_a_short_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        bench.pre(call=f"c{number}")
        bench.pre(call=f"c{number}", session_id="s2")
    short = bench.engine.session("s1", 3)
    monkeypatch.setattr("latchd.views._SORTED", 0)

    assert bench.engine.session("s1", 3) == short


def test_an_age_that_a_clock_can_not_tell_is_said_to_be_unknown(bench: Bench) -> None:
    bench.pre()
    bench.clock.reboot()
    bench.clock.step_wall_ms(-(10**9))

    assert bench.engine.session("s1", 9).calls[0]["age_ms"] is None
