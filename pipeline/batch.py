"""One micro-batch: source rows, and entries of the ledger whose turn it is, through the job into the sink.

plan ─▶ new rows and reserved entries ─▶ one write action ─▶ settle with the ledger ─▶ Spark commits
"""

import time
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.rounds import SparkRounds
from pipeline.deferral.rows import entry_rows
from pipeline.deferral.topic import LedgerTopic
from pipeline.errors import PipelineError
from pipeline.events import BatchStarted, BatchWritten
from pipeline.fetch.breakers import reporting_breakers
from pipeline.fetch.share import bounds
from pipeline.job_checkpoint import will_replay
from pipeline.metrics.in_worker import reporting
from pipeline.progress import Progress
from pipeline.sink import write
from pipeline.spark_slots import main_slots
from pipeline.stall import StallWatch
from pipeline.stop import BatchGate, HeldError, hold
from pipeline.task_results import accumulated_list
from pipeline.worker import RECORD_DDL, SOURCE_COLUMNS, enrich, enrich_around

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.metrics.job_metrics import JobMetrics


class BatchWriter:
    """What `foreachBatch` calls, with the lanes of deferral behind it when there are any."""

    def __init__(
        self, spark: "SparkSession", config: PipelineConfig, watch: StallWatch, metrics: "JobMetrics | None" = None
    ) -> None:
        self._spark = spark
        self._metrics = metrics
        self._config = config
        self._watch = watch
        self._lanes = _lanes(spark, config, metrics) if config.deferral.policy == "defer" else None
        # For the life of the driver, and made before the slow lane's threads make any.
        self._opened = accumulated_list(spark) if self._lanes else None
        self._failure: PipelineError | None = None
        self._partitions = self._workers = 0
        self._gate = BatchGate()

    def start(self) -> None:
        """Fold the ledger and begin to process it. Raises PipelineError."""
        if self._lanes:
            self._lanes.start()
            if self._metrics:
                lanes = self._lanes
                self._metrics.watch_ledger(lambda: lanes.status)
                self._metrics.watch_breakers(lambda: lanes.breakers)

    @property
    def batch(self) -> int | None:
        """The batch at work, if there is one."""
        return self._watch.batch

    def check(self, *, committed: int | None = None) -> None:
        """Raises PipelineError when a batch is late, or why a batch or the slow lane has failed.

        `committed` is a batch that was at work and is known to have ended.
        """
        if committed is not None:
            self._watch.end(committed)
        # What failed first names the cause: it may be why something else failed later.
        if self._lanes:
            self._lanes.check()
        if self._failure is not None:
            raise self._failure
        self._watch.check()

    def drain(self) -> None:
        """Let no batch begin to write any more, and no slow round."""
        self._gate.close()
        if self._lanes:
            self._lanes.stop()

    @property
    def is_held(self) -> bool:
        """Whether a batch waits for the end of the query: all before it are committed, and it wrote nothing."""
        return self._gate.held

    @property
    def writing(self) -> int | None:
        """The batch whose records are being emitted, if there is one."""
        return self._gate.batch

    @property
    def rounds(self) -> int:
        """How many slow rounds are under way."""
        return self._lanes.rounds if self._lanes else 0

    def close(self) -> None:
        """The last step, when the query has ended."""
        if self._metrics:
            self._metrics.close()

    def committed(self, progress: Progress) -> None:
        """Spark has committed a batch, the last or one before it."""
        self._partitions = len(progress.positions)
        if self._metrics:
            self._metrics.batch_committed(progress)

    def write(self, batch: "DataFrame", number: int) -> None:
        """Returns when every record of the batch is acknowledged; raises what Spark raises when one is not."""
        try:
            self._write(batch, number)
        except HeldError:
            raise
        except Exception as error:
            if self._gate.batch is None:
                self._begin_to_write(number)  # what was ended by a stop is its plan, as the wait for room
            self._failure = _own(error)
            raise
        finally:
            self._gate.leave()

    def _begin_to_write(self, number: int) -> None:
        """Raises HeldError, at the query's end, when the batch may not write any more."""
        if not self._gate.enter(number):
            hold(self._spark)

    def _write(self, batch: "DataFrame", number: int) -> None:
        self._watch.end()  # a next batch is planned only when the last has been committed
        rows = batch.select(*SOURCE_COLUMNS)
        slots = main_slots(batch.sparkSession.sparkContext.defaultParallelism, self._config)
        # Those of the topic once they are known: a batch has only those with news, and to count them takes a plan.
        workers = max(1, min(self._partitions or batch.rdd.getNumPartitions(), slots))
        # Else tasks would wait for each other, and their times add up. A partition stays whole, and in order.
        rows = rows.coalesce(workers)
        if workers != self._workers:
            self._workers = workers
            log.say(bounds(self._config, workers))
        snapshot = self._lanes.plan(number) if self._lanes else None
        self._begin_to_write(number)
        self._watch.begin(number)
        log.say(BatchStarted(batch=number, reserved=len(snapshot.reserved) if snapshot else 0))
        started = time.monotonic()
        if self._lanes is None or snapshot is None:
            function = enrich(self._config, workers=workers)
        else:
            function = enrich_around(
                self._config,
                snapshot.fence,
                epoch=self._lanes.epoch,
                batch=number,
                workers=workers,
                limit_bytes=self._lanes.limit_bytes,
            )
            if snapshot.reserved:
                # Each page in one task, in the order of the source. A replayed batch may hold a reserved entry twice.
                rows = (
                    rows.unionByName(entry_rows(self._spark, snapshot.reserved))
                    .repartition(workers, "topic", "partition", "key")
                    .sortWithinPartitions("topic", "partition", "offset")
                )
        if self._opened is not None:
            self._opened.value = []
            function = reporting_breakers(function, self._config.breaker, self._opened)
        if self._metrics:
            function = reporting(function, self._metrics.figures["main"])
        write(rows.mapInArrow(function, RECORD_DDL), self._config.sink)
        if self._lanes and snapshot and self._opened is not None:
            self._lanes.written(snapshot, number, self._opened.value)
        seconds = time.monotonic() - started
        if self._metrics:
            self._metrics.batch_written(seconds)
        log.say(BatchWritten(batch=number, seconds=round(seconds, 3)))


def _own(error: Exception) -> PipelineError | None:
    """What is not Spark's failure: of that Spark would say only that Python raised something."""
    if isinstance(error, PipelineError):
        return error
    if type(error).__module__.startswith(("py4j", "pyspark")):
        return None
    return PipelineError(f"batch failed: {type(error).__name__}: {error}")


def _lanes(spark: "SparkSession", config: PipelineConfig, metrics: "JobMetrics | None") -> Lanes:
    topic = LedgerTopic(config.sink.bootstrap_servers, config.deferral.topic, config.sink.max_request_size)
    rounds = SparkRounds(spark, config, metrics.figures["slow"] if metrics else None)
    return Lanes(config, topic, rounds, replays=lambda: will_replay(spark, config.checkpoint))
