"""The Spark session, and the few settings that the protocol depends on whatever cluster it runs on."""

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REQUIRED = {
    # A failed task is a failed query is a crash; the restart from the checkpoint handles crashes.
    "spark.task.maxFailures": "1",
    "spark.speculation": "false",
    "spark.python.worker.reuse": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.metricsEnabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
}


def start_session(app_name: str) -> "SparkSession":
    """A session with `spark-defaults.conf` and the settings above."""
    # Else the workers take whatever `python3` is first on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name)
    for key, value in _REQUIRED.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def checkpoint_exists(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether the checkpoint fixes a position: the source's initial offsets, or a planned batch."""
    jvm: Any = spark._jvm  # noqa: SLF001 — Hadoop's file systems have no public face in PySpark
    context: Any = spark._jsc  # noqa: SLF001
    files = jvm.org.apache.hadoop.fs.Path(checkpoint).getFileSystem(context.hadoopConfiguration())
    return any(
        files.exists(jvm.org.apache.hadoop.fs.Path(f"{checkpoint.rstrip('/')}/{part}"))
        for part in ("sources/0/0", "offsets/0")
    )
