"""The ledger's topic as the driver reads and writes it: a log that is folded, one write at a time, each awaited.

Tasks write deferred records to it through Spark's sink, in the same action as outputs and error events; what the
driver itself writes (epoch markers, tombstones, an operator's changes) goes through a producer of its own here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError
from kafka.structs import TopicPartition

from pipeline.deferral.wire import NullRecord
from pipeline.errors import PipelineError
from pipeline.records.record import Headers, Record

_FETCH_BYTES = 64 * 1024 * 1024
_ACK_S = 60.0
_POLL_MS = 200
_MIN_COMPACTION_LAG_MS = 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of the ledger's topic; `value` None is a tombstone."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass
class LedgerTopic:
    """Reads on from where it has come, and writes; not safe to use from several threads at once."""

    bootstrap: str
    topic: str
    max_record_bytes: int
    _consumer: KafkaConsumer = field(init=False)
    _producer: KafkaProducer = field(init=False)

    def open(self, *, make: bool = True) -> None:
        """Stand at the topic's beginning; `make` it where it is missing. Raises PipelineError."""
        try:
            if make:
                self._make()
            self._consumer = KafkaConsumer(
                bootstrap_servers=self.bootstrap,
                client_id="enrichment-ledger",
                enable_auto_commit=False,
                max_partition_fetch_bytes=_FETCH_BYTES,
                fetch_max_bytes=_FETCH_BYTES,
            )
            self._producer = KafkaProducer(
                bootstrap_servers=self.bootstrap,
                client_id="enrichment-ledger",
                acks="all",
                enable_idempotence=True,
                linger_ms=0,
                max_request_size=self.max_record_bytes,
                delivery_timeout_ms=int(_ACK_S * 1000),
            )
            places = [TopicPartition(self.topic, number) for number in self.partitions()]
            self._consumer.assign(places)
            self._consumer.seek_to_beginning(*places)
        except (KafkaError, OSError) as error:
            raise PipelineError(f"ledger topic {self.topic} at {self.bootstrap} cannot be used: {error}") from error

    def partitions(self) -> list[int]:
        """The numbers of its partitions."""
        found = self._consumer.partitions_for_topic(self.topic)
        if not found:
            raise PipelineError(
                f"ledger topic {self.topic} at {self.bootstrap} is not there",
                hint="a job with deferral.policy: defer makes it when it first starts",
            )
        return sorted(found)

    def read(self, *, from_beginning: bool = False) -> Iterator[LogRecord]:
        """What the topic holds from the end of the last read, or from its beginning, to its present end.

        Raises PipelineError.
        """
        try:
            places = list(self._consumer.assignment())
            if from_beginning:
                self._consumer.seek_to_beginning(*places)
            ends = self._consumer.end_offsets(places)
            while any(self._consumer.position(place) < ends[place] for place in places):
                for records in self._consumer.poll(timeout_ms=_POLL_MS).values():
                    for record in records:
                        headers = tuple((name, value or b"") for name, value in record.headers)
                        yield LogRecord(record.partition, record.offset, record.key, record.value, headers)
        except KafkaError as error:
            raise PipelineError(f"ledger topic {self.topic} could not be read: {error}") from error

    def write(self, records: Sequence[Record | NullRecord], *, partitions: Sequence[int | None] = (None,)) -> None:
        """Write, and wait until all are acknowledged: to the key's partition, or each record to all `partitions`.

        Raises PipelineError.
        """
        try:
            acks = [
                self._producer.send(
                    self.topic, key=record.key, value=record.value, headers=list(record.headers), partition=partition
                )
                for record in records
                for partition in partitions
            ]
            for ack in acks:
                ack.get(timeout=_ACK_S)
        except KafkaError as error:
            raise PipelineError(f"ledger topic {self.topic} could not be written: {error}") from error

    def close(self) -> None:
        self._consumer.close()
        self._producer.close(timeout=_ACK_S)

    def _make(self) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
        try:
            if self.topic in admin.list_topics():
                return
            settings = {
                "cleanup.policy": "compact",
                "min.compaction.lag.ms": str(_MIN_COMPACTION_LAG_MS),
                "max.message.bytes": str(self.max_record_bytes),
            }
            new = NewTopic(self.topic, num_partitions=1, replication_factor=-1, topic_configs=settings)
            admin.create_topics([new], timeout_ms=int(_ACK_S * 1000), wait_for_metadata=True)
        except TopicAlreadyExistsError:
            pass
        finally:
            admin.close()
