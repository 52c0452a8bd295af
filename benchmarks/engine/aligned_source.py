"""What reading in event time costs: a backlog is read by Spark's own Kafka source and by the aligned one, nothing else.

Both take batches of the same bound, of a topic whose partitions have the same rate; so they plan the same batches, and
what differs is who plans them and who reads the records: the JVM, or Python.
"""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from kafka import KafkaProducer

from benchmarks.engine.stack import BenchStack, bench_stack
from benchmarks.engine.workload import PARTITIONS, Workload
from benchmarks.results import keep
from devkit.jvm import jars
from devkit.jvm.runtime import java_home
from devkit.stack.topics import recreate_topics
from pipeline.config.pipeline_config import MIB
from pipeline.kafka.sink import discard

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SOURCE = "aligned-source"
_BEGIN_MS = 1_767_225_600_000
_EVENT_MS = 50
_MAX_OFFSETS = 2_000
_WORKERS = 2
_WAYS = ("proportional", "aligned")
REFERENCE = 1_000
"""Records a second that the source has to read by itself on two cores."""


@dataclass(frozen=True)
class _Reading:
    """One way through the backlog, without its first batch: what a JVM and Python workers do for the first time."""

    rows_per_second: float
    plan_ms: float
    batches: int


def aligned_source(workload: Workload, *, rounds: int, directory: Path, name: str) -> None:
    """The ways take turns; prints the median of each, and keeps it."""
    with bench_stack(directory) as stack:
        _fill(stack, workload)
        spark = _session()
        readings: dict[str, list[_Reading]] = {way: [] for way in _WAYS}
        for _ in range(rounds):
            for way, found in readings.items():
                found.append(_read(spark, stack.kafka.bootstrap, way))
        spark.stop()
    figures = {way: _figures(found) for way, found in readings.items()}
    for way, figure in figures.items():
        click.echo(f"{way:<12} {figure['rows_per_second']:>9,} rows/s, {figure['plan_ms']:>6} ms a plan")
    size = statistics.mean(len(event.value) for event in workload.events())
    kept = {"events": workload.count, "event_bytes": round(size), "reference": REFERENCE, "ways": figures}
    keep(name, kept, packages=["pyspark", "kafka-python"])


def _figures(readings: Sequence[_Reading]) -> dict[str, int]:
    return {
        "rows_per_second": round(statistics.median(one.rows_per_second for one in readings)),
        "plan_ms": round(statistics.median(one.plan_ms for one in readings)),
        "batches": readings[0].batches,
    }


def _fill(stack: BenchStack, workload: Workload) -> None:
    settings = {"retention.ms": "-1", "max.message.bytes": str(4 * MIB)}
    recreate_topics(stack.kafka.bootstrap, {_SOURCE: (PARTITIONS, settings)})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, linger_ms=50, batch_size=MIB)) as producer:
        for number, event in enumerate(workload.events()):
            time_ms = _BEGIN_MS + number * _EVENT_MS
            producer.send(_SOURCE, event.value, event.key, partition=event.partition, timestamp_ms=time_ms)
        producer.flush(120)


def _read(spark: "SparkSession", bootstrap: str, way: str) -> _Reading:
    with tempfile.TemporaryDirectory() as checkpoint:
        rows = _rows(spark, bootstrap, way)
        query = rows.writeStream.foreachBatch(_to_nowhere).option("checkpointLocation", checkpoint).start()
        query.processAllAvailable()
        progress = [json.loads(one.json) for one in query.recentProgress]
        query.stop()
    batches = [one for one in progress if one["numInputRows"]][1:]
    seconds = sum(one["durationMs"]["triggerExecution"] for one in batches) / 1000
    plans = [one["durationMs"]["latestOffset"] for one in batches]
    return _Reading(sum(one["numInputRows"] for one in batches) / seconds, statistics.median(plans), len(batches) + 1)


def _to_nowhere(batch: "DataFrame", _number: int) -> None:
    discard(batch)


def _rows(spark: "SparkSession", bootstrap: str, way: str) -> "DataFrame":
    from pipeline.aligned.spark_source import FORMAT, AlignedOptions

    if way == "proportional":
        options: dict[str, Any] = {"subscribe": _SOURCE, "maxOffsetsPerTrigger": _MAX_OFFSETS}
        options |= {"kafka.bootstrap.servers": bootstrap, "startingOffsets": "earliest"}
        return spark.readStream.format("kafka").options(**options).load()
    settings = AlignedOptions(
        bootstrap_servers=bootstrap,
        topics=(_SOURCE,),
        slice_ms=2 * _MAX_OFFSETS * _EVENT_MS,
        idle_after_ms=0,
        max_offsets=_MAX_OFFSETS,
        initial={_SOURCE: {str(number): 0 for number in range(PARTITIONS)}},
    )
    return spark.readStream.format(FORMAT).option("settings", settings.model_dump_json()).load()


def _session() -> "SparkSession":
    from pyspark.sql import SparkSession

    from pipeline.aligned.spark_source import AlignedSource

    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{_WORKERS}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraClassPath", ":".join(map(str, jars.ensure(jars.SPARK))))
    session = builder.getOrCreate()
    session.dataSource.register(AlignedSource)
    return session
