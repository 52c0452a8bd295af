import asyncio

from starlette.types import Message

from mockapi.server.disconnect_watch import Leaving


class Client:
    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}


def test_a_client_that_stays_is_waited_for() -> None:
    async def stay() -> tuple[bool, bool, bool]:
        async with Leaving(Client().receive, None) as leaving:
            return await leaving.held_back(0.0), await leaving.held_back(0.001), leaving.seen

    assert asyncio.run(stay()) == (True, True, False)


def test_a_client_that_leaves_is_not() -> None:
    async def leave() -> tuple[bool, bool]:
        client = Client()
        async with Leaving(client.receive, None) as leaving:
            waiting = asyncio.create_task(leaving.held_back(None))
            await asyncio.sleep(0)
            client.left.set()
            return await waiting, leaving.seen

    assert asyncio.run(leave()) == (False, True)
