"""Publishes traffic to its source topic at its own pace, and notes where each record landed.

A thread of its own sends each record when it is due, by a clock passed in; when it is late it does not wait. The
partition is chosen here, as Kafka's default partitioner would choose it, so that a page stays in one partition as long
as the topic has the same number of them; a record that was captured has its own.
Acknowledgements are gathered on the way: a failure ends the publisher soon after it happened, not at the end.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Protocol, cast

from kafka import KafkaProducer
from kafka.errors import KafkaError
from kafka.partitioner.default import murmur2

from devkit.errors import PartError, StackError, WaitTimeoutError
from devkit.traffic.manifest import Manifest, ManifestEntry
from devkit.traffic.received import Stamp, as_generated
from devkit.traffic.records import Expected, SourceRecord, Traffic
from located_config.count import counted
from pipeline.kafka.long_lived import LONG_LIVED

_MAX_REQUEST_BYTES = 32 * 1024 * 1024
_DELIVERY_TIMEOUT_S = 120
_LOOK_AFTER_S = 0.25
_METADATA_AGE_MS = 1000
"""A topic may get more partitions while it is published to; they get records within this time and the broker's own."""
ExpectedFate = Callable[[str, bytes, Expected], Expected]
"""From topic, value and what the generator states of an event to how it has to end."""


class Position(Protocol):
    """The position of a published record."""

    @property
    def partition(self) -> int:
        """Its number in the topic, from 0."""

    @property
    def offset(self) -> int:
        """As the broker assigned it, from 0 in each partition."""


class Acknowledgement(Protocol):
    """A broker's answer to one record, to come."""

    @property
    def is_done(self) -> bool:
        """Whether `get` returns or raises without waiting."""

    def get(self, timeout: float | None = None) -> Position:
        """Waits for the answer, `timeout` in seconds; raises a KafkaError."""
        ...


class Producer(Protocol):
    """The part of kafka-python's producer that is used."""

    def partitions_for(self, topic: str) -> Iterable[int]:
        """Partition numbers by the newest metadata, in no order; waits for the broker where there is none yet. Raises a
        KafkaError.
        """

    def send(
        self, topic: str, *, key: bytes, value: bytes, partition: int, timestamp_ms: int | None
    ) -> Acknowledgement:
        """Queues the record, as of now without a time of its own, and does not wait for its answer. Raises a KafkaError
        where it is not even queued.
        """

    def close(self, timeout: float | None = None) -> None:
        """Waits up to `timeout` seconds for what is queued, with None without limit. Raises a KafkaError."""


