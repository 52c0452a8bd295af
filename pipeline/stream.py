"""The streaming query: Kafka source, job, Kafka sink, checkpoint.

Everything is written through `foreachBatch`: one write action a batch, to output, error and ledger topic alike, and
the batch commits when every record of it is acknowledged. A failure anywhere, in a batch or in the slow lane, ends the
process: it is a crash, and the restart continues from the checkpoint.
"""

import signal
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.errors import PipelineError, root_cause
from pipeline.metrics.registry import names_of
from pipeline.session import checkpoint_exists, committed_offsets, jvm_pid, start_session
from pipeline.slots import require_slots
from pipeline.stall import StallWatch
from pipeline.start import NewStart, check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pipeline.batch import BatchWriter
    from pipeline.metrics.job_metrics import JobMetrics

_NEEDS = (
    "Spark needs its Kafka connector and, for s3a://, Hadoop's S3A on the classpath (jars.lock names them), "
    "and the store's credentials in the environment"
)


def run(config: PipelineConfig, new: NewStart | None, *, allow_unsafe: bool = False) -> None:
    """Run the job until SIGTERM or SIGINT. Raises PipelineError when the query fails, RefusedError before it begins.

    `allow_unsafe` accepts a Spark with too few slots.
    """
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    try:
        query, writer, ui = _begin(config, new, allow_unsafe=allow_unsafe)
    except PipelineError:
        raise
    except Exception as error:
        raise PipelineError(f"query could not begin: {root_cause(str(error))}", hint=_NEEDS) from error
    # After the session is there, as it sets a handler of its own for SIGINT.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    log.say("started", start=new.name if new else "checkpoint", spark_ui=ui or "off")
    try:
        _watch(query, writer, stop)
        if stop.is_set():
            writer.stop()
            query.stop()
            log.say("stopped")
            return
        failure = str(query.exception())
    except PipelineError:
        raise
    except Exception as error:
        writer.check()
        raise PipelineError(f"query failed: {root_cause(str(error))}") from error
    writer.check()
    raise PipelineError(f"query failed: {root_cause(failure)}")


def _watch(query: "StreamingQuery", writer: "BatchWriter", stop: threading.Event) -> None:
    """Returns when the job is to stop or the query has ended. Raises PipelineError, or what Spark raises."""
    while not stop.is_set() and query.isActive:
        query.awaitTermination(0.5)  # type: ignore[arg-type]  # the stub says int; seconds may be a fraction
        # Asked in this order: a batch that begins after the first question is not ended by the second's answer.
        batch = writer.batch
        writer.check(committed=None if query.status["isTriggerActive"] else batch)


def _begin(
    config: PipelineConfig, new: NewStart | None, *, allow_unsafe: bool
) -> "tuple[StreamingQuery, BatchWriter, str | None]":
    """The running query, what writes its batches, and the address of Spark's UI if it has one."""
    names_of(config.metrics)  # a name used twice is known without Spark
    from pipeline.limits.read import require_limits  # a Kafka client, which only a job that starts needs

    require_limits(config)
    spark = start_session(config.job, meanwhile=("pipeline.batch", "pandas"))
    from pipeline.batch import BatchWriter  # imported while the JVM started
    from pipeline.progress import ProgressListener

    if not allow_unsafe:
        require_slots(spark.sparkContext.master or "", spark.sparkContext.defaultParallelism, config)
    check(new, checkpoint=config.checkpoint, exists=checkpoint_exists(spark, config.checkpoint))
    watch = StallWatch(config.stall_timeout.total_seconds(), time.monotonic)
    metrics = _metrics(spark, config)
    writer = BatchWriter(spark, config, watch, metrics)
    writer.start()
    spark.streams.addListener(ProgressListener(metrics.batch_committed if metrics else None))
    query = (
        _source(spark, config, new)
        .writeStream.queryName(config.job)
        .foreachBatch(writer.write)
        .option("checkpointLocation", config.checkpoint)
        .trigger(processingTime=f"{config.batch.trigger.total_seconds()} seconds")
        .start()
    )
    return query, writer, spark.sparkContext.uiWebUrl


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
    log.say("metrics", url=metrics.start())
    return metrics


def _source(spark: "SparkSession", config: PipelineConfig, new: NewStart | None) -> "DataFrame":
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", config.source.bootstrap_servers)
        .option("subscribe", config.source.topic)
        .option("maxOffsetsPerTrigger", config.batch.max_offsets)
        .option("failOnDataLoss", "true")
    )
    for key, value in (new.options if new else {}).items():
        reader = reader.option(key, value)
    return reader.load()
