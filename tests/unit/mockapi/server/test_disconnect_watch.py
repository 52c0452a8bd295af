import asyncio

from starlette.types import Message

from mockapi.server.disconnect_watch import DisconnectWatch


class Client:
    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}


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
            client.left.set()
            return await waiting, watch.disconnected

    assert asyncio.run(leave()) == (False, True)