class StopSignal(Protocol):
    """The part of threading.Event that is used."""

    def is_set(self) -> bool:
        """Once true it stays so: no record is sent after that."""

    def wait(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds for it; returns whether it is set."""


def connect_producer(bootstrap: str) -> Producer:
    """A producer for source traffic: acknowledged by all replicas, in order, uncompressed, records up to 32 MiB."""
    producer = KafkaProducer(
        bootstrap_servers=bootstrap,
        client_id="devkit-traffic",
        acks="all",
        enable_idempotence=True,
        compression_type=None,
        linger_ms=0,
        max_request_size=_MAX_REQUEST_BYTES,
        delivery_timeout_ms=_DELIVERY_TIMEOUT_S * 1000,
        **{**LONG_LIVED, "metadata_max_age_ms": _METADATA_AGE_MS},
    )
    # It would flush when the interpreter ends, and say with a traceback that a dead broker takes nothing; the code that
    # publishes closes the producer.
    producer._unregister_cleanup()  # noqa: SLF001
    return cast(Producer, producer)


def stated(topic: str, value: bytes, expected: Expected) -> Expected:  # noqa: ARG001 - an ExpectedFate
    """How the generator says that an event has to end."""
    return expected


class Publisher:
    """Publishes one Traffic, once, to `topic` what names no other: `start`, then look at it, then `result`.

    `connect` is called in the thread, which closes the producer as well. `clock` counts seconds and never goes back.
    `stamp` makes of each record the one that is sent, when it is due; `fate` says how it has to end. `wall_ms` is the
    time since the epoch.
    """

    def __init__(
        self,
        traffic: Traffic,
        topic: str,
        connect: Callable[[], Producer],
        clock: Callable[[], float],
        stop: StopSignal,
        stamp: Stamp = as_generated,
        fate: ExpectedFate = stated,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._traffic, self._topic, self._connect, self._clock, self._stop = traffic, topic, connect, clock, stop
        self._stamp, self._fate, self._wall_ms = stamp, fate, wall_ms
        self._pending: deque[tuple[SourceRecord, int, Acknowledgement]] = deque()
        self._entries: list[ManifestEntry] = []
        self._acknowledged: list[SourceRecord] = []
        self._sent_ms: list[int] = []
        self._lock = Lock()
        self._finished = Event()
        self._error: Exception | None = None
        self._thread = Thread(target=self._run, name=f"publish {topic}", daemon=True)

    @property
    def published(self) -> int:
        """Records acknowledged so far."""
        with self._lock:
            return len(self._entries)

    @property
    def done(self) -> bool:
        """Nothing more will be sent: all is out, or it was stopped, or it failed."""
        return self._finished.is_set()

    @property
    def error(self) -> Exception | None:
        """Why it failed, if it did: a StackError, or a defect as it was raised."""
        return self._error

    def start(self) -> None:
        """Begins; time zero of the traffic is when the connection stands."""
        self._thread.start()

    def result(self, timeout_s: float) -> Manifest:
        """Waits for the end and says what is out; raises what failed, or WaitTimeoutError."""
        if not self._finished.wait(timeout_s):
            raise WaitTimeoutError(
                f"waited {timeout_s:g} s for traffic into {self._topic}, {self.published} of "
                f"{len(self._traffic.records)} records are out",
                hint=PartError.fallback,
            )
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self.manifest()

    def sent(self) -> tuple[SourceRecord, ...]:
        """The records of the manifest's entries, with the bytes that were sent."""
        with self._lock:
            return tuple(self._acknowledged)

    def sent_ms(self) -> tuple[int, ...]:
        """When each of them was sent, in milliseconds since the epoch."""
        with self._lock:
            return tuple(self._sent_ms)

    def landed(self, first: int) -> tuple[tuple[tuple[str, int, int], int | None], ...]:
        """The position of each acknowledged record from that number on, and its own time."""
        with self._lock:
            acknowledged = zip(self._entries[first:], self._acknowledged[first:], strict=True)
            return tuple(
                ((entry.topic, entry.partition, entry.offset), record.timestamp_ms) for entry, record in acknowledged
            )

    def manifest(self) -> Manifest:
        """The manifest of all records acknowledged by now; after a failure, of those before it."""
        with self._lock:
            return Manifest(tuple(self._entries))

    def _run(self) -> None:
        try:
            self._publish()
        except KafkaError as error:
            self._error = self._failed(error)
        except Exception as error:  # noqa: BLE001 - whatever ends this thread must reach the one that waits for it
            self._error = error
        finally:
            self._finished.set()

    def _publish(self) -> None:
        producer = self._connect()
        try:
            for topic in self._topics():
                self._partitions(producer, topic)
            started = self._clock()
            for generated in self._traffic.records:
                self._wait_until(started + generated.at.total_seconds())
                if self._stop.is_set():
                    break
                record = self._stamp(generated)
                topic = record.topic or self._topic
                partition = _partition_of(record, self._partitions(producer, topic))
                try:
                    sent = producer.send(
                        topic,
                        key=record.key,
                        value=record.value,
                        partition=partition,
                        timestamp_ms=record.timestamp_ms,
                    )
                except KafkaError as error:
                    raise self._failed(error, record) from error
                self._pending.append((record, self._wall_ms(), sent))
                self._gather(wait=False)
            self._gather(wait=True)
        finally:
            # What went wrong before is the news; a broker that is gone makes closing fail too.
            with suppress(KafkaError):
                producer.close(timeout=5)

    def _topics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self._topic, *(record.topic for record in self._traffic.records if record.topic))))

    def _partitions(self, producer: Producer, topic: str) -> list[int]:
        if partitions := sorted(producer.partitions_for(topic)):
            return partitions
        raise StackError(f"topic {topic} has no partitions", hint="create it before its traffic starts")

    def _wait_until(self, due: float) -> None:
        while (remaining_s := due - self._clock()) > 0 and not self._stop.is_set():
            self._stop.wait(min(remaining_s, _LOOK_AFTER_S) if self._pending else remaining_s)
            self._gather(wait=False)

    def _gather(self, *, wait: bool) -> None:
        while self._pending and (wait or self._pending[0][-1].is_done):
            record, sent_ms, sent = self._pending.popleft()
            try:
                landed = sent.get(timeout=_DELIVERY_TIMEOUT_S)
            except KafkaError as error:
                raise self._failed(error, record) from error
            topic = record.topic or self._topic
            expected = self._fate(topic, record.value, record.expected)
            entry = ManifestEntry(topic=topic, partition=landed.partition, offset=landed.offset, expected=expected)
            with self._lock:
                self._entries.append(entry)
                self._acknowledged.append(record)
                self._sent_ms.append(sent_ms)

    def _failed(self, cause: KafkaError, record: SourceRecord | None = None) -> StackError:
        subject = f"record {record.index} ({counted(len(record.value), 'byte')})" if record else "traffic"
        topic = (record.topic if record else None) or self._topic
        error = StackError(
            f"publishing {subject} to {topic} failed: {cause}",
            hint="look at the broker's log, and at the topic's max.message.bytes when a record is large",
        )
        error.__cause__ = cause
        return error


def _partition_of(record: SourceRecord, partitions: list[int]) -> int:
    count = len(partitions)
    return partitions[partition_index(record.key, count) if record.partition is None else record.partition % count]


def partition_index(key: bytes, partition_count: int) -> int:
    """The partition of a key, counted from 0, as Kafka's own clients choose it."""
    return (int(murmur2(key)) & 0x7FFFFFFF) % partition_count
