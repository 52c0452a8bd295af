"""Reads what is in topics, or comes to them, in a window of time, and leaves no trace at the broker.

The consumer has no group and commits nothing, names no topic that the broker has not told of, which would make it on
some brokers, and fetches a megabyte of a partition at a time, as any consumer does.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal

from kafka.structs import TopicPartition

from devkit.errors import PartError
from devkit.stack.client_settings import PLAIN, ClientSettings
from devkit.stack.topic_reader import (
    TopicRecord,
    answering,
    begins_of,
    connect,
    ends_of,
    has_read,
    places_of,
    require_topic,
)
from pipeline.kafka.record_quirks import record_time_ms

_POLL_MS = 500
# As with the pipeline's commands. kafka-python asks again for as long, also where it was refused, by default for 30 s.
_CONNECT_MS = 10_000

WindowStart = Literal["earliest", "latest"] | datetime


class TopicWindow:
    """From `start` on for the time `span`. That of records from the past counts by their timestamps.

    Made, it is connected. Raises StackError, and UsageError for a topic that is not there.
    """

    def __init__(
        self, bootstrap: str, topics: Sequence[str], start: WindowStart, span: timedelta, client: ClientSettings = PLAIN
    ) -> None:
        self._client = client
        settings = client.client_arguments()
        with self._without_secrets():
            self._consumer = connect(bootstrap, bootstrap_timeout_ms=_CONNECT_MS, **settings)
        self._span_ms, self._start = round(span / timedelta(milliseconds=1)), start
        with (
            ExitStack() as failing,
            self._without_secrets(),
            answering(f"the topics at {bootstrap} could not be read"),
        ):
            failing.callback(self._consumer.close)
            for topic in topics:
                require_topic(self._consumer, topic)
            places = {topic: places_of(self._consumer, topic) for topic in topics}
            self.partitions = {topic: len(of_topic) for topic, of_topic in places.items()}
            """How many each topic has, by its name."""
            self._places = [place for of_topic in places.values() for place in of_topic]
            self._consumer.assign(self._places)
            self._ends = ends_of(self._consumer, self._places)
            self._begin_ms = self._seek(start)
            failing.pop_all()

    def records(self, stop: Callable[[], bool]) -> Iterator[TopicRecord | None]:
        """Each record; None now and then while none comes. Ends with the window, or when `stop` says so. One without a
        time counts as of the time of the one before it in its partition, without one as of the window's beginning.

        Raises StackError.
        """
        begun, past = time.monotonic(), set[TopicPartition]()
        came_ms = dict.fromkeys(self._places, self._begin_ms)
        # Kafka may name a record whose timestamp is no time as the first of a later time than the window's.
        ahead = set(self._places) if isinstance(self._start, datetime) else set()
        end_ms = self._begin_ms + self._span_ms
        while not stop():
            with self._without_secrets(), answering("the topics could not be read"):
                polled = self._consumer.poll(timeout_ms=_POLL_MS)
            for place, records in polled.items():
                for record in records:
                    time_ms = record_time_ms(record.timestamp)
                    if place in ahead and (time_ms is None or time_ms < self._begin_ms):
                        continue
                    ahead.discard(place)
                    came_ms[place] = time_ms or came_ms[place]
                    if self._start != "latest" and came_ms[place] >= end_ms:
                        past.add(place)
                    elif place not in past:
                        yield TopicRecord(
                            place.topic, place.partition, record.offset, came_ms[place], record.key, record.value
                        )
            if past:
                self._consumer.pause(*past)
            yield None  # it may be that nothing has come
            if self._start == "latest":
                if (time.monotonic() - begun) * 1000 >= self._span_ms:
                    return
            elif _now_ms() >= end_ms and self._is_read(past):
                return

    def close(self) -> None:
        """Leaves nothing at the broker."""
        self._consumer.close()

    @contextmanager
    def _without_secrets(self) -> Iterator[None]:
        """Whatever a client or a broker says in an error, the login is not in it."""
        try:
            yield
        except PartError as error:
            raise PartError(self._client.redacted(str(error)), "kafka", hint=error.hint) from None

    def _is_read(self, past: set[TopicPartition]) -> bool:
        with answering("the topics could not be read"):
            return has_read(self._consumer, {place: self._ends[place] for place in self._places if place not in past})

    def _seek(self, start: WindowStart) -> int:
        """Returns when the window begins, in milliseconds since the epoch."""
        if start == "latest":
            for place, end in self._ends.items():
                self._consumer.seek(place, end)
            return _now_ms()
        asked_ms = 0 if start == "earliest" else round(start.timestamp() * 1000)
        records = self._consumer.offsets_for_times(dict.fromkeys(self._places, asked_ms))
        begins = begins_of(self._consumer, self._places) if start == "earliest" else {}
        for place in self._places:
            first = records.get(place)
            self._consumer.seek(place, begins.get(place, self._ends[place] if first is None else first.offset))
        if start == "earliest":
            times = (record_time_ms(record.timestamp) for record in records.values() if record is not None)
            return min((time_ms for time_ms in times if time_ms is not None), default=_now_ms())
        return asked_ms


def _now_ms() -> int:
    return round(datetime.now(UTC).timestamp() * 1000)
