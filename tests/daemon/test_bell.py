"""A bell is rung for whoever waits, before or after."""

from __future__ import annotations

import pytest
import trio

from latchd.bell import Bell


@pytest.mark.trio
async def test_a_bell_rung_before_the_wait_is_heard_once() -> None:
    bell = Bell()
    bell.ring()
    bell.ring()
    await bell.wait()
    with trio.move_on_after(0) as silence:
        await bell.wait()

    assert silence.cancelled_caught


@pytest.mark.trio
async def test_a_ring_wakes_the_one_who_waits_and_only_once() -> None:
    bell = Bell()
    woken: list[int] = []

    async def wait() -> None:
        while True:
            await bell.wait()
            woken.append(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        bell.ring()
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()

    assert woken == [1]
