"""Several topics as one sequence: the oldest record first, each partition in its order.

Topics have no order in common but the times of their records, and a consumer that takes the first record of an event
has to know which that is.
"""

import heapq
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pipeline.ops.source import SourceRecord, SourceTopic
from pipeline.ops.spark_checkpoint import Offsets

PART_BYTES = 8 * 1024 * 1024
"""What is held of a partition while others are older; of a record that is larger, all of it."""
_RECORD_BYTES = 1024
"""What a record takes beside its value, roughly."""


class Stretch(NamedTuple):
    """A part of a topic: for each partition the offsets from `first` up to and without `end`."""

    topic: SourceTopic
    first: Offsets
    end: Offsets


def oldest_first(stretches: Iterable[Stretch]) -> Iterator[tuple[SourceTopic, SourceRecord]]:
    """All records; of one time, those of the first stretch. Raises PipelineError."""
    partitions = (
        _partition(stretch.topic, partition, first, stretch.end.get(partition, first))
        for stretch in stretches
        for partition, first in stretch.first.items()
    )
    return heapq.merge(*partitions, key=lambda topic_and_record: topic_and_record[1].timestamp_ms)


def _partition(
    topic: SourceTopic, partition: int, next_offset: int, end: int
) -> Iterator[tuple[SourceTopic, SourceRecord]]:
    """Reads a part to its end before any of it is given out, as one client reads all partitions in turn."""
    while next_offset < end:
        part: list[SourceRecord] = []
        size = 0
        for record in topic.records({partition: next_offset}, {partition: end}):
            part.append(record)
            size += len(record.value or b"") + _RECORD_BYTES
            if size >= PART_BYTES:
                break
        # Fewer bytes than a part is all there is: what is left is a gap.
        next_offset = part[-1].offset + 1 if size >= PART_BYTES else end
        for record in part:
            yield topic, record
