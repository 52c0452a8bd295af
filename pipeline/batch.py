"""One micro-batch: source rows, and entries of the ledger whose turn it is, through the job into the sink.

plan ─▶ new rows and claimed entries ─▶ one write action ─▶ settle with the ledger ─▶ Spark commits
"""

import time
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.rows import entry_rows
from pipeline.sink import write
from pipeline.stall import StallWatch
from pipeline.worker import RECORD_DDL, SOURCE_COLUMNS, enrich, enrich_around

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class BatchWriter:
    """What `foreachBatch` calls, with the lanes of deferral behind it when there are any."""

    def __init__(self, spark: "SparkSession", config: PipelineConfig, watch: StallWatch, *, replays: bool) -> None:
        self._spark = spark
        self._config = config
        self._watch = watch
        self._lanes = Lanes(spark, config, replays=replays) if config.deferral.policy == "defer" else None

    def start(self) -> None:
        """Fold the ledger and begin to work it off. Raises PipelineError."""
        if self._lanes:
            self._lanes.start()

    def check(self, *, between_batches: bool) -> None:
        """Raises PipelineError when a batch is late or the slow lane has failed."""
        if between_batches:
            self._watch.end()
        self._watch.check()
        if self._lanes:
            self._lanes.check()

    def stop(self) -> None:
        """Take no more of the ledger; what is under way is repeated after the next start."""
        if self._lanes:
            self._lanes.stop()

    def write(self, batch: "DataFrame", number: int) -> None:
        """Returns when every record of the batch is acknowledged; raises what Spark raises when one is not."""
        self._watch.end()  # a next batch is planned only when the last has been committed
        rows = batch.select(*SOURCE_COLUMNS)
        slots = batch.sparkSession.sparkContext.defaultParallelism
        workers = max(1, min(batch.rdd.getNumPartitions(), slots))
        snapshot = self._lanes.plan(number) if self._lanes else None
        self._watch.begin(number)
        log.say("batch_started", batch=number, claimed=len(snapshot.claimed) if snapshot else 0)
        started = time.monotonic()
        if self._lanes is None or snapshot is None:
            function = enrich(self._config, workers=workers)
        else:
            function = enrich_around(
                self._config, snapshot.fence, epoch=self._lanes.epoch, batch=number, workers=workers
            )
            if snapshot.claimed:
                # Each page in one task and in the order of the source. A replayed batch may hold a claimed entry twice.
                rows = (
                    rows.unionByName(entry_rows(self._spark, snapshot.claimed).select(*SOURCE_COLUMNS))
                    .repartition(workers, "topic", "partition", "key")
                    .sortWithinPartitions("topic", "partition", "offset")
                )
        write(rows.mapInArrow(function, RECORD_DDL), self._config.sink)
        if self._lanes and snapshot:
            self._lanes.written(snapshot, number)
        log.say("batch_written", batch=number, seconds=round(time.monotonic() - started, 3))
