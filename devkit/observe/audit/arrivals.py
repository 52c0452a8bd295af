"""Reads a topic from its beginning to its present end, record by record: of transactions, those that are committed."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from kafka import KafkaConsumer
from kafka.consumer.fetcher import ConsumerRecord
from kafka.structs import TopicPartition

from devkit.errors import PartError
from devkit.stack.topic_reader import LARGE, answering, connect, ends_of, places_of

Position = tuple[str, int, int]
"""Topic, partition and offset in the source."""

_IDLE_S = 10.0
_POLL_MS = 200


@dataclass(frozen=True)
class Arrival:
    """A record that the pipeline emitted. `source` is None when its headers do not say where it came from.

    `timestamp_ms` since the epoch: the append, where the topic has the broker set it, else what the producer said.
    """

    topic: str
    partition: int
    offset: int
    value: bytes
    headers: dict[str, bytes]
    source: Position | None
    timestamp_ms: int
    key: bytes | None = None


def read_topic(bootstrap: str, topic: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Arrival]:
    """Every record up to the ends of now, each partition in its order; while a transaction is open, up to its
    beginning. Raises StackError.
    """
    with (
        closing(connect(bootstrap, **LARGE, isolation_level="read_committed")) as consumer,
        answering(f"{topic} could not be read for the audit"),
    ):
        places = places_of(consumer, topic)
        ends = ends_of(consumer, places)
        for place in places:
            yield from _records(consumer, place, ends[place], clock)


def _records(consumer: KafkaConsumer, place: TopicPartition, end: int, clock: Callable[[], float]) -> Iterator[Arrival]:
    consumer.assign([place])
    consumer.seek_to_beginning(place)
    reached, heard = 0, clock()
    # Not every offset is a record's: a transaction ends with a marker, and compaction and retention take records away.
    while (position := consumer.position(place) or 0) < end:
        if position > reached:
            reached, heard = position, clock()
        elif clock() - heard > _IDLE_S:
            raise PartError(f"{place.topic} ends at {end} but could be read only up to {reached}", "kafka")
        for records in consumer.poll(timeout_ms=_POLL_MS).values():
            for record in records:
                if record.offset < end:
                    yield _arrival(record)


def _arrival(record: ConsumerRecord) -> Arrival:
    headers = {name: value or b"" for name, value in record.headers}
    return Arrival(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        value=record.value or b"",
        headers=headers,
        source=_source(headers),
        timestamp_ms=record.timestamp,
        key=record.key,
    )


def _source(headers: dict[str, bytes]) -> Position | None:
    try:
        return (
            headers["source-topic"].decode(),
            int(headers["source-partition"]),
            int(headers["source-offset"]),
        )
    except (KeyError, ValueError):
        return None
