"""What is remembered, on a real file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from latch_contracts.outcome import State
from latch_contracts.records import GapRecord, LifecycleRecord
from latch_contracts.verdict import Action
from latchd.lifecycle import TRANSITIONS
from latchd.store import listing
from latchd.store.bounds import BOUNDED, Bounds
from latchd.store.database import Database
from latchd.store.errors import StoreError
from latchd.store.rows import CallRow, SessionRow
from latchd.store.store import Store
from latchd.windows import Instant

S, T = bytes([1]) * 32, bytes([2]) * 32
AGENT = bytes([9]) * 32


def call(number: int, **changes: object) -> CallRow:
    digest = number.to_bytes(32, "big")
    row = CallRow(
        session=S,
        call=digest,
        agent=b"",
        state=State.PENDING,
        fingerprint=digest,
        input=digest,
        policy=T,
        action=Action.ALLOW,
        rule="",
        operations=5,
        opened=Instant(bytes(16), number, 100 + number),
        opened_seq=number,
    )
    return msgspec.structs.replace(row, **changes)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    database = Database.open(tmp_path / "latchd.db")
    yield Store(database)
    database.close()


def test_records_come_back_in_order_with_their_sequence(store: Store) -> None:
    first = store.append_record(LifecycleRecord(at_ms=1, note="a"), S)
    second = store.append_record(GapRecord(at_ms=2, what="subscriber", count=3))

    assert [first.seq, second.seq] == [1, 2]
    assert store.records_after(0, 10) == [first, second]
    assert store.records_after(1, 10) == [second]
    assert store.records_after(0, 1) == [first]
    assert store.records_named(S, 9) == [first]
    assert store.records_named(b"", 9) == []
    assert store.newest_seq() == 2


def test_a_sequence_is_never_given_twice_because_the_newest_record_stays(store: Store) -> None:
    for number in (1, 2, 3):
        store.append_record(LifecycleRecord(at_ms=number))

    store.prune(Bounds(records_ms=1), now_ms=10**12)

    assert [record.seq for record in store.records_after(0, 9)] == [3]
    assert store.append_record(LifecycleRecord(at_ms=4)).seq == 4


def test_only_the_newest_of_an_id_without_end_are_found(store: Store) -> None:
    for number in range(5):
        store.open_call(call(store.append_record(LifecycleRecord(at_ms=number), T).seq))

    assert [record.seq for record in store.records_named(T, 2)] == [4, 5]
    assert [row.opened_seq for row in listing.calls_named(store.database, T, 2)] == [4, 5]


def test_a_record_may_bring_its_own_sequence(store: Store) -> None:
    first = store.append_record(LifecycleRecord(seq=70, note="a"))

    assert store.append_record(LifecycleRecord(note="b")).seq == 71
    assert store.records_after(0, 1) == [first]


def test_a_step_whose_call_was_pruned_gives_its_place_to_a_new_one(store: Store) -> None:
    store.promote(call(1), 1, Instant(bytes(16), 5, 6))
    store.promote(call(1), 2, Instant(bytes(16), 7, 8))

    assert store.step_of(S, call(1).call) == 2


def test_an_overruled_call_is_denied_only_while_it_is_pending(store: Store) -> None:
    store.open_call(call(1))
    store.open_call(call(2, state=State.SUCCEEDED))
    for number in (1, 2):
        store.overrule(S, call(number).call, Action.DENY, "fs.x", 9)
    rows = [store.call(S, call(number).call) for number in (1, 2)]

    assert rows == [
        call(1, state=State.DENIED, action=Action.DENY, rule="fs.x", closed_seq=9),
        call(2, state=State.SUCCEEDED, action=Action.DENY, rule="fs.x"),
    ]


def test_a_cut_of_every_session_takes_all_that_is_pending(store: Store) -> None:
    store.open_call(call(1))
    store.open_call(call(2, session=T))
    store.open_call(call(3, state=State.FAILED))

    assert store.cut_pending(None, None, 9, b"") == 2


def test_an_amended_record_is_what_is_read_later(store: Store) -> None:
    record = store.append_record(LifecycleRecord(at_ms=1))

    amended = store.amend_record(msgspec.structs.replace(record, note="known now"))

    assert store.records_after(0, 9) == [amended]


def test_a_call_comes_back_as_it_was_opened(store: Store) -> None:
    row = call(1, agent=AGENT, rule="fs.x", action=Action.ASK)

    store.open_call(row)

    assert store.call(S, row.call) == row
    assert store.call(T, row.call) is None


def test_a_call_is_found_by_its_name_through_the_record_that_opened_it(store: Store) -> None:
    record = store.append_record(LifecycleRecord(at_ms=1), T)
    row = call(record.seq)
    store.open_call(row)

    assert listing.calls_named(store.database, T, 9) == [row]
    assert listing.calls_named(store.database, S, 9) == []
    assert listing.calls_named(store.database, b"", 9) == []


def test_closing_moves_a_pending_call_once(store: Store) -> None:
    store.open_call(call(1))
    store.close_call(call(1), State.FAILED, 7, T)

    store.close_call(call(1), State.SUCCEEDED, 8, S)

    assert store.call(S, call(1).call) == call(1, state=State.FAILED, closed_seq=7, result=T)


def test_a_promotion_is_one_step_under_its_results_sequence(store: Store) -> None:
    store.promote(call(1), 42, Instant(bytes(16), 5, 6))

    assert store.step_of(S, call(1).call) == 42
    assert store.step_of(T, call(1).call) is None


def test_a_cut_takes_one_agents_pending_calls_and_nothing_else(store: Store) -> None:
    rows = [call(1), call(2, agent=AGENT), call(3, state=State.SUCCEEDED), call(4, session=T)]
    for row in rows:
        store.open_call(row)

    cut = store.cut_pending(S, b"", 9, T)

    assert cut == 1
    assert [store.call(row.session, row.call) for row in rows] == [
        call(1, state=State.CUT, closed_seq=9, result=T),
        *rows[1:],
    ]


def test_a_cut_of_all_agents_takes_them_all(store: Store) -> None:
    store.open_call(call(1))
    store.open_call(call(2, agent=AGENT))

    assert store.cut_pending(S, None, 9, T) == 2


def test_a_session_end_counts_and_closes_the_steps_and_forgets_its_files(store: Store) -> None:
    store.touch_session(S, "claudecode", 5, 1)
    store.promote(call(1), 2, Instant(bytes(16), 5, 6))
    store.see_file(S, T, 2, b"stamp")
    store.see_file(T, T, 2, b"other")

    assert store.close_session(S, 3) == 1
    assert store.close_session(S, 4) == 0

    assert store.session(S) == SessionRow(S, "claudecode", b"", 4, 5, 5, last_seq=1, first_seq=1)
    assert store.seen_file(S, T) is None
    assert store.seen_file(T, T) == b"other"


def test_sessions_are_listed_latest_first_with_their_counts(store: Store) -> None:
    store.touch_session(S, "claudecode", 5, 1)
    store.touch_session(T, "claudecode", 6, 2)
    store.touch_session(S, "claudecode", 7, 3)
    store.open_call(call(1))
    store.promote(call(2), 9, Instant(bytes(16), 5, 6))

    assert [
        (row.session, row.first_ms, row.last_ms, counts)
        for row, counts in listing.sessions(store.database, 9)
    ] == [
        (S, 5, 7, {"pending": 1, "steps": 1}),
        (T, 6, 6, {"steps": 0}),
    ]


def test_only_the_sessions_own_oldest_is_over_its_cap(store: Store) -> None:
    for number in (1, 2, 3):
        store.open_call(call(number))
    store.open_call(call(4, session=T))

    assert store.oldest_pending_over(S, 3) is None
    assert store.oldest_pending_over(S, 2) == call(1)
    assert store.oldest_pending_over(T, 2) is None


def test_a_file_is_remembered_by_its_latest_stamp(store: Store) -> None:
    store.see_file(S, T, 1, b"old")
    store.see_file(S, T, 2, b"new")

    assert store.seen_file(S, T) == b"new"
    assert store.seen_file(T, T) is None


def test_pruning_takes_the_oldest_over_the_bound_and_never_a_pending_call(store: Store) -> None:
    store.open_call(call(1))
    for number in (2, 3, 4):
        store.open_call(call(number, state=State.FAILED))
        store.promote(call(number), number, Instant(bytes(16), 5, 6))

    store.prune(Bounds(calls=2, steps=1), now_ms=0)

    kept = [number for number in (1, 2, 3, 4) if store.call(S, call(number).call) is not None]
    assert kept == [1, 4]
    assert [number for number in (2, 3, 4) if store.step_of(S, call(number).call)] == [4]


def test_pruning_is_bounded_by_its_batch(store: Store) -> None:
    for number in range(10):
        store.append_record(LifecycleRecord(at_ms=number))

    assert store.prune(Bounds(bytes=0, batch=4), now_ms=0)  # there may be more
    assert [record.seq for record in store.records_after(0, 99)] == [5, 6, 7, 8, 9, 10]


def test_a_backlog_is_worked_down_batch_by_batch(store: Store) -> None:
    for number in range(10):
        store.promote(call(number), number, Instant(bytes(16), 5, 6))
    bounds = Bounds(steps=1, batch=4)

    assert [store.prune(bounds, now_ms=0) for _ in range(3)] == [True, True, False]
    assert [number for number in range(10) if store.step_of(S, call(number).call)] == [9]


def test_a_database_within_its_size_keeps_its_records(store: Store) -> None:
    store.append_record(LifecycleRecord(at_ms=1))

    assert store.prune(Bounds(), now_ms=2) is False


def test_a_session_with_pending_calls_outlives_its_bound(store: Store) -> None:
    store.touch_session(S, "claudecode", 1, 1)
    store.touch_session(T, "claudecode", 2, 2)
    store.open_call(call(1))

    store.prune(Bounds(sessions=0), now_ms=0)

    assert [row.session for row, _ in listing.sessions(store.database, 9)] == [S]


def test_a_session_that_a_bound_took_knows_nothing_before_where_its_window_was_closed(store: Store) -> None:
    store.touch_session(S, "claudecode", 1, 1)
    store.close_session(S, 7)
    store.touch_session(T, "claudecode", 2, 8)

    store.prune(Bounds(sessions=1), now_ms=0)
    store.touch_session(S, "claudecode", 3, 9)
    row = store.session(S)

    assert row is not None
    assert row.closed_seq == 7


def test_the_database_lets_a_call_move_as_the_table_says_and_no_other_way(store: Store) -> None:
    for number, before in enumerate(State, start=1):
        for index, state in enumerate(State):
            row = call(100 * number + index, state=before)
            store.open_call(row)
            wanted = state is before or state in TRANSITIONS[before].values()
            try:
                store.database.run(
                    "UPDATE calls SET state = ? WHERE opened_seq = ?", (state.value, row.opened_seq)
                )
            except StoreError:
                assert not wanted, (before, state)
            else:
                assert wanted, (before, state)


def test_every_table_has_its_bound(store: Store) -> None:
    tables = {name for (name,) in store.database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    pruned = {table for table, *_ in BOUNDED}
    # records by age and size, refusals by themselves whenever one is added, barriers by the words they may be
    assert tables == pruned | {"records", "refusals", "barriers"}


def test_room_that_pruning_leaves_is_used_again_and_the_file_stops_growing(store: Store) -> None:
    bounds = Bounds(sessions=5, calls=100, steps=100, files=100, turns=100, denials=100, bytes=1)
    pages: list[int] = []
    for block in range(16):
        with store.database.transaction():
            for number in range(1 + 100 * block, 101 + 100 * block):
                seq = store.append_record(LifecycleRecord(at_ms=number, note="x" * 200)).seq
                session = (number // 40).to_bytes(32, "big")
                store.touch_session(session, "claudecode", number, seq)
                row = call(number, session=session, opened_seq=seq)
                store.open_call(row)
                store.close_call(row, State.SUCCEEDED, seq, b"")
                store.promote(row, seq, row.opened)
                store.see_file(session, row.call, seq, b"stamp")
        with store.database.transaction():
            while store.prune(bounds, now_ms=100 + 100 * block):
                pass
        pages += [count for (count,) in store.database.rows("PRAGMA page_count")]

    assert pages[-1] <= max(pages[:8])
    assert store.database.row("SELECT count(*) FROM calls") == (100,)
