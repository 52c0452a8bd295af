"""Accepts clients of an object store, and has the toxics plan what happens to each of their requests."""

from collections.abc import Callable, Coroutine

from typing_extensions import override

from devkit.proxy.model import NewListener, NewToxic
from devkit.proxy.s3.exchange import Exchange
from devkit.proxy.s3.request import StoreRequest
from devkit.proxy.stream_listener import StreamListener, Streams
from devkit.proxy.toxics.store import Plan, StoreEffect, StoreToxic
from devkit.proxy.toxics.store_watch import ActiveWatch, StoreWatch
from devkit.proxy.toxics.toxic import ToxicContext

_HEAD_BYTES = 128 << 10


class S3Listener(StreamListener):
    """A listener of layer `s3`."""

    def __init__(self, new: NewListener) -> None:
        super().__init__(new, buffer_bytes=_HEAD_BYTES)
        self._effects: tuple[StoreEffect, ...] = ()
        self._watches: tuple[ActiveWatch, ...] = ()

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
    def exchange(self, number: int, client: Streams) -> Coroutine[None, None, None]:
        return Exchange(number, client, self.upstream, self._plan).run()

    async def _plan(self, request: StoreRequest) -> Plan:
        for watch in self._watches:  # first, as what is watched for may begin another toxic
            await watch.hold(request)
        plan = Plan()
        for effect in self._effects:
            plan = effect.apply(plan, request)
        return plan
