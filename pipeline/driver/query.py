"""The streaming query: Kafka source, job, Kafka sink, checkpoint.

Everything is written through `foreachBatch`: one write action a batch, to output, error and ledger topic alike, and
the batch commits when every record of it is acknowledged. A failure anywhere, in a batch or in the slow lane, ends the
process: it is a crash, and the restart continues from the checkpoint.
"""

import functools
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError

from pipeline import log
from pipeline.aligned.event_time_watch import EventTimeWatch
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart, check, instead_of_missing
from pipeline.deferral.ledger_start import LedgerMark, LedgerWish, ledger_start
from pipeline.driver.heap_dumps import AwaitedDump, await_dump
from pipeline.driver.identity import FILE, Identity, require_checkpoint, require_own
from pipeline.driver.job_checkpoint import HadoopFiles, committed_offsets, read_content, write_text
from pipeline.driver.jvm import JvmEnd
from pipeline.driver.process_exit import Backstop, end_at_once, query_failure
from pipeline.driver.refused_offset import source_bounds, unless_kept
from pipeline.driver.session import daemon_settings, heap_bytes, jvm_pid, known_keys, start_session
from pipeline.driver.source_stream import (
    SourceWatch,
    note_beyond_spark,
    plan_status,
    reads_with_spark,
    require_readable,
    source_options,
    source_stream,
    source_streams,
    trigger_seconds,
)
from pipeline.driver.spark_conf import effective_spark, require_known
from pipeline.driver.spark_slots import main_slots, require_slots, slots_at_most
from pipeline.driver.stall import StallWatch
from pipeline.driver.start_warnings import start_warnings
from pipeline.driver.stop import StoppedHardError, StopRequest, on_signals, stop_early
from pipeline.errors import PipelineError, PositionGoneError, TimestampBeyondSparkError, full_disk_hint, root_cause
from pipeline.events import (
    CheckpointTaken,
    EffectiveSettings,
    MetricsServed,
    SettingsUnknown,
    Started,
    Stopped,
    Stopping,
)
from pipeline.fetch.wiki_hosts import WikiHosts
from pipeline.kafka.cluster import sink_brokers
from pipeline.kafka.sink import producer_options
from pipeline.memory.budget import Budget, require_heap
from pipeline.metrics.registry import names_of
from pipeline.ops.spark_checkpoint import require_whole
from pipeline.state.initial_state import initial_rows, require_complete
from pipeline.state.state_mark import counts_edits, decides_operations, pinned
from pipeline.state.store_settings import store_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pipeline.aligned.plan_status import PlanStatus
    from pipeline.driver.batch import BatchWriter
    from pipeline.metrics.job_metrics import JobMetrics


