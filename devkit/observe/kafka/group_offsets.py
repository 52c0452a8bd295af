"""The committed offsets of a consumer group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kafka import KafkaConsumer

from devkit.observe.checkpoint import Offsets
from devkit.stack.topic_reader import answering, connect, places_of


@dataclass
class GroupOffsets:
    """`bootstrap` is the broker's address without a proxy. It connects at the first look, and joins no group."""

    bootstrap: str
    group: str
    connect: Callable[..., KafkaConsumer] = connect
    _consumer: KafkaConsumer | None = field(default=None, init=False)

    def of(self, topics: Sequence[str]) -> Offsets:
        """Of each partition that has one. Raises StackError when the broker does not answer."""
        self._consumer = self._consumer or self.connect(self.bootstrap, group_id=self.group)
        with answering(f"Kafka did not say what group {self.group} has committed"):
            places = [place for topic in topics for place in places_of(self._consumer, topic)]
            committed = {(place.topic, place.partition): self._consumer.committed(place) for place in places}
        return {place: offset for place, offset in committed.items() if offset is not None and offset >= 0}

    def close(self) -> None:
        """The group has no member less: the consumer was never assigned a partition."""
        if self._consumer is not None:
            self._consumer.close()
