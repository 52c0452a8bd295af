"""Consumers with which the kit reads topics: without a group and without commits; their errors are StackErrors."""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from kafka import KafkaConsumer
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.errors import PartError, UsageError
from located_config.count import counted
from located_config.near import nearest
from pipeline.kafka.errors import connection_failures
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.kafka.partition_offsets import end_offsets, first_offsets
from pipeline.kafka.record_quirks import accept_any_header_name

LARGE: Mapping[str, int] = MappingProxyType(
    {"max_partition_fetch_bytes": 64 * 1024 * 1024, "fetch_max_bytes": 64 * 1024 * 1024}
)
"""Settings with which the largest records come in one fetch."""

_ANSWER_S = 30.0
"""For which a partition may be without a leader."""
# A cluster of many may have thousands of topics.
_FEW = 20


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A record as the broker has it; `timestamp_ms` since the epoch, `value` None for a tombstone."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @classmethod
    def of(cls, record: ConsumerRecord) -> Self:
        """As a consumer has it."""
        place = record.topic, record.partition, record.offset, record.timestamp
        return cls(*place, record.key, record.value, tuple(record.headers))


def connect(bootstrap: str, **settings: Any) -> KafkaConsumer:
    """A consumer without an assignment; it reads from the beginning by default. Raises StackError."""
    accept_any_header_name()
    with connection_failures() as failures:
        try:
            return KafkaConsumer(
                bootstrap_servers=bootstrap,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                **LONG_LIVED,
                **settings,
            )
        except (KafkaError, OSError) as error:
            why = f"{error} ({failures[0]})" if failures else str(error)
            raise PartError(f"Kafka at {bootstrap} does not answer: {why}", "kafka") from error


@contextlib.contextmanager
def answering(what: str) -> Iterator[None]:
    """Raises StackError, which says `what` failed, for what Kafka raises."""
    try:
        yield
    except (KafkaError, OSError) as error:
        raise PartError(f"{what}: {error}", "kafka") from error


def places_of(consumer: KafkaConsumer, topic: str) -> list[TopicPartition]:
    """The partitions of a topic in their order; none where there is no such topic."""
    return [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]


def ends_of(consumer: KafkaConsumer, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    """The end of each partition. Raises KafkaError, also for one that stays without a leader."""
    return end_offsets(consumer, places, timeout_s=_ANSWER_S)


def begins_of(consumer: KafkaConsumer, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    """The first offset of each partition. Raises KafkaError, also for one that stays without a leader."""
    return first_offsets(consumer, places, timeout_s=_ANSWER_S)


def require_topic(consumer: KafkaConsumer, topic: str) -> None:
    """Raises UsageError, with the near miss, for a topic that is not there."""
    topics = consumer.topics()
    if topic in topics:
        return
    names = sorted(name for name in topics if not name.startswith("__"))
    near = nearest(topic, names)
    hint = f"there are: {', '.join(names) if 0 < len(names) <= _FEW else counted(len(names), 'other topic')}"
    raise UsageError(f"there is no topic {topic}", hint=f"did you mean {near!r}?" if near else hint)


def has_read(consumer: KafkaConsumer, ends: Mapping[TopicPartition, int]) -> bool:
    """Whether it has read up to all of these offsets. A position that is not known yet is 0."""
    return all((consumer.position(place) or 0) >= end for place, end in ends.items())
