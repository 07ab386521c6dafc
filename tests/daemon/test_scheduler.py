"""What is done without being asked, in virtual time."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from doubles import FakeEngine
from latch_contracts.places import Places
from latch_contracts.records import ExpiryRecord, FaultRecord, GapRecord, Record
from latchd import scheduler
from latchd.bell import Bell
from latchd.hub import Filter, Hub, Subscription
from latchd.notify import Notifier
from latchd.scheduler import CHECKPOINT_SECONDS, LOOK_AROUND_SECONDS, Scheduler, say_alive

SILENT = Notifier({}, 1)


class Bench:
    def __init__(self, root: Path) -> None:
        self.engine = FakeEngine()
        self.hub = Hub()
        self.places = Places(runtime=str(root), state=str(root), config=str(root))
        self.scheduler = Scheduler(self.engine, self.hub, self.places)
        self.bell = Bell()
        self.watching: Subscription = self.hub.subscribe(Filter(), self.bell.ring)

    def write(self, path: str, content: str) -> None:
        Path(path).write_text(content)

    def told(self) -> list[Record]:
        return self.watching.take(99)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def run_for(seconds: float, bench: Bench) -> None:
    with trio.move_on_after(seconds):
        await bench.scheduler.run(SILENT)


@pytest.mark.trio
async def test_a_pending_call_expires_when_its_window_ends(bench: Bench, autojump_clock: MockClock) -> None:
    bench.engine.deadlines = [30.0, 3600.0]
    with trio.move_on_after(4000):
        await bench.scheduler.expire_when_due()

    assert bench.told() == [
        ExpiryRecord(seq=1, at_ms=30_000, expired=1),
        ExpiryRecord(seq=2, at_ms=3_600_000, expired=1),
    ]


@pytest.mark.trio
async def test_an_event_that_brings_the_deadline_forward_wakes_it(
    bench: Bench, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.scheduler.expire_when_due)
        await trio.sleep(5)  # it sleeps without a deadline by now
        bench.engine.deadlines = [7.0]
        bench.scheduler.look_again()
        await trio.sleep(5)
        nursery.cancel_scope.cancel()

    assert bench.told() == [ExpiryRecord(seq=1, at_ms=7_000, expired=1)]


@pytest.mark.trio
async def test_what_is_overdue_at_the_start_expires_at_once(bench: Bench, autojump_clock: MockClock) -> None:
    bench.engine.deadlines = [-5.0]
    with trio.move_on_after(0.5):
        await bench.scheduler.expire_when_due()

    assert bench.told() == [ExpiryRecord(seq=1, at_ms=0, expired=1)]


@pytest.mark.trio
async def test_a_busy_store_is_asked_again_once_a_second_not_in_a_frenzy(
    bench: Bench, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def expire() -> list[Record]:
        asked.append(trio.current_time())
        return []

    monkeypatch.setattr(bench.engine, "next_deadline_ms", lambda: 0)
    monkeypatch.setattr(bench.engine, "expire", expire)
    with trio.move_on_after(3.5):
        await bench.scheduler.expire_when_due()

    assert asked == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.trio
async def test_a_burst_of_records_is_one_checkpoint(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CHECKPOINT_SECONDS", 0)
    async with trio.open_nursery() as nursery:
        await nursery.start(bench.scheduler.checkpoint_after_records)
        for _ in range(10):
            bench.hub.publish(bench.engine.fault("x", ""))
        while not bench.engine.checkpoints:
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()

    assert bench.engine.checkpoints == [10]


@pytest.mark.trio
async def test_an_idle_daemon_makes_no_checkpoint(bench: Bench, autojump_clock: MockClock) -> None:
    await run_for(10 * CHECKPOINT_SECONDS, bench)

    assert bench.engine.checkpoints == []


@pytest.mark.trio
async def test_a_log_that_can_not_start_over_is_taken_between_two_events(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "CHECKPOINT_SECONDS", 0)
    bench.engine.log_bytes = scheduler.LOG_BYTES + 1
    async with trio.open_nursery() as nursery:
        await nursery.start(bench.scheduler.checkpoint_after_records)
        bench.hub.publish(bench.engine.fault("x", ""))
        while len(bench.engine.checkpoints) < 2:
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()

    assert bench.engine.checkpoints == [1, 1]


@pytest.mark.trio
async def test_a_log_that_grows_fast_is_not_waited_for_to_the_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    made: list[int] = []
    again = trio.Event()

    def checkpoint() -> None:
        made.append(1)
        if len(made) == 2:  # the first is in a thread
            again.set()

    monkeypatch.setattr(bench.engine, "checkpoint", checkpoint)
    bench.engine.log_bytes = scheduler.LOG_BYTES + 1
    async with trio.open_nursery() as nursery:
        await nursery.start(bench.scheduler.checkpoint_after_records)
        bench.hub.publish(bench.engine.fault("x", ""))
        await again.wait()
        nursery.cancel_scope.cancel()

    assert trio.current_time() < CHECKPOINT_SECONDS / 2


@pytest.mark.trio
async def test_a_checkpoint_that_fails_is_told_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def checkpoint() -> None:
        tried.append(1)
        raise OSError

    monkeypatch.setattr(scheduler, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(bench.engine, "checkpoint", checkpoint)
    async with trio.open_nursery() as nursery:
        await nursery.start(bench.scheduler.checkpoint_after_records)
        bench.hub.publish(bench.engine.fault("x", ""))
        while len(tried) < 2:  # its own record leads to the second try
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()

    assert bench.told() == [
        FaultRecord(seq=1, code="x"),
        FaultRecord(seq=2, code="checkpoint", detail="OSError"),
    ]


@pytest.mark.trio
async def test_the_spool_is_read_at_the_start_and_whenever_it_is_there(
    bench: Bench, autojump_clock: MockClock
) -> None:
    line = '{"v":1,"connector":"c","event":"Stop","why":"timeout"}\n'
    gap = GapRecord(what="unreachable", count=1, detail="c Stop: timeout")
    bench.write(bench.places.spool, line)
    async with trio.open_nursery() as nursery:
        await nursery.start(bench.scheduler.run, SILENT)
        first = bench.told()
        bench.write(bench.places.spool, line * 2)
        await trio.sleep(LOOK_AROUND_SECONDS - 1)
        between = bench.told()
        await trio.sleep(2)
        nursery.cancel_scope.cancel()

    assert (first, between, bench.told()) == (
        [msgspec.structs.replace(gap, seq=1)],
        [],
        [msgspec.structs.replace(gap, seq=2, count=2)],
    )


@pytest.mark.trio
async def test_a_duty_that_fails_ends_no_other(
    bench: Bench, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify() -> list[Record]:
        raise ZeroDivisionError

    monkeypatch.setattr(bench.engine, "verify", verify)
    with trio.move_on_after(2.5 * LOOK_AROUND_SECONDS):
        await bench.scheduler.look_around()

    assert [record.detail for record in bench.told() if isinstance(record, FaultRecord)] == [
        "ZeroDivisionError",
        "ZeroDivisionError",
    ]


@pytest.mark.trio
async def test_the_watchdog_hears_of_us_twice_in_its_time(autojump_clock: MockClock) -> None:
    heard: list[float] = []

    class Hearing(Notifier):
        def alive(self) -> None:
            heard.append(trio.current_time())

    notifier = Hearing({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "30000000"}, 1)
    with trio.move_on_after(40):
        await say_alive(notifier)

    assert heard == [0.0, 15.0, 30.0]