class PeriodicChecks:
    """Runs all checks, one after the other, every `every_s` seconds, in a thread of its own, until one of them raises.

    An object store, for example, may not answer a check for minutes. What ends a job whose batch is late must not wait
    for that.
    """

    def __init__(self, checks: Sequence[Callable[[], None]], every_s: float, *, name: str) -> None:
        self._checks, self._every_s = checks, every_s
        self._over = threading.Event()
        self._failure: Exception | None = None
        # A daemon, as a check that is not answered would keep the process.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> "PeriodicChecks":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def check(self) -> None:
        """Raises what a check has raised."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while not self._over.wait(self._every_s):
            try:
                for check in self._checks:
                    check()
            except Exception as error:  # noqa: BLE001 - whatever it is, it ends the job, in the thread that watches
                self._failure = error
                return


_LOOK_S = 0.1
_LAST_WORDS_S = 5.0
# Of Spark's word on a query that asks its source where it ends.
_PLANNING = "Getting offsets from "
# On an object store each check is a request or two.
_OTHERS_S = 2.0
# Each check makes a connection.
_BROKERS_S = 10.0
_NO_JAVA = "JAVA_GATEWAY_EXITED"
_NEEDS = (
    "Spark needs its Kafka connector and, for s3a://, Hadoop's S3A on the classpath (jars.lock names them), "
    "and the store's credentials in the environment"
)


@dataclass(frozen=True, slots=True)
class Running:
    """Its Spark, the query, what writes its batches, what else is looked at now and then, and of the brokers, where it
    began, the address of Spark's UI if it has one, when Spark has reported its last word on the query, what an
    OutOfMemoryError would have left, and whether there was one.
    """

    spark: "SparkSession"
    query: "StreamingQuery"
    writer: "BatchWriter"
    checks: Sequence[Callable[[], None]]
    broker_checks: Sequence[Callable[[], None]]
    start: str
    ui: str | None
    ended: threading.Event
    dump: AwaitedDump
    jvm: JvmEnd


def run(
    resolved: Budget, new: NewStart | None, *, allow_unsafe: bool = False, ledger: LedgerWish | None = None
) -> None:
    """Run the job until SIGTERM or SIGINT. Raises PipelineError when the query fails, RefusedError before it begins,
    StoppedHardError when it does not end in time, StoppedEarlyError for a signal before it runs.

    `allow_unsafe` accepts a Spark with too few slots, and `ledger` another ledger than the checkpoint's.
    """
    stop = StopRequest(resolved.config.effective_stop_timeout.total_seconds(), time.monotonic)
    stall_s = resolved.config.stall_timeout.total_seconds()
    with Backstop(stop, stall_s, end_at_once, time.monotonic) as backstop:

        def will_run() -> None:
            on_signals(lambda number, _frame: stop.signal(number))
            backstop.start()

        try:
            running = _begin(resolved, new, will_run, allow_unsafe=allow_unsafe, wish=ledger)
        except PipelineError:
            raise
        except Exception as error:
            cause = root_cause(str(error))
            hint = full_disk_hint(cause) or (_java_hint(os.environ) if _NO_JAVA in str(error) else _NEEDS)
            raise PipelineError(f"query could not begin: {cause}", hint=hint) from error
        log.emit(Started(start=running.start, spark_ui=running.ui or "off"))
        try:
            _until_the_end(running, stop, backstop)
        except PositionGoneError as error:
            raise unless_kept(error, lambda: source_bounds(resolved.config)) from error
        except TimestampBeyondSparkError as error:
            with suppress(Py4JError):  # a store that is down: the next start fails, and notes it
                note_beyond_spark(running.spark, resolved.config, error)
            raise
        finally:
            running.dump.log_dump()


def _until_the_end(running: Running, stop: StopRequest, backstop: Backstop) -> None:
    """Raises PipelineError unless the job was stopped."""
    query, writer = running.query, running.writer
    try:
        _watch(running, stop, backstop)
        if stop.is_there and query.isActive:
            _end(running, stop, backstop)
            return
        words = str(query.exception())
    except PipelineError:
        raise
    except Exception as error:
        raise query_failure(writer, running.jvm, error) from error
    raise query_failure(writer, running.jvm, words)


def _watch(running: Running, stop: StopRequest, backstop: Backstop) -> None:
    """Returns when the job is to stop and has nothing under way, or the query has ended. Raises PipelineError, or what
    Spark raises.
    """
    query, writer = running.query, running.writer
    draining = committed = False
    with (
        PeriodicChecks((writer.check_ownership, *running.checks), _OTHERS_S, name="periodic-checks") as checks,
        # By itself, as brokers that do not answer are waited for.
        PeriodicChecks(running.broker_checks, _BROKERS_S, name="broker-checks") as broker_checks,
    ):
        while query.isActive:
            backstop.goes_on()
            if stop.is_there and not draining:
                draining = True
                log.emit(Stopping(batch=writer.writing, rounds=writer.rounds, within_s=stop.limit_s))
                writer.drain()
            if draining:
                # It stays so: a batch that begins now is held before it writes anything, and most triggers have none.
                committed = committed or _is_committed(query, writer)
                if _is_done(writer, stop, committed=committed):
                    return
            query.awaitTermination(_LOOK_S)  # type: ignore[arg-type]  # the stub says int; seconds may be a fraction
            # Asked in this order: a batch that begins after the first question is not ended by the second's answer.
            batch = writer.batch
            active = query.status["isTriggerActive"]
            writer.check(committed=None if active else batch)
            writer.check_commit(active=active)
            checks.check()
            broker_checks.check()


def _is_committed(query: "StreamingQuery", writer: "BatchWriter") -> bool:
    """Whether every batch that was let in is."""
    # In this order: what begins after the first question is held.
    if writer.writing is not None:
        return False
    if writer.is_held:
        return True
    status = query.status
    # Spark plans a batch when the one before it is committed; brokers that are gone make that last for minutes.
    return not status["isTriggerActive"] or status.get("message", "").startswith(_PLANNING)


def _is_done(writer: "BatchWriter", stop: StopRequest, *, committed: bool) -> bool:
    """Whether nothing is under way that is worth waiting for. Raises StoppedHardError when a batch is, and has to be
    left.
    """
    if committed and not writer.rounds:
        return True
    reason = stop.ends_now
    if reason is None:
        return False
    if not committed:
        batch = writer.writing
        raise StoppedHardError(
            f"stopped with {'a batch' if batch is None else f'batch {batch}'} at work, as {reason}",
            hint="it is processed again after the next start, and what of it was emitted is then emitted twice",
        )
    return True


def _end(running: Running, stop: StopRequest, backstop: Backstop) -> None:
    rounds = running.writer.rounds
    backstop.committed(rounds=rounds)
    running.query.stop()
    running.ended.wait(_LAST_WORDS_S)
    running.writer.close()
    log.emit(Stopped(seconds=round(stop.seconds, 3), rounds_given_up=rounds))


def _java_hint(environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    java = f"JAVA_HOME is {home}" if home else "JAVA_HOME is not set, so it is the `java` of PATH"
    return f"{java}: Spark needs a Java of 17 or later with the module jdk.incubator.vector; its message is above"


def _begin(
    resolved: Budget,
    new: NewStart | None,
    will_run: Callable[[], None],
    *,
    allow_unsafe: bool,
    wish: LedgerWish | None = None,
) -> Running:
    """`will_run` is called when from then on something may be under way."""
    config = resolved.config
    names_of(config.metrics)  # a name used twice is known without Spark
    hosts = WikiHosts(config.mediawiki, emit=log.emit)  # so is a file of wikis that is not there
    # A Kafka client, which only a job that starts needs.
    from pipeline.kafka.access import await_brokers, require_access
    from pipeline.kafka.broker_limits import LimitsWatch, ask_brokers, require_limits, require_topics, source_ids

    for warning in start_warnings(config):
        log.emit(warning)
    await_brokers(config)
    require_access(config)
    brokers = ask_brokers(config)
    require_limits(brokers.limits, config)
    require_topics(brokers.missing)
    require_readable(config)
    spark = start_session(
        config.job,
        {**daemon_settings(resolved.given), **resolved.spark},
        meanwhile=("pipeline.driver.batch", "pandas"),
        workers=lambda slots: main_slots(slots, config),
    )
    on_signals(stop_early)  # once more: the session sets a handler of its own for SIGINT
    limits = LimitsWatch(config, brokers.limits)
    by_spark = reads_with_spark(spark, config)
    _check_spark(spark, resolved, new, limits.batch_bytes, by_spark=by_spark)
    dump = await_dump(spark, config.heap_dump, config.job)
    from pipeline.driver.batch import BatchWriter  # imported while the JVM started
    from pipeline.driver.job_checkpoint import Ownership
    from pipeline.metrics.progress import ProgressListener
    from pipeline.state.counted_by_window import counted_by_window
    from pipeline.state.decided_by_entity import decided_by_entity
    from pipeline.state.deduplicate import without_repeats

    if not allow_unsafe:
        require_slots(spark.sparkContext.master or "", spark.sparkContext.defaultParallelism, config)
    slots = _main_slots(spark, config)
    own = Identity.of(config, brokers.source_cluster, brokers.source_ids)
    checkpoint = _take_checkpoint(spark, config, new, own, slots=slots)
    watch = StallWatch(config.stall_timeout.total_seconds(), time.monotonic)
    checks: list[Callable[[], None]] = [hosts.look]
    source_watch = SourceWatch(brokers.source_ids, functools.partial(source_ids, config))
    planned = plan_status(spark, config)
    metrics = _metrics(spark, config, planned)
    if planned is not None:
        checks.append(EventTimeWatch(planned).look)
    writer = BatchWriter(spark, config, watch, metrics, lambda: limits.batch_bytes, planned)
    writer.begin(lambda: None if checkpoint.new else committed_offsets(spark, checkpoint.place))
    ledger_mark, new = checkpoint.maker.ledger if checkpoint.maker else None, checkpoint.new
    _mark_checkpoint(spark, checkpoint, _take_ledger(writer, config, ledger_mark, new=new is not None, wish=wish))
    ownership = Ownership(spark, config.checkpoint)
    ownership.take()
    writer.own(ownership)
    listener = ProgressListener(writer.committed, writer.reads)
    spark.streams.addListener(listener)
    will_run()
    if checkpoint.own.state is not None:
        for key, value in store_settings(config, checkpoint.own.state).items():
            spark.conf.set(key, value)
        tasks = slots or checkpoint.own.state.partitions
        writer.by_page(tasks)
        delay_ms = checkpoint.own.state.delay_ms
        if counts_edits(config):
            rows = counted_by_window(source_streams(spark, config, new, delay_ms), config, tasks=tasks)
        elif decides_operations(config):
            initial = initial_rows(spark, checkpoint.place) if checkpoint.has_initial_state else None
            source = source_stream(spark, config, new, delay_ms)
            rows = decided_by_entity(source, config, tasks=tasks, initial=initial)
        else:
            source = source_stream(spark, config, new, delay_ms)
            rows = without_repeats(source, config, tasks=tasks, shortest_ms=delay_ms)
    else:
        rows = source_stream(spark, config, new)
    query = (
        rows.writeStream.queryName(config.job)
        .foreachBatch(writer.write)
        .option("checkpointLocation", config.checkpoint)
        .trigger(processingTime=f"{trigger_seconds(config, by_spark=by_spark)} seconds")
        .start()
    )
    start = new.name if new else "checkpoint"
    return Running(
        spark,
        query,
        writer,
        checks,
        (source_watch.check, limits.look),
        start,
        spark.sparkContext.uiWebUrl,
        listener.ended,
        dump,
        JvmEnd(spark, dump),
    )


def _main_slots(spark: "SparkSession", config: PipelineConfig) -> int | None:
    """The slots of the main lane when all executors are there; None where Spark's settings do not say."""
    context = spark.sparkContext
    slots = slots_at_most(context.master or "", dict(context.getConf().getAll()), context.defaultParallelism)
    return None if slots is None else main_slots(slots, config)


