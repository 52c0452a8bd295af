"""What Spark says of a micro-batch when it is committed: as a line of the log, and to the metrics.

It says so late, after the next batch has run, so nothing that decides anything may listen here.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from pipeline import log
from pipeline.events import BatchCommitted, StateCommitted
from pipeline.records.record import SourcePartition


def _once(_batch: int) -> int:
    return 1


@dataclass(frozen=True, slots=True)
class Progress:
    """A committed micro-batch. `positions` has the next offset of each partition; durations are in
    milliseconds. `states` are those of the operators that have one.
    """

    batch: int
    rows: int
    durations_ms: Mapping[str, int]
    positions: Mapping[SourcePartition, int]
    states: tuple[StateCommitted, ...] = ()

    @property
    def commit_ms(self) -> int:
        """Spark's two writes to the checkpoint."""
        return self.durations_ms.get("walCommit", 0) + self.durations_ms.get("commitOffsets", 0)

    @classmethod
    def of(cls, raw: Mapping[str, Any], reads: Callable[[int], int] = _once) -> "Progress | None":
        """From Spark's JSON; None when no batch ran, as in a trigger without news.

        Spark counts a row each time it is read; `reads` is how often a batch has read its source.
        """
        durations = {str(name): int(value) for name, value in raw.get("durationMs", {}).items()}
        if "addBatch" not in durations:
            return None
        batch = int(raw["batchId"])
        rows = int(raw.get("numInputRows", 0)) // reads(batch)
        return cls(batch, rows, durations, _positions(raw["sources"]), tuple(_states(batch, raw)))


def _states(batch: int, raw: Mapping[str, Any]) -> Iterator[StateCommitted]:
    """The state of each operator that has one."""
    for operator in raw.get("stateOperators", ()):
        yield StateCommitted(
            batch=batch,
            operator=str(operator["operatorName"]),
            rows=int(operator["numRowsTotal"]),
            bytes=int(operator["memoryUsedBytes"]),
            commit_ms=int(operator["commitTimeMs"]),
            duplicates=int(operator.get("customMetrics", {}).get("numDroppedDuplicateRows", 0)),
            late_dropped=int(operator["numRowsDroppedByWatermark"]),
            watermark=raw.get("eventTime", {}).get("watermark"),
        )


def _positions(sources: list[Mapping[str, Any]]) -> dict[SourcePartition, int]:
    """The positions in all topics of the one source."""
    positions: dict[SourcePartition, int] = {}
    for source in sources:
        end = source.get("endOffset")
        for topic, partitions in (json.loads(end) if isinstance(end, str) else end or {}).items():
            positions |= {SourcePartition(topic, int(number)): int(offset) for number, offset in partitions.items()}
    return positions


class ProgressListener(StreamingQueryListener):
    """Says each committed batch, and tells `committed` of it. `reads` is how often a batch has read its source."""

    def __init__(
        self, committed: Callable[[Progress], None] | None = None, reads: Callable[[int], int] = _once
    ) -> None:
        self._committed, self._reads = committed, reads
        # Set by the last that Spark says: a process that ends before would make it complain.
        self.ended = threading.Event()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Does nothing: the driver logs `started` itself."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Called by Spark after each trigger; one that ran no batch is not logged."""
        progress = Progress.of(json.loads(event.progress.json), self._reads)
        if progress is None:
            return
        log.emit(BatchCommitted(batch=progress.batch, rows=progress.rows, durations_ms=progress.durations_ms))
        for state in progress.states:
            log.emit(state)
        if self._committed is not None:
            self._committed(progress)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Does nothing: a trigger without news commits no batch."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: ARG002, N802
        """Called by Spark last of all, whether the query failed or was stopped; sets `ended`."""
        self.ended.set()
