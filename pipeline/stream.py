"""The streaming query: Kafka source, job, Kafka sink, checkpoint.

Everything is written through `foreachBatch`: one write action a batch, to output, error and ledger topic alike, and
the batch commits when every record of it is acknowledged. A failure anywhere, in a batch or in the slow lane, ends the
process: it is a crash, and the restart continues from the checkpoint.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.effective import effective_spark
from pipeline.errors import PipelineError, root_cause
from pipeline.events import (
    CheckpointTaken,
    EffectiveSettings,
    MetricsServed,
    SettingsUnknown,
    Started,
    Stopped,
    Stopping,
)
from pipeline.identity import FILE, Identity, require_checkpoint, require_own
from pipeline.job_checkpoint import committed_offsets, look, write_text
from pipeline.memory.budget import Budget, require_heap
from pipeline.metrics.registry import names_of
from pipeline.session import heap_bytes, jvm_pid, known_keys, start_session
from pipeline.sink import producer_options
from pipeline.spark_keys import require_known
from pipeline.spark_slots import require_slots
from pipeline.stall import StallWatch
from pipeline.start import NewStart, check
from pipeline.stop import StoppedHardError, StopRequest, on_signals, stop_early

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pipeline.batch import BatchWriter
    from pipeline.metrics.job_metrics import JobMetrics

_LOOK_S = 0.1
_LAST_WORDS_S = 5.0
_NO_JAVA = "JAVA_GATEWAY_EXITED"
_NEEDS = (
    "Spark needs its Kafka connector and, for s3a://, Hadoop's S3A on the classpath (jars.lock names them), "
    "and the store's credentials in the environment"
)


@dataclass(frozen=True, slots=True)
class Running:
    """The query, what writes its batches, the address of Spark's UI if it has one, and when Spark has reported its last
    word on the query.
    """

    query: "StreamingQuery"
    writer: "BatchWriter"
    ui: str | None
    ended: threading.Event


def run(resolved: Budget, new: NewStart | None, *, allow_unsafe: bool = False) -> None:
    """Run the job until SIGTERM or SIGINT. Raises PipelineError when the query fails, RefusedError before it begins,
    StoppedHardError when it does not end in time, StoppedEarlyError for a signal before it runs.

    `allow_unsafe` accepts a Spark with too few slots.
    """
    stop = StopRequest(resolved.config.effective_stop_timeout.total_seconds(), time.monotonic)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.signal()

    try:
        running = _begin(resolved, new, lambda: on_signals(on_signal), allow_unsafe=allow_unsafe)
    except PipelineError:
        raise
    except Exception as error:
        hint = _java_hint(os.environ) if _NO_JAVA in str(error) else _NEEDS
        raise PipelineError(f"query could not begin: {root_cause(str(error))}", hint=hint) from error
    query, writer = running.query, running.writer
    log.say(Started(start=new.name if new else "checkpoint", spark_ui=running.ui or "off"))
    try:
        _watch(query, writer, stop)
        if stop.is_there and query.isActive:
            _end(running, stop)
            return
        failure = str(query.exception())
    except PipelineError:
        raise
    except Exception as error:
        writer.check()
        raise PipelineError(f"query failed: {root_cause(str(error))}") from error
    writer.check()
    raise PipelineError(f"query failed: {root_cause(failure)}")


def _watch(query: "StreamingQuery", writer: "BatchWriter", stop: StopRequest) -> None:
    """Returns when the job is to stop and has nothing under way, or the query has ended. Raises PipelineError, or what
    Spark raises.
    """
    draining = False
    while query.isActive:
        if stop.is_there and not draining:
            draining = True
            log.say(Stopping(batch=writer.writing, rounds=writer.rounds, within_s=stop.limit_s))
            writer.drain()
        if draining and _is_done(query, writer, stop):
            return
        query.awaitTermination(_LOOK_S)  # type: ignore[arg-type]  # the stub says int; seconds may be a fraction
        # Asked in this order: a batch that begins after the first question is not ended by the second's answer.
        batch = writer.batch
        writer.check(committed=None if query.status["isTriggerActive"] else batch)


def _is_done(query: "StreamingQuery", writer: "BatchWriter", stop: StopRequest) -> bool:
    """Whether nothing is under way that is worth waiting for. Raises StoppedHardError when a batch is, and has to be
    left.
    """
    # In this order: what begins after the first question is held.
    batch = writer.writing
    committed = batch is None and (writer.is_held or not query.status["isTriggerActive"])
    if committed and not writer.rounds:
        return True
    why = stop.ends_now
    if why is None:
        return False
    if not committed:
        raise StoppedHardError(
            f"stopped with {'a batch' if batch is None else f'batch {batch}'} at work, as {why}",
            hint="it is processed again after the next start, and what of it was emitted is then emitted twice",
        )
    return True


def _end(running: Running, stop: StopRequest) -> None:
    rounds = running.writer.rounds
    running.query.stop()
    running.ended.wait(_LAST_WORDS_S)
    running.writer.close()
    log.say(Stopped(seconds=round(stop.seconds, 3), rounds_given_up=rounds))


def _java_hint(environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    which = f"JAVA_HOME is {home}" if home else "JAVA_HOME is not set, so it is the `java` of PATH"
    return f"{which}: Spark needs a Java of 17 or later with the module jdk.incubator.vector; its message is above"


def _begin(resolved: Budget, new: NewStart | None, will_run: Callable[[], None], *, allow_unsafe: bool) -> Running:
    """`will_run` is called when from then on something may be under way."""
    config = resolved.config
    names_of(config.metrics)  # a name used twice is known without Spark
    # A Kafka client, which only a job that starts needs.
    from pipeline.limits.read import ask_brokers, require_limits, require_topics

    brokers = ask_brokers(config)
    require_limits(brokers.limits, config)
    require_topics(brokers.missing)
    spark = start_session(config.job, resolved.spark, meanwhile=("pipeline.batch", "pandas"))
    on_signals(stop_early)  # once more: the session sets a handler of its own for SIGINT
    _check_spark(spark, resolved, new)
    from pipeline.batch import BatchWriter  # imported while the JVM started
    from pipeline.progress import ProgressListener

    if not allow_unsafe:
        require_slots(spark.sparkContext.master or "", spark.sparkContext.defaultParallelism, config)
    _take_checkpoint(spark, config, new, cluster=brokers.source_cluster)
    watch = StallWatch(config.stall_timeout.total_seconds(), time.monotonic)
    metrics = _metrics(spark, config)
    writer = BatchWriter(spark, config, watch, metrics)
    writer.start()
    listener = ProgressListener(writer.committed)
    spark.streams.addListener(listener)
    will_run()
    query = (
        spark.readStream.format("kafka")
        .options(**source_options(config, new))
        .load()
        .writeStream.queryName(config.job)
        .foreachBatch(writer.write)
        .option("checkpointLocation", config.checkpoint)
        .trigger(processingTime=f"{config.batch.trigger.total_seconds()} seconds")
        .start()
    )
    return Running(query, writer, spark.sparkContext.uiWebUrl, listener.ended)


def _check_spark(spark: "SparkSession", resolved: Budget, new: NewStart | None) -> None:
    """Log the effective settings. Raises RefusedError when they are not as they have to be."""
    unknown = require_known(resolved.given, known_keys(spark))
    if unknown:
        log.say(SettingsUnknown(settings=tuple(unknown), hint="no module of Spark that is loaded knows them"))
    heap = heap_bytes(spark)
    if resolved.plan is not None and resolved.plan.place == "local":
        require_heap(resolved.plan, heap)
    log.say(
        EffectiveSettings(
            heap_bytes=heap,
            spark=effective_spark(spark.sparkContext.getConf().getAll()),
            source=source_options(resolved.config, new),
            producer=producer_options(resolved.config.sink),
        )
    )


def _take_checkpoint(
    spark: "SparkSession", config: PipelineConfig, new: NewStart | None, *, cluster: str | None
) -> None:
    """See that the checkpoint is this job's, and mark one that is not marked yet. Raises RefusedError."""
    place = config.checkpoint
    found = look(spark, place)
    require_checkpoint(found.names, place)
    # Without a position, a mark comes from a start that failed, and is no reason against a new one.
    left_behind = new is not None and not found.has_position
    maker = Identity.read(found.identity, place) if found.identity is not None and not left_behind else None
    own = Identity.of(config, cluster)
    require_own(maker, own, checkpoint=place, topics=found.topics())
    check(new, checkpoint=place, exists=found.has_position)
    if maker is None:
        write_text(spark, place, FILE, own.model_dump_json(), over=found.identity is not None)
    adopted = found.has_position and not maker
    log.say(CheckpointTaken(place=place, made_by=(maker or own).model_dump(), adopted=adopted))


def _metrics(spark: "SparkSession", config: PipelineConfig) -> "JobMetrics | None":
    """Served from now on, if they are wanted. Raises RefusedError."""
    if config.metrics.port is None:
        return None
    from pipeline.metrics.job_metrics import JobMetrics, lane_figures

    metrics = JobMetrics(
        config,
        lane_figures(spark.sparkContext),
        jvm_pid=jvm_pid(spark),
        initial=lambda: committed_offsets(spark, config.checkpoint),
    )
    log.say(MetricsServed(url=metrics.start()))
    return metrics


def source_options(config: PipelineConfig, new: NewStart | None) -> dict[str, str | int]:
    """The settings of Spark's Kafka source. A restart has no start position: the checkpoint has it, and partitions that
    were added since are read from their beginning.
    """
    return {
        "kafka.bootstrap.servers": config.source.bootstrap_servers,
        "subscribe": config.source.topic,
        "maxOffsetsPerTrigger": config.batch.max_offsets,
        "failOnDataLoss": "true",
        **(new.options if new else {}),
    }
