"""Accepts clients of a broker, and has the toxics change what passes."""

import asyncio
from collections.abc import Callable
from typing import Final
from uuid import UUID

from typing_extensions import override

from devkit.proxy.kafka.conversation import Conversation
from devkit.proxy.kafka.exchange import KafkaExchange
from devkit.proxy.listener import Listener
from devkit.proxy.model import NewListener, NewToxic
from devkit.proxy.port import Port
from devkit.proxy.toxics.kafka_error import KafkaEffect, KafkaError
from devkit.proxy.toxics.toxic import ToxicContext

_BUFFER_BYTES: Final = 256 << 10


class KafkaListener(Listener):
    """A listener of layer `kafka`."""

    def __init__(self, new: NewListener) -> None:
        super().__init__(new, Port(new.port, self._protocol))
        self._effects: tuple[KafkaEffect, ...] = ()
        self._names: dict[UUID, str] = {}
        self._count = 0
        self._open: set[asyncio.Task[None]] = set()

    @override
    def begin(self, new: NewToxic, context: ToxicContext) -> Callable[[], None]:
        assert isinstance(new.do, KafkaError)
        effect = KafkaEffect(new.do, context)
        self._effects = (*self._effects, effect)

        def end() -> None:
            self._effects = tuple(active for active in self._effects if active is not effect)
            effect.end()

        return end

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
        reader = asyncio.StreamReader(limit=_BUFFER_BYTES)
        return asyncio.StreamReaderProtocol(reader, self._accepted)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count += 1
        conversation = Conversation(self._count, lambda: self._effects, self._names)
        task = asyncio.ensure_future(KafkaExchange((reader, writer), self.upstream, conversation).run())
        self._open.add(task)
        task.add_done_callback(self._open.discard)
