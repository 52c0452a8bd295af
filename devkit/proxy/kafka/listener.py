"""Accepts clients of a broker, and has the toxics change what passes."""

from collections.abc import Callable, Coroutine
from typing import Final
from uuid import UUID

from typing_extensions import override

from devkit.proxy.kafka.conversation import Conversation
from devkit.proxy.kafka.exchange import KafkaExchange
from devkit.proxy.model import NewListener, NewToxic
from devkit.proxy.stream_listener import StreamListener, Streams
from devkit.proxy.toxics.kafka_error import KafkaEffect, KafkaError
from devkit.proxy.toxics.toxic import ToxicContext

_BUFFER_BYTES: Final = 256 << 10


class KafkaListener(StreamListener):
    """A listener of layer `kafka`."""

    def __init__(self, new: NewListener) -> None:
        super().__init__(new, buffer_bytes=_BUFFER_BYTES)
        self._effects: tuple[KafkaEffect, ...] = ()
        self._names: dict[UUID, str] = {}

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
    def exchange(self, number: int, client: Streams) -> Coroutine[None, None, None]:
        conversation = Conversation(number, lambda: self._effects, self._names)
        return KafkaExchange(client, self.upstream, conversation).run()
