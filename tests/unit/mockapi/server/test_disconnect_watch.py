import asyncio
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

import pytest

from mockapi.server.disconnect_watch import DisconnectWatch, GivenUp, await_answer

LONG = timedelta(hours=1)


class Client:
    """The other end; leaves when it is told to."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> MutableMapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


async def soon() -> str:
    await asyncio.sleep(0)
    return "answer"


class Never:
    """Work that has no end; remembers that it was cancelled."""

    def __init__(self) -> None:
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def work(self) -> str:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return ""


@pytest.mark.parametrize("within", [None, LONG])
def test_an_answer_that_comes_is_given(within: timedelta | None) -> None:
    assert asyncio.run(await_answer(soon(), Client().receive, within=within)) == "answer"


@pytest.mark.parametrize("within", [None, LONG])
def test_a_client_that_leaves_ends_the_work(within: timedelta | None) -> None:
    async def leave() -> GivenUp | str:
        client, never = Client(), Never()
        waiting = asyncio.create_task(await_answer(never.work(), client.receive, within=within))
        client.gone.set()
        ended = await waiting
        await asyncio.wait_for(never.cancelled.wait(), 10)
        return ended

    assert asyncio.run(leave()) is GivenUp.CLIENT


def test_a_proxy_gives_up_after_its_time() -> None:
    async def give_up() -> GivenUp | str:
        never = Never()
        ended = await await_answer(never.work(), Client().receive, within=timedelta(milliseconds=1))
        await asyncio.wait_for(never.cancelled.wait(), 10)
        return ended

    assert asyncio.run(give_up()) is GivenUp.PROXY


def test_cancelling_it_cancels_both_sides() -> None:
    async def cancel() -> bool:
        client, never = Client(), Never()
        waiting = asyncio.create_task(await_answer(never.work(), client.receive, within=LONG))
        await asyncio.wait_for(never.begun.wait(), 10)
        sides = asyncio.all_tasks() - {waiting, asyncio.current_task()}
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        ended, others = await asyncio.wait(sides, timeout=10)
        return not others and all(side.cancelled() for side in ended)

    assert asyncio.run(cancel())


def test_an_error_of_the_work_comes_through() -> None:
    async def fails() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(await_answer(fails(), Client().receive, within=None))


def test_a_client_that_stays_is_waited_for() -> None:
    async def stay() -> tuple[bool, bool, bool]:
        async with DisconnectWatch(Client().receive, None) as watch:
            return await watch.wait(0.0), await watch.wait(0.001), watch.disconnected

    assert asyncio.run(stay()) == (True, True, False)


def test_a_client_that_leaves_is_not() -> None:
    async def leave() -> tuple[bool, bool]:
        client = Client()
        async with DisconnectWatch(client.receive, None) as watch:
            waiting = asyncio.create_task(watch.wait(None))
            await asyncio.sleep(0)
            client.gone.set()
            return await waiting, watch.disconnected

    assert asyncio.run(leave()) == (False, True)
