"""What a slow round's task writes while it is at work: events, and behind their acks the tombstones of their entries.

Spark's sink tells of acks only when the task ends, which may be minutes later; a crash would repeat all of the round.
A tombstone is written only for what is acknowledged, so it is right from any attempt, also one that Spark has given up
on. Of a driver that was given up it is void, as any record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.deferral.facts import Fact, Resolved
from pipeline.deferral.wire import tombstone
from pipeline.records.record import Record
from pipeline.records.size import serialized_size
from pipeline.worker.ordered_writer import OrderedWriter


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

    writer: OrderedWriter
    topic: str
    epoch: int

    def write(self, settled: Sequence[Settled]) -> list[Fact]:
        """What became of the entries, when all of it is acknowledged, and behind that the tombstones of the resolved.

        Raises PipelineError when something is refused.
        """
        self.writer.send(one.record for one in settled if one.record)
        self.writer.flush()
        facts = [one.fact for one in settled if one.fact]
        gone = [fact.position for fact in facts if isinstance(fact, Resolved)]
        self.writer.send(tombstone(position, topic=self.topic, epoch=self.epoch) for position in gone)
        self.writer.flush()
        return facts
