"""One micro-batch: source rows, and entries of the ledger whose turn it is, through the job into the sink.

plan ─▶ can the job read it? ─▶ new rows and reserved entries ─▶ one write action ─▶ settle with the ledger ─▶ Spark
commits
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.aligned.event_time_watch import batch_started
from pipeline.config.batch_section import Reuse
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.lanes import Lanes
from pipeline.deferral.ledger_start import LedgerMark, LedgerStart
from pipeline.deferral.rounds import SparkRounds, entry_rows
from pipeline.deferral.snapshot import Snapshot
from pipeline.deferral.topic import LedgerTopic
from pipeline.driver.job_checkpoint import Ownership, replayed_from
from pipeline.driver.kept_hosts import KeptHosts
from pipeline.driver.spark_slots import main_slots
from pipeline.driver.stall import CommitWatch, StallWatch, writes_checkpoint
from pipeline.driver.stop import BatchGate, HeldError, hold
from pipeline.driver.version_check import VersionCheck
from pipeline.errors import PipelineError
from pipeline.events import BatchWritten
from pipeline.fetch.breakers import reporting_breakers
from pipeline.fetch.worker_bounds import work_bounds
from pipeline.kafka.cluster import sink_brokers
from pipeline.kafka.sink import BATCH_BYTES, write
from pipeline.metrics.progress import Progress
from pipeline.metrics.worker_metrics import reporting
from pipeline.records.record import SourcePartition
from pipeline.state.decided_by_entity import TURN
from pipeline.state.deduplicate import PAGE_ORDER
from pipeline.state.state_mark import counts_edits, decides_operations, leaves_later
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.spark_task import COUNTED, DECIDED, RECORD_DDL, columns_of, enrich, enrich_around
from pipeline.worker.task_attempt import EndedTask, reporting_attempts, retried
from pipeline.worker.task_results import accumulated_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.aligned.plan_status import PlanStatus
    from pipeline.metrics.job_metrics import JobMetrics


class BatchDeferral:
    """The `lanes`, and around each batch: `rows` and `function` of what `Lanes.plan` says, then `written`.

    Made once, for the life of the driver, as its accumulators last that long.
    """

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
        """All records of the batch are acknowledged, by these attempts of its tasks. Raises PipelineError."""
        tasks = frozenset(task.attempt for task in ended)
        deferred = sum(task.deferred for task in ended)
        self.lanes.written(snapshot, number, tasks, self._opened.value, deferred=deferred)


@contextmanager
def reused(rows: "DataFrame", reuse: Reuse) -> Iterator["DataFrame"]:
    """The rows, cached while the batch is processed, so that what reads it twice asks Kafka once: in memory first, and
    on disk where that is full.

    The lesson: Spark drops a cached batch only when the driver does. The setting `cached` never does.
    """
    if reuse == "off":
        yield rows
        return
    from pyspark import StorageLevel

    persisted = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield persisted
    finally:
        if reuse == "released":
            persisted.unpersist()


class BatchWriter:
    """The function for `foreachBatch`, with the lanes of deferral when there are any."""

    def __init__(
        self,
        spark: "SparkSession",
        config: PipelineConfig,
        watch: StallWatch,
        metrics: "JobMetrics | None" = None,
        batch_bytes: Callable[[], int] = lambda: BATCH_BYTES,
        planned: "Callable[[], PlanStatus | None] | None" = None,
    ) -> None:
        """`batch_bytes` tells the largest batch that the topics of the sink take by now, and `planned` the status of
        the last plan; None for a source without a planner.
        """
        self._spark = spark
        self._metrics = metrics
        self._config = config
        self._watch = watch
        self._batch_bytes = batch_bytes
        self._planned = planned
        # For the life of the driver, and made before the slow lane's threads make any.
        self._versions = VersionCheck(spark, config)
        self._ended = accumulated_list(spark)
        self._hosts = KeptHosts(spark, config)
        deferring = config.deferral.policy == "defer"
        lanes = _lanes(spark, config, self._hosts.slow_lane(), metrics) if deferring else None
        self._deferral = BatchDeferral(spark, config, lanes) if lanes else None
        self._failure: PipelineError | None = None
        self._partitions = self._workers = self._by_page = 0
        self._ownership: Ownership | None = None
        self._gate = BatchGate()
        self._commits = CommitWatch(
            config.commit,
            config.effective_commit_timeout.total_seconds(),
            config.checkpoint,
            time.monotonic,
            is_writing=lambda: writes_checkpoint(spark),
            on_slow=metrics.commit_slow if metrics else lambda: None,
        )

    def begin(self, committed: Callable[[], Mapping[SourcePartition, int] | None]) -> None:
        """Before `start`; `committed` tells the positions by the checkpoint, None where the job is new."""
        self._hosts.start(committed)

    def start(self, ledger: LedgerStart) -> LedgerMark | None:
        """Fold the ledger and begin to process it; which one it is, None without deferral. Raises PipelineError."""
        if self._deferral is None:
            return None
        lanes = self._deferral.lanes
        mark = lanes.start(ledger)
        if self._metrics:
            self._metrics.watch_ledger(lambda: lanes.status)
            self._metrics.watch_breakers(lambda: lanes.breakers, lambda: lanes.deferred_unhealthy)
        return mark

    def own(self, ownership: Ownership) -> None:
        """The checkpoint is this start's; from now on each batch sees to it that it still is."""
        self._ownership = ownership

    def by_page(self, tasks: int) -> None:
        """Batches come in this number of partitions, each page in one of them and in no order."""
        self._by_page = tasks

    def check_ownership(self) -> None:
        """Raises FencedError when a later start of the job has taken the checkpoint."""
        if self._ownership:
            self._ownership.check_if_reachable()

    @property
    def batch(self) -> int | None:
        """The batch at work, or the last one while the next is planned; None while nothing is awaited."""
        return self._watch.batch

    def check(self, *, committed: int | None = None) -> None:
        """Raises PipelineError when a batch or the plan of the next is late, or why a batch or the slow lane failed.

        `committed` is a batch that was at work and is known to have ended.
        """
        if committed is not None:
            self._watch.end(committed)
        # What failed first names the cause: it may be why something else failed later.
        if self._deferral:
            self._deferral.lanes.check()
        if self._failure is not None:
            raise self._failure
        self._watch.check()

    def check_commit(self, *, active: bool) -> None:
        """Raises StalledError when Spark, in a trigger and not in a batch, takes too long to write its checkpoint."""
        self._commits.check(active=active)

    def drain(self) -> None:
        """Let no batch begin to write any more, and no slow round."""
        self._gate.close()
        if self._deferral:
            self._deferral.lanes.stop()

    def reads(self, batch: int) -> int:
        """How often a batch has read its source; to be asked once, when it is committed."""
        return self._versions.reads(batch)

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
        return self._deferral.lanes.rounds if self._deferral else 0

    def close(self) -> None:
        """The last step, when the query has ended."""
        if self._metrics:
            self._metrics.close()

    def committed(self, progress: Progress) -> None:
        """Spark has committed a batch, the last or one before it."""
        self._watch.committed(progress.batch)
        self._partitions = len(progress.positions)
        if self._deferral:
            self._deferral.lanes.committed(progress.positions)
        self._hosts.committed(progress.positions)
        if self._metrics:
            self._metrics.batch_committed(progress)

    def write(self, batch: "DataFrame", number: int) -> None:
        """Returns when every record of the batch is acknowledged; raises what Spark raises when one is not."""
        self._commits.batch_begins()
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
            self._commits.batch_ends(number)

    def _require_ownership(self) -> None:
        if self._ownership:
            self._ownership.check()

    def _begin_to_write(self, number: int) -> None:
        """Raises HeldError, at the query's end, when the batch may not write any more."""
        if not self._gate.enter(number):
            hold(self._spark)

    def _write(self, batch: "DataFrame", number: int) -> None:
        self._watch.end()  # Spark has planned it; what it waits for before it begins has no limit
        rows = batch.select(*columns_of(self._config.source), *_columns_of_state(self._config))
        slots = main_slots(batch.sparkSession.sparkContext.defaultParallelism, self._config)
        if self._by_page:
            workers = self._by_page
            turns = ("key", TURN) if decides_operations(self._config) else ()
            rows = rows.sortWithinPartitions(*turns, *PAGE_ORDER)
        else:
            # Those of the topic once they are known: a batch has only those with news, and to count them takes a plan.
            workers = max(1, min(self._partitions or batch.rdd.getNumPartitions(), slots))
            # Else tasks would wait for each other, and their times add up. A partition stays whole, and in order.
            rows = rows.coalesce(workers)
        if workers != self._workers:
            self._workers = workers
            log.emit(work_bounds(self._config, workers))
        deferral = self._deferral
        snapshot = deferral.lanes.plan(number) if deferral else None
        self._begin_to_write(number)
        self._watch.begin(number)
        reserved = len(snapshot.reserved) if snapshot else 0
        status = self._planned() if self._planned else None
        log.emit(batch_started(number, reserved, time.time_ns() // 1_000_000, status))
        started = time.monotonic()
        self._require_ownership()
        with reused(rows, self._config.batch.reuse) as persisted:
            self._versions.require_readable(persisted, number, workers=workers)
            self._emit(persisted, number, snapshot, workers=workers)
        if deferral and snapshot:
            deferral.written(snapshot, number, self._ended.value)
        else:
            self._require_ownership()
        self._watch.emitted(number)
        seconds = time.monotonic() - started
        if self._metrics:
            self._metrics.batch_written(seconds)
        log.emit(BatchWritten(batch=number, seconds=round(seconds, 3)))

    def _emit(self, rows: "DataFrame", number: int, snapshot: Snapshot | None, *, workers: int) -> None:
        """Runs one write action. Raises what Spark raises."""
        deferral = self._deferral
        if deferral and snapshot:
            rows = deferral.rows(rows, snapshot, workers=workers)
            function = deferral.function(snapshot, number, workers=workers)
        else:
            function = enrich(self._config, workers=workers)
        function = self._hosts.function(function)
        self._ended.value = []
        function = reporting_attempts(function, self._ended, ledger=self._config.deferral.topic if deferral else None)
        if self._metrics:
            function = reporting(function, self._metrics.measurements["main"])
        try:
            write(rows.mapInArrow(function, RECORD_DDL), self._config.sink, self._config.kafka, self._batch_bytes())
        finally:
            # Also where the batch has failed: the restart makes repeats of its own.
            for event in retried(self._ended.value, number):
                log.emit(event)
        self._hosts.written()


def _columns_of_state(config: PipelineConfig) -> tuple[str, ...]:
    """The columns that come from the operator before the batch."""
    if decides_operations(config):
        return DECIDED, TURN
    return (COUNTED,) if counts_edits(config) else ()


def _own(error: Exception) -> PipelineError | None:
    """What is not Spark's failure: of that Spark would say only that Python raised something."""
    if isinstance(error, PipelineError):
        return error
    if type(error).__module__.startswith(("py4j", "pyspark")):
        return None
    return PipelineError(f"batch failed: {type(error).__name__}: {error}")


def _lanes(
    spark: "SparkSession", config: PipelineConfig, of_rounds: PipelineConfig, metrics: "JobMetrics | None"
) -> Lanes:
    topic = LedgerTopic(sink_brokers(config), config.deferral.topic, config.sink.max_request_size)
    rounds = SparkRounds(spark, of_rounds, metrics.measurements["slow"] if metrics else None)
    replay = functools.partial(replayed_from, spark, config.checkpoint, leaves_later=leaves_later(config))
    return Lanes(config, topic, rounds, replay=replay)
