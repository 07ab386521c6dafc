"""What a watcher gets of the past: all of it in order, the newest of it, and a gap where some is gone."""

from __future__ import annotations

import pytest

from latch_contracts.records import FaultRecord, GapRecord, HealthRecord, Record
from latch_contracts.wire import VERSION, Watch
from latchd.replay import PAGE, Replay


class Shelf:
    """Records by sequence; every fifth is a health record. ``visits`` counts how often it was read."""

    def __init__(self, first: int, last: int) -> None:
        self.records: list[Record] = [
            HealthRecord(seq=seq, at_ms=seq, health="ok")
            if seq % 5 == 0
            else FaultRecord(seq=seq, at_ms=seq, code="x")
            for seq in range(first, last + 1)
        ]
        self.visits = 0

    def records_after(self, seq: int, limit: int) -> list[Record]:
        self.visits += 1
        return [record for record in self.records if record.seq > seq][:limit]

    def newest_seq(self) -> int:
        return self.records[-1].seq if self.records else 0


def read(shelf: Shelf, watch: Watch) -> tuple[list[Record], int]:
    replay = Replay(shelf, watch)
    got = [record for page in replay.pages() for record in page]
    return got, replay.cursor


@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
@pytest.mark.parametrize("follow", [True, False])
def test_all_of_the_past_comes_once_and_in_order(count: int, follow: bool) -> None:
    shelf = Shelf(1, count)

    assert read(shelf, Watch(VERSION, cursor=0, follow=follow)) == (shelf.records, count)


def test_who_wants_only_new_records_gets_no_old_ones() -> None:
    assert read(Shelf(1, 9), Watch(VERSION, cursor=-1)) == ([], 9)


@pytest.mark.parametrize("limit", [1, 3, PAGE, PAGE + 7, 10_000])
@pytest.mark.parametrize("kinds", [[], ["health"], ["gap"]])
@pytest.mark.parametrize("cursor", [0, 100])
def test_the_newest_that_match_are_found_whatever_lies_between(
    limit: int, kinds: list[str], cursor: int
) -> None:
    shelf = Shelf(3, 4 * PAGE)
    tags = {"health": HealthRecord, "gap": GapRecord}
    matching = [
        record
        for record in shelf.records
        if record.seq > cursor and (not kinds or isinstance(record, tags[kinds[0]]))
    ]
    watch = Watch(VERSION, cursor=cursor, follow=False, kinds=kinds, limit=limit)

    assert read(shelf, watch) == (matching[-limit:], 4 * PAGE)


def test_the_newest_few_cost_two_visits_however_long_the_past_is() -> None:
    shelf = Shelf(1, 20 * PAGE)
    read(shelf, Watch(VERSION, cursor=0, follow=False, limit=10))

    assert shelf.visits == 2  # one finds them, one sends them


@pytest.mark.parametrize("cursor", [2**63 - 1, 2**63, 2**64 - 1])
def test_a_cursor_beyond_what_can_be_asked_for_is_only_the_end(cursor: int) -> None:
    assert read(Shelf(1, 3), Watch(VERSION, cursor=cursor)) == ([], 2**63 - 1)


def test_who_goes_on_after_what_was_pruned_is_told_what_is_missing() -> None:
    shelf = Shelf(11, 14)
    gap = GapRecord(
        at_ms=11,
        what="pruned",
        from_seq=5,
        to_seq=10,
        count=6,
        detail="records past their age or size were removed",
    )

    assert read(shelf, Watch(VERSION, cursor=4, kinds=["health"])) == ([gap], 14)
    assert read(shelf, Watch(VERSION, cursor=0)) == (shelf.records, 14)
    assert read(shelf, Watch(VERSION, cursor=10)) == (shelf.records, 14)


def test_a_replay_that_does_not_follow_ends_where_it_began_to_read() -> None:
    shelf = Shelf(1, PAGE + 2)
    replay = Replay(shelf, Watch(VERSION, cursor=0, follow=False))
    got: list[Record] = []
    for page in replay.pages():
        got += page
        shelf.records += Shelf(shelf.newest_seq() + 1, shelf.newest_seq() + 1).records

    assert ([record.seq for record in got], replay.cursor) == (list(range(1, PAGE + 3)), PAGE + 2)


def test_a_cursor_from_another_database_is_no_error() -> None:
    assert read(Shelf(1, 3), Watch(VERSION, cursor=500)) == ([], 500)
    assert read(Shelf(1, 3), Watch(VERSION, cursor=500, follow=False)) == ([], 500)
