"""The rows of the source's topics: by Spark's own Kafka source, or by the aligned one.

Both have the same columns and the same offsets, so nothing behind this knows which of them a job has.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cluster import java_client, source_brokers
from pipeline.config.pipeline_config import Kafka, PipelineConfig
from pipeline.driver.job_checkpoint import BEGIN, read_text, watermark_ms, write_text
from pipeline.driver.start import NewStart

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.aligned.plan_status import PlanStatus

# A trigger without news asks the brokers for each partition's end; Spark would begin the next one at once.
_ALIGNED_TRIGGER_S = 0.05
_STATUS = "plan-status.json"


def require_readable(config: PipelineConfig) -> None:
    """Raises RefusedError for topics that the source cannot read as it is to."""
    if config.source.read == "aligned":
        from pipeline.aligned.beginning import require_event_time

        require_event_time(source_brokers(config), config.source.all_topics)


def plan_status_file(spark: "SparkSession", config: PipelineConfig) -> Path | None:
    """Where the planner writes how far each partition is in event time; None for a source that has none. Spark removes
    it with its own files.
    """
    return Path(spark.sparkContext._temp_dir) / _STATUS if config.source.read == "aligned" else None  # noqa: SLF001


def plan_status(spark: "SparkSession", config: PipelineConfig) -> "Callable[[], PlanStatus | None] | None":
    """Asks for the planner's last status; None for a source without a planner."""
    from pipeline.aligned.plan_status import read_status

    place = plan_status_file(spark, config)
    return None if place is None else functools.partial(read_status, place)


def source_stream(
    spark: "SparkSession", config: PipelineConfig, new: NewStart | None, delay_ms: int | None = None
) -> "DataFrame":
    """The rows, from where `new` begins or the checkpoint stands. `delay_ms` is that of the job's watermark, the
    shortest that the checkpoint has had; None without one. Raises PipelineError, and what Spark raises.
    """
    if config.source.read == "proportional":
        return spark.readStream.format("kafka").options(**kafka_options(config, new)).load()
    from pipeline.aligned.beginning import first_offsets, offsets_text, read_offsets
    from pipeline.aligned.spark_source import FORMAT, AlignedOptions, AlignedSource, by_topic

    source = config.source
    if new is not None:
        offsets = by_topic(first_offsets(source_brokers(config), source.all_topics, new))
        write_text(spark, config.checkpoint, BEGIN, offsets_text(offsets))
    began = read_text(spark, config.checkpoint, BEGIN)
    settings = AlignedOptions.model_validate(
        {
            **aligned_options(config),
            "initial": None if began is None else read_offsets(began),
            "reached_ms": _reached_ms(spark, config, delay_ms),
            "status_file": plan_status_file(spark, config),
        }
    )
    spark.dataSource.register(AlignedSource)
    return spark.readStream.format(FORMAT).option("settings", settings.model_dump_json()).load()


def source_streams(
    spark: "SparkSession", config: PipelineConfig, new: NewStart | None, delay_ms: int | None = None
) -> "list[DataFrame]":
    """Each topic as a stream of its own, for a job that unites them; one stream of all where they are read aligned."""
    if config.source.read == "aligned":
        return [source_stream(spark, config, new, delay_ms)]
    topics = config.source.all_topics
    share = max(1, config.batch.max_offsets // len(topics))
    options = [{**kafka_options(config, new), "subscribe": one, "maxOffsetsPerTrigger": share} for one in topics]
    return [spark.readStream.format("kafka").options(**one).load() for one in options]


def _reached_ms(spark: "SparkSession", config: PipelineConfig, delay_ms: int | None) -> int | None:
    """The latest event time that the watermark has seen."""
    watermark = None if delay_ms is None else watermark_ms(spark, config.checkpoint)
    return None if watermark is None or delay_ms is None else watermark + delay_ms


def trigger_seconds(config: PipelineConfig) -> float:
    """Seconds from the start of one micro-batch to that of the next, at least."""
    seconds = config.batch.trigger.total_seconds()
    return seconds if config.source.read == "proportional" else max(seconds, _ALIGNED_TRIGGER_S)


def source_options(config: PipelineConfig, new: NewStart | None) -> Mapping[str, object]:
    """The settings of the source that is read from. A restart has no start position: the checkpoint has it, and
    partitions that were added since are read from their beginning.
    """
    if config.source.read == "aligned":
        return aligned_options(config) | (new.options if new else {})
    return kafka_options(config, new)


def kafka_options(config: PipelineConfig, new: NewStart | None) -> dict[str, str | int]:
    """Of Spark's Kafka source."""
    return {
        **{f"kafka.{name}": value for name, value in java_client(config.kafka).items()},
        "kafka.bootstrap.servers": config.source.bootstrap_servers,
        "subscribe": ",".join(config.source.all_topics),
        "maxOffsetsPerTrigger": config.batch.max_offsets,
        "failOnDataLoss": "true",
        # Spark's own default reads events of transactions that were aborted.
        "kafka.isolation.level": "read_committed",
        **({"includeHeaders": "true"} if config.source.pass_headers else {}),
        **(new.options if new else {}),
    }


def aligned_options(config: PipelineConfig) -> dict[str, object]:
    """Of the aligned source, by the names of its own settings."""
    source = config.source
    return {
        "bootstrap_servers": source.bootstrap_servers,
        **({} if config.kafka == Kafka() else {"kafka": config.kafka.model_dump()}),
        "topics": source.all_topics,
        "slice_ms": max(1, round(source.slice.total_seconds() * 1000)),
        "idle_after_ms": round(source.idle_after.total_seconds() * 1000),
        "max_offsets": config.batch.max_offsets,
    }
