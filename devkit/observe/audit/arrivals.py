"""Reads a topic from its beginning to its present end, record by record."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from devkit.errors import StackError
from devkit.stack.topic_reader import LARGE, answering, connect, places_of

Position = tuple[str, int, int]
"""Topic, partition and offset in the source."""

_IDLE_MS = 10_000


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


def read_topic(bootstrap: str, topic: str) -> Iterator[Arrival]:
    """Every record up to the ends of now, each partition in its order. Raises StackError."""
    with (
        closing(connect(bootstrap, **LARGE, consumer_timeout_ms=_IDLE_MS)) as consumer,
        answering(f"{topic} could not be read for the audit"),
    ):
        places = places_of(consumer, topic)
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
                    key=record.key,
                )
                reached = record.offset + 1
                if reached >= ends[place]:
                    break
            if reached < ends[place]:
                raise StackError(f"{topic} ends at {ends[place]} but could be read only up to {reached}")


def _source(headers: dict[str, bytes]) -> Position | None:
    try:
        return (
            headers["source-topic"].decode(),
            int(headers["source-partition"]),
            int(headers["source-offset"]),
        )
    except (KeyError, ValueError):
        return None
