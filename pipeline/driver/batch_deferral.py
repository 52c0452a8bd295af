"""A micro-batch of a job that defers: what it takes from the ledger, and what the ledger takes from it.

Made once, for the life of the driver, as what its tasks report is accumulated for that long.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.rows import entry_rows
from pipeline.deferral.snapshot import Snapshot
from pipeline.fetch.breakers import reporting_breakers
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.spark_task import enrich_around
from pipeline.worker.task_attempt import EndedTask
from pipeline.worker.task_results import accumulated_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class BatchDeferral:
    """The `lanes`, and around each batch: `rows` and `function` of what `Lanes.plan` says, then `written`."""

    def __init__(self, spark: "SparkSession", config: PipelineConfig, lanes: Lanes) -> None:
        self._spark, self._config, self.lanes = spark, config, lanes
        self._opened = accumulated_list(spark)

    def rows(self, rows: "DataFrame", snapshot: Snapshot, *, workers: int) -> "DataFrame":
        """The source's rows, and those of the entries that the batch reserves."""
        if not snapshot.reserved:
            return rows
        # Each page in one task, in the order of the source. A replayed batch may hold a reserved entry twice.
        return (
            rows.unionByName(entry_rows(self._spark, snapshot.reserved), allowMissingColumns=True)
            .repartition(workers, "topic", "partition", "key")
            .sortWithinPartitions("topic", "partition", "offset")
        )

    def function(self, snapshot: Snapshot, number: int, *, workers: int) -> ArrowFunction:
        """What the batch's tasks do with their rows."""
        self._opened.value = []
        function = enrich_around(
            self._config,
            snapshot.fence,
            epoch=self.lanes.epoch,
            batch=number,
            workers=workers,
            limit_bytes=self.lanes.limit_bytes,
        )
        return reporting_breakers(function, self._config.breaker, self._opened, snapshot.unhealthy)

    def written(self, snapshot: Snapshot, number: int, ended: Sequence[EndedTask]) -> None:
        """All of the batch is acknowledged, by these attempts of its tasks. Raises PipelineError."""
        tasks = frozenset(task.attempt for task in ended)
        deferred = sum(task.deferred for task in ended)
        self.lanes.written(snapshot, number, tasks, self._opened.value, deferred=deferred)
