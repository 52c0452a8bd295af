"""Accepts clients of an object store, and has the toxics plan what happens to each of their requests."""

import asyncio
from collections.abc import Callable

from typing_extensions import override

from devkit.proxy.listener import Listener
from devkit.proxy.model import NewListener, NewToxic
from devkit.proxy.port import Port
from devkit.proxy.s3.exchange import Exchange
from devkit.proxy.s3.request import StoreRequest
from devkit.proxy.toxics.store import Plan, StoreEffect, StoreToxic
from devkit.proxy.toxics.store_watch import ActiveWatch, StoreWatch
from devkit.proxy.toxics.toxic import ToxicContext

_HEAD_BYTES = 128 << 10


class S3Listener(Listener):
    """A listener of layer `s3`."""

    def __init__(self, new: NewListener) -> None:
        super().__init__(new, Port(new.port, self._protocol))
        self._effects: tuple[StoreEffect, ...] = ()
        self._watches: tuple[ActiveWatch, ...] = ()
        self._count = 0
        self._open: set[asyncio.Task[None]] = set()

    @override
    def begin(self, new: NewToxic, context: ToxicContext) -> Callable[[], None]:
        if isinstance(new.do, StoreWatch):
            return self._watch(ActiveWatch(new.do, context.proof))
        assert isinstance(new.do, StoreToxic)
        effect = StoreEffect(new.do, context)
        self._effects = (*self._effects, effect)

        def end() -> None:
            self._effects = tuple(active for active in self._effects if active is not effect)
            effect.end()

        return end

    def _watch(self, watch: ActiveWatch) -> Callable[[], None]:
        self._watches = (*self._watches, watch)

        def end() -> None:
            self._watches = tuple(active for active in self._watches if active is not watch)
            watch.end()

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
        reader = asyncio.StreamReader(limit=_HEAD_BYTES)
        return asyncio.StreamReaderProtocol(reader, self._accepted)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count += 1
        exchange = Exchange(self._count, (reader, writer), self.upstream, self._plan)
        task = asyncio.ensure_future(exchange.run())
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _plan(self, request: StoreRequest) -> Plan:
        for watch in self._watches:  # first, as what is watched for may begin another toxic
            await watch.hold(request)
        plan = Plan()
        for effect in self._effects:
            plan = effect.apply(plan, request)
        return plan
