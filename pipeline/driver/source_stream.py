"""The rows of the source's topics: by Spark's own Kafka source, or by the aligned one.

Both have the same columns and the same offsets, so nothing behind this knows which of them a job has.

Spark's own converts each record's timestamp to microseconds of 64 bits, whether or not it is wanted, and fails where it
does not fit. Such a record ends the query once: the checkpoint then notes it, and later starts read with the aligned
source also what is `proportional`.

A row's timestamp is null where it is no time (`pipeline.kafka.record_quirks`): of no event, so it moves no watermark.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import Kafka, PipelineConfig
from pipeline.config.start_position import NewStart
from pipeline.driver.job_checkpoint import BEGINS, read_text, watermark_ms, write_text
from pipeline.errors import RefusedError, TimestampBeyondSparkError
from pipeline.kafka.cluster import java_client, source_brokers
from pipeline.kafka.record_quirks import LATEST_MS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.aligned.plan_status import PlanStatus

# A trigger without news asks the brokers for each partition's end; Spark would begin the next one at once.
_ALIGNED_TRIGGER_S = 0.05
# A consumer asks for what is behind the records that it hands out. At a topic's end the broker keeps that request for
# Kafka's own 500 ms, and what the batch reads next, as its records once more, waits for it.
_FETCH_WAIT_MS = 10
_STATUS = "plan-status.json"
BEYOND_SPARK = ".beyond-spark"
"""The first record of the source that Spark could not read, by its place. Hidden, as no version takes that for more."""
_TIME_OR_NULL = (
    "* EXCEPT (timestamp)",
    f"CASE WHEN timestamp > timestamp_millis(0) AND timestamp < timestamp_millis({LATEST_MS + 1}) THEN timestamp END "
    "AS timestamp",
)


def require_readable(config: PipelineConfig) -> None:
    """Raises RefusedError for topics that the source cannot read as it is to."""
    if config.source.read == "aligned":
        from pipeline.aligned.start_offsets import require_event_time

        require_event_time(source_brokers(config), config.source.all_topics)


def plan_status_file(spark: "SparkSession", config: PipelineConfig) -> Path | None:
    """The file with the planner's event times by partition; None for a source that has none. Spark removes it with its
    own files.
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
    if reads_with_spark(spark, config):
        return _sparks_stream(spark, kafka_options(config, new))
    options = {"reached_ms": _reached_ms(spark, config, delay_ms), "status_file": plan_status_file(spark, config)}
    return _aligned_stream(spark, config, new, options)


