"""What state by entity costs in Spark: a value, a list and timers in RocksDB, begun with `initialState`.

Printed for each number of entities: seconds until the first batch is committed, which takes up the initial state,
seconds of batches of 50, 500 and 5,000 events after it, bytes of the checkpoint and of the processes' memory.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson
import psutil
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import LongType, StringType, StructField, StructType

from benchmarks.engine.version_look import make_session
from benchmarks.results import keep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_BATCHES = (50, 50, 500, 500, 5_000, 5_000)
_STORE = "spark.sql.streaming.stateStore"
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    f"{_STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STORE}.rocksdb.boundedMemoryUsage": "true",
    # `initialState` has its own number of partitions, else that of the adaptive plan.
    "spark.sql.adaptive.enabled": "false",
}
_EVENT = "entity string, revision long, dt timestamp"
_REVISIONS = "entity string, last long"
_DEADLINE_S = 900
_DELAY_MS = 1000


class EntityRevisions(StatefulProcessor):
    """Keeps an entity's last revision, buffers its events for a while, and emits them when a timer fires."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The last revision and the events that wait."""
        self._handle = handle
        self._last = handle.getValueState("last", StructType([StructField("revision", LongType())]))
        self._waiting = handle.getListState("waiting", StructType([StructField("revision", LongType())]))

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803
        """Buffers the events of an entity."""
        self._waiting.appendList([(row.revision,) for row in rows])
        self._handle.registerTimer(timerValues.getCurrentWatermarkInMs() + _DELAY_MS)
        return iter(())

    def handleExpiredTimer(  # noqa: N802 - names of the interface, as they are passed
        self,
        key: Any,
        timerValues: Any,  # noqa: ARG002, N803
        expiredTimerInfo: Any,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """The buffered events in order, each against the last revision."""
        last = self._last.get()[0] if self._last.exists() else 0
        for (revision,) in sorted(self._waiting.get()):
            yield Row(entity=key[0], revision=revision, previous=last)
            last = max(last, revision)
        self._last.update((last,))
        self._waiting.clear()

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:  # noqa: ARG002, N802, N803
        """The entity's last revision."""
        self._last.update((initialState.last,))


def entity_state(counts: Sequence[int], *, directory: Path, name: str) -> None:
    """Prints and keeps the figures of each number of entities."""
    spark = make_session(_SETTINGS)
    figures = {}
    for entities in counts:
        place = directory / f"{entities}"
        figures[str(entities)] = measured = _measure(spark, entities, place)
        click.echo(f"{entities:>9,} entities: {orjson.dumps(measured).decode()}")
        shutil.rmtree(place)
    spark.stop()
    keep(name, {"batches": _BATCHES, "figures": figures}, packages=["pyspark"])


def _measure(spark: "SparkSession", entities: int, place: Path) -> dict[str, Any]:
    events, checkpoint = place / "events", place / "checkpoint"
    events.mkdir(parents=True)
    revisions = spark.range(0, entities, 1, 2).selectExpr("concat('Q', id) AS entity", "id AS last")
    _write(events, 0, _BATCHES[0], entities)
    began = time.monotonic()
    query = _start(spark, revisions, events, checkpoint)
    try:
        _await_batch(query, 0)
        first_s = time.monotonic() - began
        for number, size in enumerate(_BATCHES, start=1):
            _write(events, number, size, entities)
            _await_batch(query, number)
        batches = [
            (progress.numInputRows, progress.durationMs["triggerExecution"] / 1000)
            for progress in query.recentProgress
            if progress.batchId and progress.numInputRows
        ]
        state = query.lastProgress.stateOperators[0]
        return {
            "first_batch_s": round(first_s, 1),
            "batches": batches,
            "rows": state.numRowsTotal,
            "state_memory_bytes": state.memoryUsedBytes,
            "checkpoint_bytes": sum(file.stat().st_size for file in checkpoint.rglob("*") if file.is_file()),
            "memory_bytes": sum(process.memory_info().rss for process in psutil.Process().children(recursive=True)),
        }
    finally:
        query.stop()


def _start(spark: "SparkSession", revisions: "DataFrame", events: Path, checkpoint: Path) -> "StreamingQuery":
    output = StructType(
        [StructField("entity", StringType()), StructField("revision", LongType()), StructField("previous", LongType())]
    )
    return (
        spark.readStream.schema(_EVENT)
        .option("maxFilesPerTrigger", 1)
        .json(str(events))
        .withWatermark("dt", "0 seconds")
        .groupBy("entity")
        .transformWithState(
            EntityRevisions(),
            output,
            outputMode="Update",
            timeMode="EventTime",
            initialState=revisions.groupBy("entity"),
        )
        .writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", str(checkpoint))
        .start()
    )


def _write(events: Path, number: int, size: int, entities: int) -> None:
    rows = [
        {"entity": f"Q{(number * 7919 + event * 31) % entities}", "revision": entities + event, "dt": _time(number)}
        for event in range(size)
    ]
    unfinished = events.parent / f"{number}.json"
    unfinished.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    unfinished.rename(events / unfinished.name)


def _time(number: int) -> str:
    return f"2026-03-02T00:{number:02}:00Z"


def _await_batch(query: "StreamingQuery", files: int) -> None:
    """Until the batch of that file is committed. Raises TimeoutError, and what the query failed with."""
    deadline = time.monotonic() + _DEADLINE_S
    while sum(progress.numInputRows > 0 for progress in query.recentProgress) <= files:
        if (error := query.exception()) is not None:
            raise error
        if time.monotonic() > deadline:
            raise TimeoutError(f"no batch within {_DEADLINE_S} s")
        query.awaitTermination(0.05)  # type: ignore[arg-type] # seconds may have a fraction
