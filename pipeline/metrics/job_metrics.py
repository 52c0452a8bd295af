"""The metrics of one driver: what its own parts tell it, what the workers' tasks add, and what is looked up when asked.

Made before the query starts, so that a name used twice or a port that is taken ends the start and not the job.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, cast

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from pipeline.aligned.plan_status import PlanStatus
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import Grain, StateCommitted
from pipeline.kafka.cluster import source_brokers
from pipeline.metrics import catalogue
from pipeline.metrics.clocks import Clocks
from pipeline.metrics.endpoint import Endpoint, serve
from pipeline.metrics.exposition import families
from pipeline.metrics.jvm_watch import JvmSource, JvmWatch
from pipeline.metrics.lag_watch import KafkaSource, LagWatch
from pipeline.metrics.measurements import Measurements, MeasurementsParam, Recorder
from pipeline.metrics.progress import Progress
from pipeline.metrics.registry import names_of
from pipeline.metrics.worker_metrics import resident_bytes
from pipeline.records.record import SourcePartition

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.accumulators import Accumulator, AccumulatorParam


def record_event_times(planned: PlanStatus, levels: Recorder) -> None:
    """The last plan of an aligned source as levels, in the place of the one before."""
    levels.forget(catalogue.EVENT_TIME_WAITING)  # what was taken waits no more
    if planned.common_ms is not None:
        levels.set(catalogue.EVENT_TIME_COMMON, planned.common_ms / 1000)
    for partition in planned.partitions:
        labels = partition.topic, str(partition.partition)
        if partition.read_ms is not None:
            levels.set(catalogue.EVENT_TIME, partition.read_ms / 1000, *labels)
        if partition.waiting_ms is not None:
            levels.set(catalogue.EVENT_TIME_WAITING, partition.waiting_ms / 1000, *labels)
        levels.set(catalogue.EVENT_TIME_HELD, partition.held_s, *labels)
        levels.set(catalogue.EVENT_TIME_IDLE, float(partition.idle), *labels)


LedgerStatus = tuple[int, int, int]
"""Entries, bytes and pages of the ledger."""
Breakers = Mapping[tuple[Grain, str], int]
"""How many breakers are open, by grain and wiki."""


class JobMetrics(Collector):
    """`measurements` are the accumulators of the lanes, by name; `jvm` is the driver's. `initial` tells the committed
    position of each partition from the checkpoint, None while there is none; it is asked until a batch was committed.
    """

    def __init__(
        self,
        config: PipelineConfig,
        measurements: "Mapping[str, Accumulator[Measurements]]",
        *,
        jvm_pid: int | None,
        jvm: JvmSource,
        initial: Callable[[], Mapping[SourcePartition, int] | None],
        clocks: Clocks | None = None,
    ) -> None:
        """Raises RefusedError for a name used twice."""
        self._config, self.measurements, self._jvm_pid, self._initial = config, measurements, jvm_pid, initial
        self._clocks = clocks or Clocks()
        self._named = names_of(config.metrics)
        self._recorder = Recorder()
        self._lock = threading.Lock()
        self._committed: Mapping[SourcePartition, int] | None = None
        self._status: Callable[[], LedgerStatus] | None = None
        self._breakers: Callable[[], Breakers] | None = None
        self._deferred_unhealthy: Callable[[], int] | None = None
        self._plan_status: Callable[[], PlanStatus | None] | None = None
        self._lag = LagWatch(
            lambda: KafkaSource(source_brokers(config), config.source.all_topics),
            self._position,
            interval_s=config.metrics.lag_interval.total_seconds(),
            clocks=self._clocks,
        )
        self._jvm = JvmWatch(jvm, self._recorder, interval_s=config.metrics.jvm_interval.total_seconds())
        self._endpoint: Endpoint | None = None
        self._started = self._committed_at = self._clocks.note()
        self._recorder.set(catalogue.STALL_TIMEOUT, config.stall_timeout.total_seconds())

    def start(self) -> str:
        """Serve, and watch the lag and the JVM; returns the address. Raises RefusedError."""
        settings = self._config.metrics
        self._endpoint = serve(self, host=settings.host, port=settings.port or 0)
        self._lag.start()
        self._jvm.start()
        return self._endpoint.url

    def close(self) -> None:
        """Ends the looks at the lag and at the JVM, and frees the port; safe where no port was served."""
        self._lag.stop()
        self._jvm.stop()
        if self._endpoint is not None:
            self._endpoint.close()

    def watch_ledger(self, status: Callable[[], LedgerStatus]) -> None:
        """Ask this for the ledger's size; without it the job defers nothing."""
        self._status = status

    def watch_breakers(self, breakers: Callable[[], Breakers], deferred_unhealthy: Callable[[], int]) -> None:
        """Ask these for the breakers, and for the number of deferred events of wikis whose breaker is open."""
        self._breakers = breakers
        self._deferred_unhealthy = deferred_unhealthy

    def watch_event_times(self, status: Callable[[], PlanStatus | None]) -> None:
        """Ask this for the last plan of an aligned source; without it nothing is reported of event times."""
        self._plan_status = status

    def batch_written(self, seconds: float) -> None:
        """All of a micro-batch is acknowledged."""
        self._recorder.observe(catalogue.BATCH_SECONDS, seconds)

    def batch_committed(self, progress: Progress) -> None:
        """Spark has reported a micro-batch, which it does some time after its commit."""
        self._committed_at = self._clocks.note()
        self._recorder.count(catalogue.BATCH_ROWS, by=progress.rows)
        self._recorder.observe(catalogue.COMMIT_SECONDS, progress.commit_ms / 1000)
        for state in progress.states:
            self._state_committed(state)
        with self._lock:
            self._committed = {**(self._committed or {}), **progress.positions}

    def _state_committed(self, state: StateCommitted) -> None:
        recorder, operator = self._recorder, state.operator
        recorder.set(catalogue.STATE_ROWS, state.rows, operator)
        recorder.set(catalogue.STATE_BYTES, state.bytes, operator)
        recorder.observe(catalogue.STATE_COMMIT_SECONDS, state.commit_ms / 1000, operator)
        recorder.count(catalogue.DUPLICATES, operator, by=state.duplicates)
        recorder.count(catalogue.LATE_DROPPED, operator, by=state.late_dropped)
        if state.watermark is not None:
            recorder.set(catalogue.WATERMARK, datetime.fromisoformat(state.watermark).timestamp())

    def commit_slow(self) -> None:
        """Spark takes long to write to the checkpoint."""
        self._recorder.count(catalogue.COMMITS_SLOW)

    def describe(self) -> Iterator[Family]:
        """Nothing: what is reported depends on when it is asked, and names were checked at the start."""
        return iter(())

    def collect(self) -> Iterator[Family]:
        """What a scraper gets."""
        self._look_up()
        lanes = {lane: accumulator.value for lane, accumulator in self.measurements.items()}
        return families(self._named, self._recorder.measurements(), lanes)

    def _look_up(self) -> None:
        levels = self._recorder
        levels.set(catalogue.STARTED, self._clocks.timestamp(self._started))
        levels.set(catalogue.LAST_COMMIT, self._clocks.timestamp(self._committed_at))
        if self._status is not None:
            entries, size, pages = self._status()
            levels.set(catalogue.DEFERRED, entries)
            levels.set(catalogue.DEFERRED_BYTES, size)
            levels.set(catalogue.DEFERRED_PAGES, pages)
            levels.set(catalogue.MAX_DEFERRED, self._config.deferral.max_entries)
            levels.set(catalogue.MAX_DEFERRED_BYTES, self._config.deferral.max_bytes)
        if self._breakers is not None and self._deferred_unhealthy is not None:
            levels.set(catalogue.DEFERRED_UNHEALTHY, self._deferred_unhealthy())
            levels.forget(catalogue.BREAKER_OPEN)  # a wiki's name may have gone to another
            for (grain, wiki_id), count in self._breakers().items():
                levels.set(catalogue.BREAKER_OPEN, count, grain, wiki_id)
        planned = None if self._plan_status is None else self._plan_status()
        if planned is not None:
            record_event_times(planned, levels)
        if self._lag.lag is not None:
            noted, lag = self._lag.lag
            for partition, events in lag.events.items():
                labels = partition.topic, str(partition.partition)
                levels.set(catalogue.LAG_EVENTS, events, *labels)
                levels.set(catalogue.LAG_SECONDS, lag.seconds[partition], *labels)
            levels.set(catalogue.LAG_SEEN, self._clocks.timestamp(noted))
        for process, pid in (("driver", None), ("jvm", self._jvm_pid)):
            memory = resident_bytes(pid) if process == "driver" or pid is not None else None
            if memory is not None:
                levels.set(catalogue.MEMORY, memory, process)

    def _position(self) -> Mapping[SourcePartition, int] | None:
        with self._lock:
            committed = self._committed
        if committed is None:
            committed = self._initial()
            with self._lock:
                self._committed = committed if self._committed is None else self._committed
        return committed


def lane_measurements(context: "SparkContext", *, rounds: int) -> "dict[str, Accumulator[Measurements]]":
    """An accumulator for each lane, for the life of the driver. To be made before other threads make any. There is a
    batch at a time, and this number of slow rounds.
    """
    return {
        lane: context.accumulator(Measurements(), cast("AccumulatorParam[Measurements]", MeasurementsParam(stages)))
        for lane, stages in (("main", 1), ("slow", rounds))
    }
