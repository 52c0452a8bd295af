"""How far a job is behind: in events and in seconds, over every partition of the topic.

A partition that the checkpoint does not know counts from its beginning: there the job has all of it still to do. The
lesson: a lag that only counts the partitions being read is 0 when none is read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pipeline.kafka.record_quirks import record_time_ms
from pipeline.ops.source import Bounds, SourceRecord
from pipeline.ops.spark_checkpoint import SparkCheckpoint

FirstRecord = Callable[[int, int, int], SourceRecord | None]
_ROW = "{:>9} {:>14} {:>14} {:>10} {:>10}".format


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """`events` counts offsets; `oldest_ms` is the time of the first record that waits, None when none does, or it
    has no time.

    `gone` events are no longer in the topic. `committed` None: the checkpoint does not know the partition.
    """

    partition: int
    committed: int | None
    end: int
    events: int
    gone: int
    oldest_ms: int | None


def measure(checkpoint: SparkCheckpoint, topic: str, bounds: Bounds, first_record: FirstRecord) -> list[PartitionLag]:
    """The lag of each partition; `first_record(partition, offset, end)` looks up the first record that waits."""
    committed = checkpoint.committed().get(topic, {})
    lags = []
    for partition, end in sorted(bounds.end.items()):
        known, first = committed.get(partition), bounds.first[partition]
        begin = first if known is None else max(known, first)
        record = first_record(partition, begin, end) if begin < end else None
        lost = 0 if known is None else max(0, first - known)
        lags.append(PartitionLag(partition, known, end, max(0, end - begin), lost, _time_ms(record)))
    return lags


def lines(topic: str, lags: Sequence[PartitionLag], now_ms: int) -> Iterator[str]:
    """A table of the partitions, and their sum below it."""
    yield f"topic {topic}"
    yield _ROW("partition", "committed", "end", "events", "seconds")
    for lag in lags:
        known = "unknown" if lag.committed is None else lag.committed
        yield _ROW(lag.partition, known, lag.end, lag.events, f"{_seconds(lag.oldest_ms, now_ms):.1f}")
    yield _sum("all", lags, now_ms)
    for lag in lags:
        if lag.gone:
            yield f"partition {lag.partition}: {lag.gone} more were not done and are gone from the topic"
        if lag.committed is not None and lag.committed > lag.end:
            yield f"partition {lag.partition}: it is not the topic of this checkpoint; `checkpoint verify` says more"


def total_line(lags: Mapping[str, Sequence[PartitionLag]], now_ms: int) -> str:
    """The sum of all topics, for below their tables."""
    return _sum("total", [*chain.from_iterable(lags.values())], now_ms) + f"  of {len(lags)} topics"


def _sum(label: str, lags: Sequence[PartitionLag], now_ms: int) -> str:
    seconds = max((_seconds(lag.oldest_ms, now_ms) for lag in lags), default=0)
    return _ROW(label, "", "", sum(lag.events for lag in lags), f"{seconds:.1f}")


def _time_ms(record: SourceRecord | None) -> int | None:
    return None if record is None else record_time_ms(record.timestamp_ms)


def _seconds(oldest_ms: int | None, now_ms: int) -> float:
    # A producer's clock may be ahead of this one.
    return 0 if oldest_ms is None else max(0, now_ms - oldest_ms) / 1000