def _check_spark(
    spark: "SparkSession", resolved: Budget, new: NewStart | None, batch_bytes: int, *, by_spark: bool
) -> None:
    """Log the effective settings. Raises RefusedError when they are not as they have to be."""
    unknown = require_known(resolved.given, known_keys(spark))
    if unknown:
        log.emit(SettingsUnknown(settings=tuple(unknown), hint="no module of Spark that is loaded knows them"))
    heap = heap_bytes(spark)
    if resolved.plan is not None and resolved.plan.place == "local":
        require_heap(resolved.plan, heap)
    log.emit(
        EffectiveSettings(
            heap_bytes=heap,
            spark=effective_spark(spark.sparkContext.getConf().getAll()),
            source=source_options(resolved.config, new, by_spark=by_spark),
            producer=producer_options(resolved.config.sink, resolved.config.kafka, batch_bytes),
        )
    )


@dataclass(frozen=True, slots=True)
class _Taken:
    """A checkpoint that is this job's: who has made it, None where it has no mark, and who this is. `adopted`: it has a
    position, and no mark. `new` is where the job begins, None where the checkpoint says so. `has_initial_state`: the
    first batch is still to take one up.
    """

    place: str
    maker: Identity | None
    own: Identity
    adopted: bool
    new: NewStart | None
    has_initial_state: bool


