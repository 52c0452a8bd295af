"""A listener whose connections are read as asyncio's streams, each in a task of its own."""

import asyncio
from abc import abstractmethod
from collections.abc import Coroutine

from typing_extensions import override

from devkit.proxy.listener import Listener
from devkit.proxy.model import NewListener
from devkit.proxy.port import Port

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class StreamListener(Listener):
    """It accepts at once, and counts its connections from 1."""

    def __init__(self, new: NewListener, *, buffer_bytes: int) -> None:
        """`buffer_bytes` bounds what a connection's reader holds."""
        super().__init__(new, Port(new.port, self._protocol))
        self._buffer_bytes = buffer_bytes
        self._count = 0
        self._open: set[asyncio.Task[None]] = set()

    @abstractmethod
    def exchange(self, number: int, client: Streams) -> Coroutine[None, None, None]:
        """Serves connection `number` until it ends."""

    @override
    def may_listen(self) -> bool:
        return True

    @override
    def connection_counts(self) -> tuple[int, int]:
        return self._count, len(self._open)

    @override
    async def end_connections(self) -> None:
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _protocol(self) -> asyncio.BaseProtocol:
        reader = asyncio.StreamReader(limit=self._buffer_bytes)
        return asyncio.StreamReaderProtocol(reader, self._accepted)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count += 1
        task = asyncio.ensure_future(self.exchange(self._count, (reader, writer)))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
