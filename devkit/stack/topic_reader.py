"""Consumers with which the kit looks at topics: of no group, committing nothing, and their errors are StackErrors."""

import contextlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.errors import StackError

LARGE: Mapping[str, int] = MappingProxyType(
    {"max_partition_fetch_bytes": 64 * 1024 * 1024, "fetch_max_bytes": 64 * 1024 * 1024}
)
"""Settings with which the largest records come in one fetch."""


RECONNECT_MAX_MS = 1_000
"""The longest wait before a client tries a broker again, as Kafka's own clients have it. kafka-python's is 30 s: after
a minute's outage it would wait on for as long as its requests may take, beside a broker that is up."""


def connect(bootstrap: str, **settings: int | str) -> KafkaConsumer:
    """One that is yet to be assigned, and reads from the beginning where it is not told. Raises StackError."""
    with answering(f"Kafka at {bootstrap} does not answer"):
        return KafkaConsumer(
            bootstrap_servers=bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            reconnect_backoff_max_ms=RECONNECT_MAX_MS,
            **settings,
        )


@contextlib.contextmanager
def answering(what: str) -> Iterator[None]:
    """Raises StackError, which says `what` failed, for what Kafka raises."""
    try:
        yield
    except (KafkaError, OSError) as error:
        raise StackError(f"{what}: {error}") from error


def places_of(consumer: KafkaConsumer, topic: str) -> list[TopicPartition]:
    """The partitions of a topic in their order; none where there is no such topic."""
    return [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]


def has_read(consumer: KafkaConsumer, ends: Mapping[TopicPartition, int]) -> bool:
    """Whether it has read up to all of these offsets. A position that the broker has not told yet is 0."""
    return all((consumer.position(place) or 0) >= end for place, end in ends.items())
