"""How far the job is behind its source, over all partitions that the topic has, those of which no batch knows too.

Events: the partition's end less the position that is committed. Seconds: the age of the record at that position. A
partition that is new counts from its beginning, as the job will read it from there. Offsets that the broker has deleted
are not behind any more: what is gone cannot be read.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from pipeline import log
from pipeline.events import LagUnknown

_POLL_MS = 200
_POLLS = 10
_REQUEST_MS = 10_000
_REFRESH_S = 10.0
_CONNECTION_IDLE_MS = 60_000


@dataclass(frozen=True, slots=True)
class SourceLag:
    """By partition: events that are not read, and the age in seconds of the first of them; `at` in epoch seconds."""

    events: Mapping[int, int]
    seconds: Mapping[int, float]
    at: float


class OffsetSource(Protocol):
    """What is asked of the topic."""

    def bounds(self) -> Mapping[int, tuple[int, int]]:
        """Where each partition begins and ends."""

    def time_ms(self, partition: int, offset: int) -> int | None:
        """The time of the first record from there on; None when none comes."""

    def close(self) -> None: ...


def lag_of(topic: OffsetSource, committed: Mapping[int, int], *, now_s: float) -> SourceLag:
    """`committed` has the next offset to be read of each partition that was read."""
    events: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for partition, (begin, end) in sorted(topic.bounds().items()):
        position = max(begin, committed.get(partition, begin))
        events[partition] = max(0, end - position)
        oldest_ms = topic.time_ms(partition, position) if events[partition] else None
        seconds[partition] = 0.0 if oldest_ms is None else max(0.0, now_s - oldest_ms / 1000)
    return SourceLag(events, seconds, now_s)


class KafkaSource:
    """The topic on a broker. Not safe to use from several threads at once; every call raises KafkaError."""

    def __init__(self, bootstrap: str, topic: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._topic = topic
        self._clock = clock
        self._refreshed: float | None = None
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            client_id="enrichment-lag",
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            auto_offset_reset="earliest",
            request_timeout_ms=_REQUEST_MS,
            connections_max_idle_ms=_CONNECTION_IDLE_MS,
            max_poll_records=1,
            # One record of each is wanted; a broker sends at least a whole batch whatever the bound says.
            fetch_max_bytes=1,
            max_partition_fetch_bytes=1,
        )

    def bounds(self) -> Mapping[int, tuple[int, int]]:
        """The first offset and the end of each partition. Raises KafkaError."""
        if self._refreshed is None or self._clock() - self._refreshed >= _REFRESH_S:
            # What it knows of a topic it keeps; only this asks the broker again, and so finds a partition that is new.
            self._consumer.topics()
            self._refreshed = self._clock()
        found = self._consumer.partitions_for_topic(self._topic) or ()
        places = [TopicPartition(self._topic, number) for number in found]
        begins, ends = self._consumer.beginning_offsets(places), self._consumer.end_offsets(places)
        return {place.partition: (begins[place], ends[place]) for place in places}

    def time_ms(self, partition: int, offset: int) -> int | None:
        """When the record was written, in milliseconds since the epoch; None when it does not come in time."""
        place = TopicPartition(self._topic, partition)
        self._consumer.assign([place])
        self._consumer.seek(place, offset)
        for _ in range(_POLLS):
            for records in self._consumer.poll(timeout_ms=_POLL_MS, max_records=1).values():
                for record in records:
                    return int(record.timestamp)
        return None

    def close(self) -> None:
        self._consumer.close(autocommit=False)


class LagWatch:
    """Looks every `interval_s` seconds in a thread of its own. `committed` is None while no position is known."""

    def __init__(
        self,
        connect: Callable[[], OffsetSource],
        committed: Callable[[], Mapping[int, int] | None],
        *,
        interval_s: float,
        now: Callable[[], float],
    ) -> None:
        self._connect, self._committed = connect, committed
        self._interval_s, self._now = interval_s, now
        self._topic: OffsetSource | None = None
        self._stopped = threading.Event()
        self._failing = False
        self.lag: SourceLag | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="lag", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def look(self) -> None:
        """Look once. A failure is logged once, and the last lag is kept with its time."""
        try:
            if self._topic is None:
                self._topic = self._connect()
            committed = self._committed()
            if committed is not None:
                self.lag = lag_of(self._topic, committed, now_s=self._now())
            self._failing = False
        except Exception as error:  # noqa: BLE001 — whatever it is, the job itself must not end by it
            if not self._failing and not self._stopped.is_set():
                log.say(LagUnknown(error=f"{type(error).__name__}: {error}"))
            self._failing = True
            self._drop()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(self._interval_s)
        self._drop()

    def _drop(self) -> None:
        topic, self._topic = self._topic, None
        if topic is not None:
            with suppress(Exception):  # it is given up
                topic.close()