def _take_checkpoint(
    spark: "SparkSession", config: PipelineConfig, new: NewStart | None, own: Identity, *, slots: int | None
) -> _Taken:
    """See that the checkpoint is this job's. Raises RefusedError."""
    place = config.checkpoint
    content = read_content(spark, place)
    require_checkpoint(content.spark.entries, place)
    exists = content.spark.has_position
    require_complete(content.spark.entries, place, has_position=exists)
    new = instead_of_missing(new, exists=exists, policy=config.missing_checkpoint)
    # Without a position, a mark comes from a start that failed, and is no reason against a new one.
    left_behind = new is not None and not exists
    maker = Identity.read(content.identity, place) if content.identity is not None and not left_behind else None
    require_own(maker, own, checkpoint=place, topics=content.spark.topics)
    bootstrap = maker.bootstrap if maker else None
    has_state = maker is not None and maker.state is not None
    require_whole(HadoopFiles(spark, place), content.spark, has_state=has_state, bootstrap=bootstrap)
    check(new, checkpoint=place, exists=exists)
    has_begun = exists and (maker is None or maker.has_begun)
    state = pinned(maker.state if maker else None, config, checkpoint=place, slots=slots, exists=has_begun)
    own = own.model_copy(update={"state": state})
    has_initial_state = bootstrap is not None and not content.spark.commits
    return _Taken(place, maker, own, exists and maker is None, new, has_initial_state)


