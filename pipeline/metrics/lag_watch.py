"""How far the job is behind its source, over all partitions that its topics have, also those that no batch knows.

Events: the partition's end less the position that is committed. Seconds: the age of the record at that position. A
partition that is new counts from its beginning, as the job will read it from there. Offsets that the broker has deleted
are not behind any more: what is gone cannot be read.
"""

import functools
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from pipeline import log
from pipeline.events import LagUnknown
from pipeline.kafka.cluster import BrokersAt, connected
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.kafka.partition_offsets import end_offsets, first_offsets
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.metrics.clocks import Clocks, Noted
from pipeline.records.record import SourcePartition

_POLL_MS = 200
_POLLS = 10
_REQUEST_S = 10.0
_REFRESH_S = 10.0
_CONNECTION_IDLE_MS = 60_000


@dataclass(frozen=True, slots=True)
class SourceLag:
    """For each partition, the events that are not read, and the age in seconds of the first of them."""

    events: Mapping[SourcePartition, int]
    seconds: Mapping[SourcePartition, float]


class OffsetSource(Protocol):
    """The interface to the topics' offsets."""

    def bounds(self) -> Mapping[SourcePartition, tuple[int, int]]:
        """The first offset and the end of each partition."""

    def time_ms(self, partition: SourcePartition, offset: int) -> int | None:
        """The time of the first record from there on; None when none comes, or it has no time."""

    def close(self) -> None:
        """Ends the connections to the broker."""


def lag_of(source: OffsetSource, committed: Mapping[SourcePartition, int], *, now_s: float) -> SourceLag:
    """`committed` has the next offset to be read of each partition that was read."""
    events: dict[SourcePartition, int] = {}
    seconds: dict[SourcePartition, float] = {}
    for partition, (begin, end) in sorted(source.bounds().items()):
        position = max(begin, committed.get(partition, begin))
        events[partition] = max(0, end - position)
        oldest_ms = source.time_ms(partition, position) if events[partition] else None
        seconds[partition] = 0.0 if oldest_ms is None else max(0.0, now_s - oldest_ms / 1000)
    return SourceLag(events, seconds)


class KafkaSource:
    """The topics on a broker. Not safe to use from several threads at once; every call raises KafkaError."""

    def __init__(
        self, bootstrap: BrokersAt, topics: Collection[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._topics = tuple(topics)
        self._clock = clock
        self._refreshed: float | None = None
        options = {
            "client_id": "enrichment-lag",
            "enable_auto_commit": False,
            "allow_auto_create_topics": False,
            "auto_offset_reset": "earliest",
            "request_timeout_ms": int(_REQUEST_S * 1000),
            "connections_max_idle_ms": _CONNECTION_IDLE_MS,
            "max_poll_records": 1,
            **LONG_LIVED,
            # One record of each is wanted; a broker sends at least a whole batch whatever the bound says.
            "fetch_max_bytes": 1,
            "max_partition_fetch_bytes": 1,
        }
        self._make = functools.partial(connected, KafkaConsumer, bootstrap, options)
        self._asks = self._make()
        # Another one, as it is assigned a single partition at a time: of other topics a client then forgets all.
        self._reads: KafkaConsumer | None = None

    def bounds(self) -> Mapping[SourcePartition, tuple[int, int]]:
        """The first offset and the end of each partition. Raises KafkaError."""
        if self._refreshed is None or self._clock() - self._refreshed >= _REFRESH_S:
            # What it knows of a topic it keeps; only this asks the broker again, and so finds a partition that is new.
            self._asks.topics()
            self._refreshed = self._clock()
        places = [
            TopicPartition(topic, number)
            for topic in self._topics
            for number in self._asks.partitions_for_topic(topic) or ()
        ]
        if places:
            # Nothing is fetched without a poll; but what is not assigned the client forgets.
            self._asks.assign(places)
        begins = first_offsets(self._asks, places, timeout_s=_REQUEST_S)
        ends = end_offsets(self._asks, places, timeout_s=_REQUEST_S)
        return {SourcePartition(*place): (begins[place], ends[place]) for place in places}

    def time_ms(self, partition: SourcePartition, offset: int) -> int | None:
        """When the record was written, in milliseconds since the epoch; None when it does not come in time, or does not
        say when.
        """
        if self._reads is None:
            self._reads = self._make()
        place = TopicPartition(*partition)
        self._reads.assign([place])
        self._reads.seek(place, offset)
        for _ in range(_POLLS):
            for records in self._reads.poll(timeout_ms=_POLL_MS, max_records=1).values():
                for record in records:
                    return record_time_ms(record.timestamp)
        return None

    def close(self) -> None:
        """Commits no offsets: the job's positions stand in its checkpoint."""
        for consumer in (self._asks, self._reads):
            if consumer is not None:
                consumer.close(autocommit=False)


class LagWatch:
    """Looks every `interval_s` seconds in a thread of its own. `committed` is None while no position is known."""

    def __init__(
        self,
        connect: Callable[[], OffsetSource],
        committed: Callable[[], Mapping[SourcePartition, int] | None],
        *,
        interval_s: float,
        clocks: Clocks,
    ) -> None:
        self._connect, self._committed = connect, committed
        self._interval_s, self._clocks = interval_s, clocks
        self._source: OffsetSource | None = None
        self._stopped = threading.Event()
        self._failing = False
        self.lag: tuple[Noted, SourceLag] | None = None

    def start(self) -> None:
        """Its thread is a daemon, so it keeps no process from ending. Call once."""
        threading.Thread(target=self._run, name="lag", daemon=True).start()

    def stop(self) -> None:
        """Does not wait for the thread, which ends after the look at hand."""
        self._stopped.set()

    def look(self) -> None:
        """Look once. A failure is logged once, and the last lag is kept with its time."""
        try:
            if self._source is None:
                self._source = self._connect()
            committed = self._committed()
            if committed is not None:
                noted = self._clocks.note()
                self.lag = noted, lag_of(self._source, committed, now_s=noted.at)
            self._failing = False
        except Exception as error:  # noqa: BLE001 — whatever it is, the job itself must not end by it
            if not self._failing and not self._stopped.is_set():
                log.emit(LagUnknown(error=f"{type(error).__name__}: {error}"))
            self._failing = True
            self._drop()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(self._interval_s)
        self._drop()

    def _drop(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            with suppress(Exception):  # it is given up
                source.close()
