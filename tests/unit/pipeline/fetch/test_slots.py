import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pipeline.fetch.slots import RequestSlots

Taken = Callable[[str], asyncio.Task[None]]


async def settled(*_: object) -> None:
    """Everything that can go on has gone on."""
    for _turn in range(20):
        await asyncio.sleep(0)


def play(steps: Callable[[Taken], Coroutine[Any, Any, None]], slots: RequestSlots) -> None:
    async def run() -> None:
        async with asyncio.timeout(20):
            tasks: list[asyncio.Task[None]] = []

            def take(wiki: str) -> asyncio.Task[None]:
                tasks.append(asyncio.create_task(slots.acquire(wiki)))
                return tasks[-1]

            await steps(take)
            for task in tasks:
                task.cancel()

    asyncio.run(run())


@pytest.mark.parametrize("per_wiki", [None, 2])
def test_a_wiki_has_so_many_and_all_wikis_together_so_many(per_wiki: int | None) -> None:
    slots = RequestSlots(3, per_wiki)

    async def steps(take: Taken) -> None:
        first = [take("a") for _ in range(3)]
        await settled()
        assert [task.done() for task in first] == [True, True, per_wiki is None]
        others = [take("b") for _ in range(2)]
        await settled()
        assert [task.done() for task in others] == [per_wiki is not None, False]
        slots.release("a")
        await settled()
        assert sum(task.done() for task in [*first, *others]) == 4

    play(steps, slots)


def test_who_waits_for_its_wiki_takes_nothing_from_the_others() -> None:
    async def steps(take: Taken) -> None:
        waiting = [take("a") for _ in range(10)]
        await settled()
        assert sum(task.done() for task in waiting) == 1
        other = take("b")
        await settled()
        assert other.done()

    play(steps, RequestSlots(2, 1))


def test_who_gives_up_in_either_queue_leaves_nothing_taken() -> None:
    slots = RequestSlots(1, 1)

    async def steps(take: Taken) -> None:
        await take("a")
        in_its_wiki, in_all = take("a"), take("b")
        await settled()
        in_its_wiki.cancel()
        in_all.cancel()
        await settled()
        slots.release("a")
        await take("b")
        slots.release("b")
        await take("a")

    play(steps, slots)
