"""A slow round as a Spark job: entries in, facts back to the driver. What it emits its task writes by itself."""

import threading
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Entry, Fact
from pipeline.kafka.sink import discard
from pipeline.metrics.measurements import Measurements
from pipeline.metrics.worker_metrics import reporting
from pipeline.worker.spark_task import RECORD_DDL, process_deferred
from pipeline.worker.task_attempt import EndedTask, reporting_attempts, retried
from pipeline.worker.task_results import accumulated_list

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)


_HEADERS = pa.field("headers", pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))
_COUNTED = pa.field("counted", pa.list_(pa.struct(list(_SCHEMA)[:3])))


def entry_rows(spark: "SparkSession", entries: Sequence[Entry]) -> "DataFrame":
    """A row for each entry, in their order, in the columns of source messages."""
    return spark.createDataFrame(entry_table(entries))


def entry_table(entries: Sequence[Entry]) -> pa.Table:
    """The same rows as an Arrow table."""
    columns = {
        "topic": [entry.position.topic for entry in entries],
        "partition": [entry.position.partition for entry in entries],
        "offset": [entry.position.offset for entry in entries],
        "key": [entry.key for entry in entries],
        "value": [entry.value for entry in entries],
        "timestamp": [entry.appended_us for entry in entries],
    }
    arrays = [
        pa.array(columns[field.name], pa.int64() if field.name == "timestamp" else field.type) for field in _SCHEMA
    ]
    table = pa.Table.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, _SCHEMA, strict=True)], schema=_SCHEMA
    )
    if any(entry.headers for entry in entries):
        headers = [[{"key": name, "value": value} for name, value in entry.headers] or None for entry in entries]
        table = table.append_column(_HEADERS, pa.array(headers, _HEADERS.type))
    if any(entry.counted is not None for entry in entries):
        table = table.append_column(_COUNTED, pa.array(map(_places, entries), _COUNTED.type))
    return table


def _places(entry: Entry) -> list[dict[str, str | int]] | None:
    return None if entry.counted is None else [asdict(position) for position in entry.counted]


class SparkRounds:
    """Runs rounds, also several at once."""

    def __init__(
        self, spark: "SparkSession", config: PipelineConfig, measurements: "Accumulator[Measurements] | None" = None
    ) -> None:
        """`measurements` take what the rounds' tasks measure."""
        self._spark, self._config, self._measurements = spark, config, measurements
        self._lock = threading.Lock()

    def run(self, entries: Sequence[Entry], *, epoch: int) -> list[Fact]:
        """Returns when all that came of the entries is acknowledged, and resolved under `epoch` in the ledger's topic;
        raises what Spark raises when something is not.
        """
        facts, ended = self._accumulators()
        try:
            function = reporting_attempts(process_deferred(self._config, entries, facts, epoch=epoch), ended)
            if self._measurements is not None:
                function = reporting(function, self._measurements)
            # One task: the round's own bound on requests is for all of it.
            rows = entry_rows(self._spark, entries).coalesce(1)
            discard(rows.mapInArrow(function, RECORD_DDL))
            return facts.value
        finally:
            for attempt in retried(ended.value, batch=None):
                log.emit(attempt)
            self._forget(facts, ended)

    def _accumulators(self) -> "tuple[Accumulator[list[Fact]], Accumulator[list[EndedTask]]]":
        with self._lock:
            return accumulated_list(self._spark), accumulated_list(self._spark)

    def _forget(self, *used: "Accumulator[list[Any]]") -> None:
        # Spark keeps every accumulator for the life of the driver, and offers no way to let one go.
        from pyspark import accumulators

        for accumulator in used:
            accumulators._accumulatorRegistry.pop(accumulator.aid, None)  # noqa: SLF001
