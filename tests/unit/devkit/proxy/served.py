"""A proxy's listener in front of an echo server, both in the loop of the test."""

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Concatenate, ParamSpec, TypeVar

from devkit.proxy.direction import Sense
from devkit.proxy.model import NewListener, NewToxic, ToxicState
from devkit.proxy.tcp.listener import TcpListener
from devkit.proxy.toxics.toxic import Toxic

WITHIN_S = 10.0
B = TypeVar("B")
P = ParamSpec("P")


@dataclass
class Client:
    """A client's socket; what is awaited has a deadline."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def hear(self, count: int) -> bytes:
        return await asyncio.wait_for(self.reader.readexactly(count), WITHIN_S)

    async def hear_all(self) -> bytes:
        return await asyncio.wait_for(self.reader.read(), WITHIN_S)

    async def says_back(self, data: bytes) -> bool:
        await self.say(data)
        return await self.hear(len(data)) == data


@dataclass
class Echo:
    """The upstream: answers with what it gets, and notes how connections ended."""

    address: str = ""
    got: bytearray = field(default_factory=bytearray)
    ends: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                self.got += data
                writer.write(data)
                await writer.drain()
            self.ends.append("fin")
        except ConnectionError:
            self.ends.append("rst")
        finally:
            writer.close()


@dataclass
class Bench:
    listener: TcpListener
    echo: Echo
    clients: list[Client] = field(default_factory=list)

    async def connect(self) -> Client:
        host, port = self.listener.port.address.split(":")
        client = Client(*await asyncio.open_connection(host, int(port)))
        self.clients.append(client)
        return client

    async def add(self, toxic: Toxic, direction: Sense = "both", *, seed: int = 0) -> None:
        await self.listener.add(NewToxic(name="t", do=toxic, direction=direction, seed=seed))

    async def remove(self) -> ToxicState:
        return await self.listener.remove("t")

    @property
    def state(self) -> ToxicState:
        return self.listener.toxics[-1]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN_S):
            while not condition():  # noqa: ASYNC110 - what is awaited has no event
                await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    echo = Echo()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    echo.address = "{}:{}".format(*server.sockets[0].getsockname())
    listener = TcpListener(NewListener(name="echo", upstream=echo.address))
    await listener.port.listen(on=True)
    served = Bench(listener, echo)
    try:
        yield served
    finally:
        for client in served.clients:
            client.writer.close()
        await listener.close()
        server.close()
        await served.until(lambda: listener.connection_counts()[1] == 0)


def run_on(
    bench: Callable[[], AbstractAsyncContextManager[B]],
) -> Callable[[Callable[Concatenate[B, P], Awaitable[None]]], Callable[P, None]]:
    """Makes a test of a coroutine function, which gets a bench of its own as its first argument."""

    def decorate(test: Callable[Concatenate[B, P], Awaitable[None]]) -> Callable[P, None]:
        async def play(*args: P.args, **kwargs: P.kwargs) -> None:
            async with bench() as served:
                await test(served, *args, **kwargs)

        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            asyncio.run(play(*args, **kwargs))

        signature = inspect.signature(test)
        functools.update_wrapper(run, test)
        setattr(run, "__signature__", signature.replace(parameters=[*signature.parameters.values()][1:]))  # noqa: B010
        return run

    return decorate


on_bench = run_on(bench)
