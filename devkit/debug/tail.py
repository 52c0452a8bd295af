"""The last records of topics, and those that come after them.

Records of several partitions have no order between them but their timestamps, so that is how the last ones are sorted;
one without a time stays behind the one before it in its partition.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta

from kafka.structs import TopicPartition

from devkit.errors import PartError, WaitTimeoutError
from devkit.stack.topic_reader import (
    LARGE,
    TopicRecord,
    answering,
    begins_of,
    connect,
    ends_of,
    has_read,
    places_of,
    require_topic,
)
from devkit.waiting import wait_until
from pipeline.kafka.record_quirks import record_time_ms

_DEADLINE = timedelta(seconds=30)
_POLL_MS = 200


class TopicTail:
    """A context manager. Raises UsageError when a topic is not there, StackError when the broker does not answer."""

    def __init__(self, bootstrap: str, *topics: str) -> None:
        self._topics = ", ".join(topics)
        self._consumer = connect(bootstrap, **LARGE)
        with ExitStack() as failing, answering(f"Kafka at {bootstrap} does not answer"):
            failing.callback(self._consumer.close)
            for topic in topics:
                require_topic(self._consumer, topic)
            failing.pop_all()
        self._places = [place for topic in topics for place in places_of(self._consumer, topic)]
        self._consumer.assign(self._places)

    def last(self, count: int) -> list[TopicRecord]:
        """The last `count` records of all partitions together, the newest at the end."""
        records: list[TopicRecord] = []
        try:
            with self._reading():
                ends, begins = ends_of(self._consumer, self._places), begins_of(self._consumer, self._places)
                for place in self._places:
                    self._consumer.seek(place, max(begins[place], ends[place] - count))

                def is_read() -> bool:
                    records.extend(record for record in self._poll() if record.offset < ends[_place(record)])
                    return has_read(self._consumer, ends)

                purpose = f"{self._topics} to be read to its end"
                wait_until(is_read, what=purpose, deadline=_DEADLINE, interval=timedelta(0))
                for place in self._places:
                    self._consumer.seek(place, ends[place])  # what came meanwhile is for `following`
        except WaitTimeoutError as error:
            raise PartError(str(error), "kafka") from error
        return oldest_first(records)[-count:] if count else []

    def following(self) -> Iterator[TopicRecord]:
        """The records after `last`, for ever."""
        while True:
            yield from self.new_records()

    def new_records(self) -> list[TopicRecord]:
        """The records after `last` that have come since the last call; waits a moment for one."""
        with self._reading():
            return list(self._poll())

    def _reading(self) -> AbstractContextManager[None]:
        return answering(f"{self._topics} could not be read")

    def _poll(self) -> Iterator[TopicRecord]:
        for records in self._consumer.poll(timeout_ms=_POLL_MS).values():
            yield from map(TopicRecord.of, records)

    def close(self) -> None:
        """Leaves nothing at the broker: the consumer has no group and commits no offsets."""
        self._consumer.close()

    def __enter__(self) -> "TopicTail":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def oldest_first(records: list[TopicRecord]) -> list[TopicRecord]:
    """Records of several partitions by time; each partition keeps its order."""
    times: dict[TopicPartition, int] = {}
    keyed = []
    for record in records:
        place = _place(record)
        time_ms = record_time_ms(record.timestamp_ms) or times.get(place, 0)
        times[place] = time_ms
        keyed.append(((time_ms, place, record.offset), record))
    return [record for _, record in sorted(keyed, key=lambda pair: pair[0])]


def _place(record: TopicRecord) -> TopicPartition:
    return TopicPartition(record.topic, record.partition)
