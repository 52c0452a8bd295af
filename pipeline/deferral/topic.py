"""The ledger's topic as the driver reads and writes it: a log that is folded, one write at a time, each awaited.

Tasks write deferred records to it through Spark's sink, in the same action as outputs and error events; what the
driver itself writes (epoch markers, tombstones, an operator's changes) goes through a producer of its own here.

No call waits for ever: a broker that is gone is an error after `_ACK_S` seconds without news from it. A topic that
would forget entries, or has been made again under a running job, is an error too.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from kafka.producer.future import FutureRecordMetadata
from kafka.structs import TopicPartition

from pipeline.deferral.ledger_start import LedgerStart
from pipeline.deferral.topic_settings import require_topic
from pipeline.deferral.wire import Item, NullRecord, parse
from pipeline.errors import PipelineError
from pipeline.kafka.cluster import BrokersAt, connected
from pipeline.kafka.errors import broker_failure
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.kafka.partition_offsets import end_offsets
from pipeline.records.record import Headers, Record
from pipeline.records.size import serialized_size

_FETCH_BYTES = 64 * 1024 * 1024
_ACK_S = 60.0
_GONE_OR_AWAY = "its brokers do not answer, or the topic was deleted: the next start says which"
# The client keeps what is sent in memory without a bound, and each record's time begins when it is sent.
_UNACKED_BYTES = 8 * 1024 * 1024
_POLL_MS = 200
# The broker answers one request of a connection at a time: the next look must not wait long behind an empty fetch.
_FETCH_WAIT_MS = 50


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of the ledger's topic; `value` None is a tombstone."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers


def items_of(records: Iterable[LogRecord]) -> Iterator[Item | None]:
    """The items in the records. Raises UnreadableRecordError."""
    for record in records:
        yield parse(record.key, record.value, record.headers, partition=record.partition, offset=record.offset)


@dataclass
class LedgerTopic:
    """Reads on from where it has come, and writes; not safe to use from several threads at once.

    `limit_bytes` is the largest record that producer and topic take, `id` is Kafka's of the topic, None where it
    reports none; both are known when it is open.
    """

    bootstrap: BrokersAt
    topic: str
    max_record_bytes: int
    clock: Callable[[], float] = time.monotonic
    limit_bytes: int = field(init=False)
    id: str | None = field(init=False, default=None)
    _consumer: KafkaConsumer = field(init=False)
    _producer: KafkaProducer = field(init=False)

    def __post_init__(self) -> None:
        self.limit_bytes = self.max_record_bytes

    def open(self, start: LedgerStart | None = None) -> None:
        """Stand at the topic's beginning, after all that a `start` requires of it; without one it is only looked at.

        Raises PipelineError, RefusedError for a topic that the start may not take.
        """
        try:
            if start is not None:
                facts = require_topic(self.bootstrap, self.topic, max_record_bytes=self.max_record_bytes, start=start)
                self.limit_bytes, self.id = facts.limit_bytes, facts.id
            self._consumer = connected(
                KafkaConsumer,
                self.bootstrap,
                {
                    "client_id": "enrichment-ledger",
                    "enable_auto_commit": False,
                    # To go on at the end of a log that lost its beginning would be to forget what it held.
                    "auto_offset_reset": "none",
                    "allow_auto_create_topics": False,
                    "max_partition_fetch_bytes": _FETCH_BYTES,
                    "fetch_max_bytes": _FETCH_BYTES,
                    "fetch_max_wait_ms": _FETCH_WAIT_MS,
                    **LONG_LIVED,
                },
            )
            self._producer = connected(
                KafkaProducer,
                self.bootstrap,
                {
                    "client_id": "enrichment-ledger",
                    "acks": "all",
                    "enable_idempotence": True,
                    "linger_ms": 0,
                    "max_request_size": self.max_record_bytes,
                    "delivery_timeout_ms": int(_ACK_S * 1000),
                    **LONG_LIVED,
                    "allow_auto_create_topics": False,
                },
            )
            places = [TopicPartition(self.topic, number) for number in self.partitions()]
            self._consumer.assign(places)
            self._consumer.seek_to_beginning(*places)
        except (KafkaError, OSError, ValueError) as error:  # the last is how its client says that an address is none
            raise broker_failure(f"ledger topic {self.topic} at {self.bootstrap} cannot be used", error) from error

    def partitions(self) -> list[int]:
        """The numbers of its partitions."""
        partitions = self._consumer.partitions_for_topic(self.topic)
        if not partitions:
            raise PipelineError(
                f"ledger topic {self.topic} at {self.bootstrap} is not there",
                hint="a job with deferral.policy: defer makes it when it first starts; "
                "where it was there before, it was deleted, and docs/runbooks/ledger-lost.md tells what to do",
            )
        return sorted(partitions)

    def read(self, *, from_beginning: bool = False) -> Iterator[LogRecord]:
        """The records from the end of the last read, or from the topic's beginning, to its present end.

        Raises PipelineError.
        """
        try:
            places = list(self._consumer.assignment())
            if from_beginning:
                self._consumer.seek_to_beginning(*places)
            ends = end_offsets(self._consumer, places, timeout_s=_ACK_S)
            self._require_ends(ends)
            last_record_at = self.clock()
            # Others write meanwhile, so what is fetched may go beyond these ends.
            while any((self._position(place) or 0) < ends[place] for place in places):
                batches = self._consumer.poll(timeout_ms=_POLL_MS)
                if batches:
                    last_record_at = self.clock()
                elif self.clock() - last_record_at > _ACK_S:
                    raise PipelineError(
                        f"ledger topic {self.topic} could not be read: no news of its end for {_ACK_S:g} s",
                        hint=_GONE_OR_AWAY,
                    )
                for records in batches.values():
                    for record in records:
                        headers = tuple((name, value or b"") for name, value in record.headers)
                        yield LogRecord(record.partition, record.offset, record.key, record.value, headers)
        except KafkaError as error:
            raise broker_failure(f"ledger topic {self.topic} could not be read", error, hint=_GONE_OR_AWAY) from error

    def write(self, records: Sequence[Record | NullRecord], *, partitions: Sequence[int | None] = (None,)) -> None:
        """Write, and wait until all are acknowledged: to the key's partition, or each record to all `partitions`.

        Not all of them may be written when one fails. Raises PipelineError.
        """
        acks: list[FutureRecordMetadata] = []
        unacked = 0
        try:
            for record in records:
                size = serialized_size(record.key, record.value or b"", record.headers) * len(partitions)
                unacked += size
                if unacked > _UNACKED_BYTES:
                    _await_all(acks)
                    acks, unacked = [], size
                headers = list(record.headers)
                acks += [
                    self._producer.send(
                        self.topic, key=record.key, value=record.value, headers=headers, partition=partition
                    )
                    for partition in partitions
                ]
            _await_all(acks)
        except KafkaError as error:
            raise broker_failure(f"ledger topic {self.topic} could not be written", error) from error

    def close(self) -> None:
        """Waits at most `_ACK_S` seconds for writes that are not acknowledged."""
        self._consumer.close()
        self._producer.close(timeout=_ACK_S)

    def _require_ends(self, ends: Mapping[TopicPartition, int]) -> None:
        """Raises PipelineError when more was read before than the topic holds now."""
        for place, end in ends.items():
            position = self._position(place)
            if position is not None and position > end:
                raise PipelineError(
                    f"ledger topic {self.topic} ends at {end} in partition {place.partition} "
                    f"and was read to {position}",
                    hint="it was deleted and made again, or lost its end; what it held is no longer known",
                )

    def _position(self, place: TopicPartition) -> int | None:
        """The offset of the next read; None until the broker has reported where the log begins."""
        position = self._consumer.position(place, timeout_ms=_POLL_MS)
        return None if position is None else int(position)


def _await_all(acks: Iterable[FutureRecordMetadata]) -> None:
    for ack in acks:
        ack.get(timeout=_ACK_S)
