"""What a slow round's task writes while it is at work: events, and behind their acks the tombstones of their entries.

Spark's sink tells of acks only when the task ends, which may be minutes later; a crash would repeat all of the round.
So a round has a producer of its own. A tombstone is written only for what is acknowledged, so it is right from any
attempt, also one that Spark has given up on. Of a driver that was given up it is void, as any record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka import KafkaProducer

from pipeline.cluster import brokers_of, connected
from pipeline.config.kafka_section import Kafka
from pipeline.config.places import Sink
from pipeline.deferral.facts import Fact, Resolved
from pipeline.deferral.wire import NullRecord, tombstone
from pipeline.driver.sink import REQUEST_MS, patience_ms
from pipeline.long_lived import LONG_LIVED
from pipeline.records.record import Record
from pipeline.records.size import serialized_size

# The client keeps what is sent in memory without a bound.
_UNACKED_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one entry: the record that is emitted, and what the driver must know; both may be missing."""

    record: Record | None
    fact: Fact | None

    @property
    def size(self) -> int:
        """Bytes of the record."""
        record = self.record
        return serialized_size(record.key, record.value, record.headers) if record else 0


@dataclass(frozen=True)
class RoundWriter:
    """`topic` is the ledger's, `epoch` that of the round's driver."""

    producer: KafkaProducer
    topic: str
    epoch: int

    def write(self, settled: Sequence[Settled]) -> list[Fact]:
        """What became of the entries, when all of it is acknowledged, and behind that the tombstones of the resolved.

        Raises a KafkaError when something is refused.
        """
        self._send([one.record for one in settled if one.record])
        facts = [one.fact for one in settled if one.fact]
        gone = [fact.position for fact in facts if isinstance(fact, Resolved)]
        self._send([tombstone(position, topic=self.topic, epoch=self.epoch) for position in gone])
        return facts

    def _send(self, records: Sequence[Record | NullRecord]) -> None:
        acks: list[Any] = []
        unacked = 0
        for record in records:
            size = serialized_size(record.key, record.value or b"", record.headers)
            if acks and unacked + size > _UNACKED_BYTES:
                _await_all(acks)
                acks, unacked = [], 0
            unacked += size
            acks.append(
                self.producer.send(record.topic, key=record.key, value=record.value, headers=list(record.headers))
            )
        _await_all(acks)


def round_producer(sink: Sink, kafka: Kafka) -> KafkaProducer:
    """As patient and as reliable as Spark's sink."""
    limit_ms = patience_ms(sink)
    return connected(
        KafkaProducer,
        brokers_of(sink.bootstrap_servers, kafka),
        {
            "client_id": "enrichment-slow-round",
            "acks": "all",
            "enable_idempotence": True,
            "linger_ms": 0,
            "max_request_size": sink.max_request_size,
            "delivery_timeout_ms": limit_ms,
            "request_timeout_ms": min(REQUEST_MS, limit_ms),
            "max_block_ms": limit_ms,
            **LONG_LIVED,
            "allow_auto_create_topics": False,
        },
    )


def _await_all(acks: Sequence[Any]) -> None:
    for ack in acks:
        ack.get()
