"""On a cluster: whether a host may use what it keeps of pages, which it may only if it has read all events of theirs.

    driver   which file has read each partition last ─▶ task: another one? clear the file ─▶ … ─▶ report
             two files for a partition, or none: the next batch clears

A partition that was read on another host meanwhile may have had an event that hides something of a page.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.kept_revisions import open_kept
from pipeline.records.record import SourcePartition
from pipeline.worker.arrow import ArrowFunction

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator


@dataclass(frozen=True, slots=True)
class ReadOn:
    """A task has read events of these partitions, on the host that has the file."""

    file_id: str | None
    partitions: frozenset[SourcePartition]


def on_one_host(
    function: ArrowFunction,
    config: PipelineConfig,
    files: Mapping[SourcePartition, str],
    read: "Accumulator[list[ReadOn]]",
) -> ArrowFunction:
    """The same function for `mapInArrow`; `files` says which has read a partition last, each task adds to `read`."""
    return functools.partial(_check, function, config.checkpoint, config.kept_bytes, files, read)


def files_after(files: Mapping[SourcePartition, str], read: Iterable[ReadOn]) -> dict[SourcePartition, str]:
    """Which file has read each partition last, once a batch has ended."""
    after = dict(files)
    by_partition: dict[SourcePartition, set[str | None]] = {}
    for task in read:
        for partition in task.partitions:
            by_partition.setdefault(partition, set()).add(task.file_id)
    for partition, file_ids in by_partition.items():
        after.pop(partition, None)
        if len(file_ids) == 1 and (file_id := file_ids.pop()) is not None:
            after[partition] = file_id
    return after


def _check(
    function: ArrowFunction,
    checkpoint: str,
    max_bytes: int,
    files: Mapping[SourcePartition, str],
    read: "Accumulator[list[ReadOn]]",
    batches: "Iterator[pa.RecordBatch]",
) -> "Iterator[pa.RecordBatch]":
    kept = open_kept(checkpoint, max_bytes)
    partitions = set[SourcePartition]()

    def checked() -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            columns = (batch.column(name).to_pylist() for name in ("topic", "partition"))
            new = {SourcePartition(*place) for place in zip(*columns, strict=True)} - partitions
            if any(files.get(partition) != kept.file_id for partition in new):
                kept.clear()
            partitions.update(new)
            yield batch

    yield from function(checked())
    read.add([ReadOn(kept.file_id, frozenset(partitions))])