def source_streams(
    spark: "SparkSession", config: PipelineConfig, new: NewStart | None, delay_ms: int | None = None
) -> "list[DataFrame]":
    """Each topic as a stream of its own, for a job that unites them; one stream of all where they are read aligned."""
    if config.source.read == "aligned":
        return [source_stream(spark, config, new, delay_ms)]
    topics = config.source.all_topics
    share = max(1, config.batch.max_offsets // len(topics))
    if not reads_with_spark(spark, config):
        shared = {"max_offsets": share}
        return [
            _aligned_stream(spark, config, new, {**shared, "topics": (topic,)}, number)
            for number, topic in enumerate(topics)
        ]
    options = [{**kafka_options(config, new), "subscribe": topic, "maxOffsetsPerTrigger": share} for topic in topics]
    return [_sparks_stream(spark, topic_options) for topic_options in options]


def reads_with_spark(spark: "SparkSession", config: PipelineConfig) -> bool:
    """Whether the source is Spark's own."""
    return config.source.read == "proportional" and read_text(spark, config.checkpoint, BEYOND_SPARK) is None


def note_beyond_spark(spark: "SparkSession", config: PipelineConfig, error: TimestampBeyondSparkError) -> None:
    """Makes the next start read with the job's own source instead of Spark's."""
    write_text(spark, config.checkpoint, BEYOND_SPARK, error.record)


def _sparks_stream(spark: "SparkSession", options: dict[str, str | int]) -> "DataFrame":
    return spark.readStream.format("kafka").options(**options).load().selectExpr(*_TIME_OR_NULL)


def _aligned_stream(
    spark: "SparkSession", config: PipelineConfig, new: NewStart | None, options: Mapping[str, object], number: int = 0
) -> "DataFrame":
    """The stream of this `number`, with settings of its `options`."""
    from pipeline.aligned.spark_source import FORMAT, AlignedOptions, AlignedSource, by_topic
    from pipeline.aligned.start_offsets import first_offsets, offsets_text, read_offsets

    settings = AlignedOptions.model_validate({**aligned_options(config), **options})
    begin = f"{BEGINS}/{number}/0"
    if new is not None:
        offsets = by_topic(first_offsets(source_brokers(config), settings.topics, new))
        write_text(spark, config.checkpoint, begin, offsets_text(offsets))
    begin_text = read_text(spark, config.checkpoint, begin)
    if begin_text is not None:
        settings = settings.model_copy(update={"initial": read_offsets(begin_text)})
    spark.dataSource.register(AlignedSource)
    return spark.readStream.format(FORMAT).option("settings", settings.model_dump_json()).load()


def _reached_ms(spark: "SparkSession", config: PipelineConfig, delay_ms: int | None) -> int | None:
    """The latest event time that the watermark has seen."""
    watermark = None if delay_ms is None else watermark_ms(spark, config.checkpoint)
    return None if watermark is None or delay_ms is None else watermark + delay_ms


def trigger_seconds(config: PipelineConfig, *, by_spark: bool = True) -> float:
    """Seconds from the start of one micro-batch to that of the next, at least; not `by_spark` is as with aligned."""
    seconds = config.batch.trigger.total_seconds()
    return seconds if by_spark and config.source.read == "proportional" else max(seconds, _ALIGNED_TRIGGER_S)


def source_options(config: PipelineConfig, new: NewStart | None, *, by_spark: bool = True) -> Mapping[str, object]:
    """The settings of the source that is read from; not `by_spark` is as with aligned. A restart has no start position:
    the checkpoint has it, and partitions that were added since are read from their beginning.
    """
    if config.source.read == "aligned" or not by_spark:
        return aligned_options(config) | (new.options if new else {})
    return kafka_options(config, new)


def kafka_options(config: PipelineConfig, new: NewStart | None) -> dict[str, str | int]:
    """Options of Spark's Kafka source."""
    return {
        **{f"kafka.{name}": value for name, value in java_client(config.kafka).items()},
        "kafka.bootstrap.servers": config.source.bootstrap_servers,
        "subscribe": ",".join(config.source.all_topics),
        "maxOffsetsPerTrigger": config.batch.max_offsets,
        "failOnDataLoss": "true",
        "kafka.fetch.max.wait.ms": _FETCH_WAIT_MS,
        # Spark's own default reads events of transactions that were aborted.
        "kafka.isolation.level": "read_committed",
        **({"includeHeaders": "true"} if config.source.pass_headers else {}),
        **(new.options if new else {}),
    }


def aligned_options(config: PipelineConfig) -> dict[str, object]:
    """Options of the aligned source, by the names of its own settings."""
    source = config.source
    return {
        "bootstrap_servers": source.bootstrap_servers,
        **({} if config.kafka == Kafka() else {"kafka": config.kafka.model_dump()}),
        "topics": source.all_topics,
        "slice_ms": max(1, round(source.slice.total_seconds() * 1000)) if source.read == "aligned" else None,
        "idle_after_ms": round(source.idle_after.total_seconds() * 1000),
        "max_offsets": config.batch.max_offsets,
    }


@dataclass(frozen=True)
class SourceWatch:
    """Whether the source's topics are still those that the job began to read.

    A topic that was deleted and made again has other events at the same offsets. As soon as it is longer than the old
    one was read, its position looks right, and the events before that would never be read.

    `known` are Kafka's ids of the topics by name, as the start found them; `ask` tells those of now, without those
    that no broker reports.
    """

    known: Mapping[str, str]
    ask: Callable[[], Mapping[str, str]]

    def check(self) -> None:
        """Raises RefusedError for a topic that was made again: a restart would be refused too."""
        ids = self.ask()
        recreated = sorted(topic for topic, topic_id in self.known.items() if ids.get(topic, topic_id) != topic_id)
        if recreated:
            raise RefusedError(
                "; ".join(f"id of topic {topic} {self.known[topic]}, not {ids[topic]}" for topic in recreated),
                hint="the topic was made again while the job ran, and of the new one's events some were not read: "
                "begin at a checkpoint of its own, with --new earliest",
            )
