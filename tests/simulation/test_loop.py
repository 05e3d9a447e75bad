from __future__ import annotations

import asyncio
from contextvars import copy_context
from random import Random

import pytest

from tests.simulation.loop import PLACE, Place, Stuck, VirtualLoop


@pytest.fixture
def loop():
    made = VirtualLoop(Random(1), shuffle=True)
    yield made
    made.close()


def spawn(loop: VirtualLoop, place: Place, coro) -> asyncio.Task:
    context = copy_context()
    context.run(PLACE.set, place)
    return loop.create_task(coro, context=context)


def test_timers_of_one_moment_run_in_an_order_that_the_seed_decides():
    def order(seed: int) -> list[int]:
        loop, seen = VirtualLoop(Random(seed)), []
        for n in range(10):
            loop.call_later(1, seen.append, n)
        loop.run_until_complete(asyncio.sleep(2))
        loop.close()
        return seen

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(5)}) == 5


def test_waiting_for_nothing_is_an_error(loop):
    with pytest.raises(Stuck, match="no timer"):
        loop.run_until_complete(loop.create_future())


def test_a_paused_place_stands_still_with_all_that_it_has_begun(loop):
    place, ticks = Place("p"), []

    async def tick():
        while True:
            await asyncio.sleep(1)
            ticks.append(loop.time())

    async def main():
        task = spawn(loop, place, asyncio.wait_for(tick(), 1000))
        await asyncio.sleep(3.5)
        loop.pause(place)
        await asyncio.sleep(100)
        assert len(ticks) == 3
        loop.wake(place)
        await asyncio.sleep(2.5)
        assert [round(at) for at in ticks] == [1, 2, 3, 104, 105, 106]
        loop.kill(place)
        await asyncio.wait([task])
        return task.cancelled(), place.alive

    assert loop.run_until_complete(main()) == (True, False)


def test_what_is_begun_inside_a_place_belongs_to_it(loop):
    place, began = Place("p"), []

    async def child():
        began.append(True)
        await asyncio.sleep(1000)

    async def parent():
        inner = asyncio.create_task(child())
        await asyncio.shield(inner)

    async def main():
        spawn(loop, place, parent())
        await asyncio.sleep(1)
        loop.kill(place)
        await asyncio.wait(place.tasks)
        return [task.cancelled() for task in place.tasks]

    assert loop.run_until_complete(main()) == [True, True]
    assert began == [True]
