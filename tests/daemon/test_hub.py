"""Subscribers: what they get, what they lose, and that it costs nobody else anything."""

from __future__ import annotations

import pytest

from latch_contracts.records import DenialRecord, FaultRecord, GapRecord, HealthRecord, Record, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, Watch
from latchd.hub import Filter, Hub


class Rings:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def faults(first: int, last: int) -> list[Record]:
    return [FaultRecord(seq=seq, at_ms=seq * 10, code="x") for seq in range(first, last + 1)]


def test_records_come_in_order_and_once() -> None:
    hub = Hub()
    subscription = hub.subscribe(Filter(), Rings())
    hub.publish(faults(1, 3))
    hub.publish(faults(4, 5))

    assert [subscription.take(2), subscription.take(9), subscription.take(9)] == [
        faults(1, 2),
        faults(3, 5),
        [],
    ]


def test_a_subscriber_is_woken_once_for_all_it_has_not_taken() -> None:
    hub, rings = Hub(), Rings()
    subscription = hub.subscribe(Filter(), rings)
    hub.publish(faults(1, 3))
    first = rings.count
    subscription.take(9)
    hub.publish(faults(4, 4))

    assert (first, rings.count) == (1, 2)


def test_what_is_lost_is_one_gap_in_its_place() -> None:
    hub = Hub(capacity=2)
    subscription = hub.subscribe(Filter(), Rings())
    hub.publish(faults(1, 5))
    first = subscription.take(1)
    hub.publish(faults(6, 6))  # there is room again, but it may not pass those that were lost
    second = subscription.take(9)
    hub.publish(faults(7, 7))

    assert first == faults(1, 1)
    assert second == [
        *faults(2, 2),
        GapRecord(
            at_ms=60, what="subscriber", from_seq=3, to_seq=6, count=4, detail="this reader was too slow"
        ),
    ]
    assert subscription.take(9) == faults(7, 7)
    assert subscription.lost == 4


def test_a_slow_subscriber_costs_the_others_nothing() -> None:
    hub = Hub(capacity=2)
    slow, quick = hub.subscribe(Filter(), Rings()), hub.subscribe(Filter(), Rings())
    got: list[Record] = []
    for record in faults(1, 9):
        hub.publish([record])
        got += quick.take(9)

    assert got == faults(1, 9)
    assert (slow.lost, quick.lost) == (7, 0)


def test_who_left_gets_nothing_more() -> None:
    hub, rings = Hub(), Rings()
    subscription = hub.subscribe(Filter(), rings)
    hub.unsubscribe(subscription)
    hub.unsubscribe(subscription)
    hub.publish(faults(1, 1))

    assert (len(hub), rings.count, subscription.take(9)) == (0, 0, [])


DENY = VerdictRecord(connector="claudecode", action=Action.DENY)
ALLOW = VerdictRecord(connector="codex", action=Action.ALLOW)
DENIAL = DenialRecord(connector="claudecode", rule="r", participant="p")
HEALTH = HealthRecord(health="ok")


@pytest.mark.parametrize(
    ("watch", "taken"),
    [
        (Watch(VERSION), [DENY, ALLOW, DENIAL, HEALTH]),
        (Watch(VERSION, kinds=["denial", "health"]), [DENIAL, HEALTH]),
        (Watch(VERSION, connectors=["claudecode"]), [DENY, DENIAL]),
        (Watch(VERSION, actions=["deny"]), [DENY]),
        (Watch(VERSION, kinds=["verdict"], connectors=["codex"], actions=["deny"]), []),
        (Watch(VERSION, kinds=["no-such-kind"]), []),
    ],
    ids=["all", "kinds", "connectors", "actions", "together", "unknown"],
)
def test_a_filter_takes_what_all_its_parts_take(watch: Watch, taken: list[Record]) -> None:
    wanted = Filter.of(watch)

    assert [record for record in (DENY, ALLOW, DENIAL, HEALTH) if wanted.takes(record)] == taken


def test_a_filtered_record_is_no_loss() -> None:
    hub = Hub(capacity=1)
    subscription = hub.subscribe(Filter(kinds=frozenset({"fault"})), Rings())
    hub.publish([*faults(1, 1), HEALTH, HEALTH])

    assert (subscription.take(9), subscription.lost) == (faults(1, 1), 0)
