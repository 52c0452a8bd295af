"""The one partition of a mutation topic: its bounds, its records in their order, and the offset that a group committed.

Only what is committed is read: the partition ends before the first transaction that is open.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from kafka import KafkaConsumer
from kafka.errors import KafkaError, NoOffsetForPartitionError, OffsetOutOfRangeError
from kafka.structs import OffsetAndMetadata, TopicPartition

from pipeline.apply.chunk_record import ChunkRecord
from pipeline.apply.mutation_store import PARTITION
from pipeline.config.apply_config import ApplyConfig
from pipeline.deferral.topic_settings import topic_id
from pipeline.errors import RefusedError
from pipeline.kafka.broker_limits import admin_at
from pipeline.kafka.cluster import BrokersAt, brokers_of, connected
from pipeline.kafka.errors import broker_failure
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.ops.broker import CONNECT_MS, connecting
from pipeline.ops.source import Bounds, SourceTopic

BOOTSTRAP_AGAIN = (
    "load the store again from a dump that is not older than the topic's first record, then start with --new "
    "timestamp=TIME, the oldest modification in that dump"
)
_OF_SOURCE = "`source.topic` in the file of `apply`: the topic that `rdf-resolve` writes to, made with 1 partition"
_ANSWER_MS = 30_000
_GOODBYE_MS = 5_000


def mutation_brokers(config: ApplyConfig) -> BrokersAt:
    """The brokers that mutations are read from."""
    return brokers_of(config.source.bootstrap_servers, config.kafka)


class MutationTopic:
    """Its methods raise PipelineError when the brokers do not answer, RefusedError for a topic that cannot be read."""

    def __init__(self, consumer: KafkaConsumer, brokers: BrokersAt, topic: str) -> None:
        self._consumer, self._brokers, self.topic = consumer, brokers, topic
        self._place = TopicPartition(topic, PARTITION)
        self._source = SourceTopic(consumer, brokers, topic, named_by=_OF_SOURCE)

    def bounds(self) -> Bounds:
        """The first offset and the end. Raises RefusedError for a topic of several partitions as well."""
        bounds = self._source.bounds()
        if list(bounds.end) != [PARTITION]:
            raise RefusedError(
                f"topic {self.topic} at {self._brokers} has {len(bounds.end)} partitions, and must have 1",
                hint="only one partition orders the mutations of different entities: write them to a topic that has 1",
            )
        return bounds

    def id(self) -> str | None:
        """Kafka's id of the topic, by which it is told from a later one of its name; None from a broker too old to have
        one.
        """
        with connecting(self._brokers), closing(admin_at(self._brokers)) as admin:
            return next((topic_id(described) for described in admin.describe_topics([self.topic])), None)

    def offset_at(self, timestamp_ms: int, bounds: Bounds) -> int:
        """The first offset whose record is of that time or later; the end where none is."""
        return self._source.at(timestamp_ms, bounds)[PARTITION]

    def committed_offset(self) -> int | None:
        """The offset that the group has committed; None where it has none."""
        with self._answers("does not say which offset is committed"):
            offset: int | None = self._consumer.committed(self._place, timeout_ms=_ANSWER_MS)
        return offset if offset is not None and offset >= 0 else None

    def read_from(self, offset: int) -> None:
        """The next poll begins there."""
        with self._answers("cannot be read"):
            self._consumer.assign([self._place])
            self._consumer.seek(self._place, offset)

    def poll(self, timeout_s: float) -> Sequence[ChunkRecord]:
        """The next records, in their order; none where none come in time."""
        try:
            with self._answers("cannot be read"):
                polled = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        except (OffsetOutOfRangeError, NoOffsetForPartitionError) as error:
            raise RefusedError(
                f"the next offset of topic {self.topic} at {self._brokers} is gone: {error}", hint=BOOTSTRAP_AGAIN
            ) from error
        return [
            ChunkRecord(
                record.offset,
                record.value,
                tuple((name, value or b"") for name, value in record.headers),
                record.timestamp,
            )
            for records in polled.values()
            for record in records
        ]

    def commit(self, offset: int) -> None:
        """Commit the group's offset; returns when the brokers have it."""
        with self._answers("does not take the committed offset"):
            self._consumer.commit(self._offsets(offset), timeout_ms=_ANSWER_MS)

    def report(self, offset: int) -> None:
        """Commit the group's offset without waiting for it. A failure changes nothing but the lag that tools show."""
        with suppress(KafkaError):
            self._consumer.commit_async(self._offsets(offset))

    def close(self, offset: int | None = None) -> None:
        """Ends the connections; with an offset, that is reported first."""
        if offset is not None:
            with suppress(KafkaError):
                self._consumer.commit(self._offsets(offset), timeout_ms=_GOODBYE_MS)
        self._consumer.close(autocommit=False)

    def _offsets(self, offset: int) -> dict[TopicPartition, OffsetAndMetadata]:
        return {self._place: OffsetAndMetadata(offset, "", -1)}

    @contextmanager
    def _answers(self, complaint: str) -> Iterator[None]:
        try:
            yield
        except (OffsetOutOfRangeError, NoOffsetForPartitionError):
            raise
        except (KafkaError, OSError) as error:
            raise broker_failure(f"topic {self.topic} at {self._brokers} {complaint}", error) from error


def open_topic(config: ApplyConfig) -> MutationTopic:
    """Raises PipelineError when no broker answers."""
    brokers = mutation_brokers(config)
    with connecting(brokers):
        consumer = connected(
            KafkaConsumer,
            brokers,
            {
                "client_id": "enrichment-apply",
                "group_id": config.source.group,
                "enable_auto_commit": False,
                # What is gone is an error: to go on behind it would be to lose it in silence.
                "auto_offset_reset": "none",
                "isolation_level": "read_committed",
                "allow_auto_create_topics": False,
                "bootstrap_timeout_ms": CONNECT_MS,
                **LONG_LIVED,
            },
        )
    return MutationTopic(consumer, brokers, config.source.topic)