def _take_ledger(
    writer: "BatchWriter", config: PipelineConfig, mark: LedgerMark | None, *, new: bool, wish: LedgerWish | None
) -> LedgerMark | None:
    """The ledger's mark for the checkpoint; None when it is unchanged. Raises PipelineError."""
    if config.deferral.policy == "none" and mark is not None:
        from pipeline.deferral import ledger_log, topic

        ledger = topic.LedgerTopic(sink_brokers(config), mark.topic, config.sink.max_request_size)
        return ledger_log.require_nothing_deferred(ledger, wish)
    return writer.start(ledger_start(new=new, known=mark, wish=wish))


def _mark_checkpoint(spark: "SparkSession", checkpoint: _Taken, ledger: LedgerMark | None) -> None:
    """Write whose it is, where that is not known yet or not all of it."""
    mark = (checkpoint.maker or checkpoint.own).completed(checkpoint.own, ledger)
    if mark != checkpoint.maker:
        write_text(spark, checkpoint.place, FILE, mark.model_dump_json())
    log.emit(CheckpointTaken(place=checkpoint.place, made_by=mark.model_dump(), adopted=checkpoint.adopted))


def _metrics(
    spark: "SparkSession", config: PipelineConfig, planned: "Callable[[], PlanStatus | None] | None"
) -> "JobMetrics | None":
    """Served from now on, if they are wanted. Raises RefusedError."""
    if config.metrics.port is None:
        return None
    from pipeline.driver.jvm import DriverJvm
    from pipeline.metrics.job_metrics import JobMetrics, lane_measurements

    metrics = JobMetrics(
        config,
        lane_measurements(spark.sparkContext, rounds=config.deferral.slow_lane.rounds),
        jvm_pid=jvm_pid(spark),
        jvm=DriverJvm(spark),
        initial=lambda: committed_offsets(spark, config.checkpoint),
    )
    if planned is not None:
        metrics.watch_event_times(planned)
    log.emit(MetricsServed(url=metrics.start()))
    return metrics
