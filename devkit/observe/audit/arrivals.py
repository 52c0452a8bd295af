"""Reads a topic from its beginning to its present end, record by record."""

from collections.abc import Iterator
from dataclasses import dataclass

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.errors import StackError

Position = tuple[str, int, int]
"""Topic, partition and offset in the source."""

_FETCH_BYTES = 64 * 1024 * 1024
_IDLE_MS = 10_000


@dataclass(frozen=True)
class Arrival:
    """A record that left the pipeline. `source` is None when its headers do not say where it came from.

    `timestamp_ms` since the epoch: the append, where the topic has the broker set it, else what the producer said.
    """

    topic: str
    partition: int
    offset: int
    value: bytes
    headers: dict[str, bytes]
    source: Position | None
    timestamp_ms: int


def read_topic(bootstrap: str, topic: str) -> Iterator[Arrival]:
    """Every record up to the ends of now, each partition in its order. Raises StackError."""
    try:
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_max_bytes=_FETCH_BYTES,
            consumer_timeout_ms=_IDLE_MS,
        )
    except (KafkaError, OSError) as error:
        raise StackError(f"{topic} could not be read for the audit: {error}") from error
    try:
        places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
        ends = consumer.end_offsets(places)
        for place in places:
            if ends[place] == 0:
                continue
            consumer.assign([place])
            consumer.seek_to_beginning(place)
            reached = 0
            for record in consumer:
                headers = {name: value or b"" for name, value in record.headers}
                yield Arrival(
                    topic=topic,
                    partition=place.partition,
                    offset=record.offset,
                    value=record.value or b"",
                    headers=headers,
                    source=_source(headers),
                    timestamp_ms=record.timestamp,
                )
                reached = record.offset + 1
                if reached >= ends[place]:
                    break
            if reached < ends[place]:
                raise StackError(f"{topic} ends at {ends[place]} but could be read only up to {reached}")
    except KafkaError as error:
        raise StackError(f"{topic} could not be read for the audit: {error}") from error
    finally:
        consumer.close()


def _source(headers: dict[str, bytes]) -> Position | None:
    try:
        return (
            headers["source-topic"].decode(),
            int(headers["source-partition"]),
            int(headers["source-offset"]),
        )
    except (KeyError, ValueError):
        return None
