"""What the look at versions before a batch costs: a backlog is read once more, in three ways, and nothing else is done.

read       what Kafka has, and no look: what either look pays in any case
in the JVM what a batch gets whose events say their version first: `pipeline.driver.version_check`
parsed     what the first batch of a process gets, and one of which the JVM is not sure: the Python workers
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from benchmarks.engine.stack import BenchStack, bench_stack
from benchmarks.engine.workload import Workload
from benchmarks.results import keep
from devkit.jvm import jars
from devkit.jvm.runtime import java_home
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.version_check import count_uncertain
from pipeline.kafka.sink import discard
from pipeline.schemas import PAGE_CHANGE_URI
from pipeline.worker.spark_task import RECORD_DDL, SOURCE_COLUMNS, count_versions
from pipeline.worker.task_results import accumulated_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SOURCE = "version-look"
_WORKERS = 2


def version_look(workload: Workload, *, rounds: int, directory: Path, name: str) -> None:
    """The ways take turns; prints the median of each, and keeps it."""
    with bench_stack(directory) as stack:
        stack.make_source(_SOURCE)
        stack.fill(_SOURCE, workload.events())
        spark = make_session()
        ways = _ways(spark, _rows(spark, stack), _config(stack))
        for way in ways.values():
            way()  # what a JVM and Python workers do for the first time
        taken: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, run in ways.items():
                began = time.monotonic()
                run()
                taken[way].append(time.monotonic() - began)
        spark.stop()
    figures = {way: round(workload.count / statistics.median(seconds)) for way, seconds in taken.items()}
    for way, rate in figures.items():
        click.echo(f"{way:<10} {rate:>9,} rows/s, {1e6 / rate:7.1f} µs a row")
    size = statistics.mean(len(event.value) for event in workload.events())
    keep(name, {"events": workload.count, "event_bytes": round(size), "rows_per_second": figures}, packages=["pyspark"])


def _ways(spark: "SparkSession", rows: "DataFrame", config: PipelineConfig) -> dict[str, Callable[[], None]]:
    seen = accumulated_list(spark)

    def in_the_jvm() -> None:
        count, uncertain = count_uncertain(rows, {(_SOURCE, PAGE_CHANGE_URI)})
        assert (count > 0, uncertain) == (True, 0), "the workers would have to look as well"

    def parsed() -> None:
        discard(rows.mapInArrow(count_versions(config, seen, workers=_WORKERS), RECORD_DDL))

    return {"read": lambda: discard(rows), "in the JVM": in_the_jvm, "parsed": parsed}


def _rows(spark: "SparkSession", stack: BenchStack) -> "DataFrame":
    source = {"kafka.bootstrap.servers": stack.kafka.bootstrap, "subscribe": _SOURCE}
    return spark.read.format("kafka").options(**source).load().select(*SOURCE_COLUMNS).coalesce(_WORKERS)


def _config(stack: BenchStack) -> PipelineConfig:
    bootstrap = {"bootstrap_servers": stack.kafka.bootstrap}
    return PipelineConfig.model_validate(
        {
            "source": {**bootstrap, "topic": _SOURCE},
            "sink": {**bootstrap, "topic": "never-written", "error_topic": "never-written.error"},
            "mediawiki": {"endpoint": stack.mock.endpoint},
            "checkpoint": "/never-written",
            "claim_check": {"endpoint": stack.mock.endpoint, "bucket": "never-written"},
        }
    )


def make_session(settings: Mapping[str, str] = MappingProxyType({})) -> "SparkSession":
    """With that number of workers, and these settings of Spark beside."""
    from pyspark.sql import SparkSession

    os.environ |= {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master(f"local[{_WORKERS}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraClassPath", ":".join(map(str, jars.ensure(jars.SPARK))))
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
