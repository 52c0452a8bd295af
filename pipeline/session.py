"""The Spark session, and the few settings that the protocol depends on whatever cluster it runs on."""

import importlib
import os
import sys
import threading
from collections.abc import Sequence
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


def start_session(app_name: str, *, meanwhile: Sequence[str] = ()) -> "SparkSession":
    """A session with `spark-defaults.conf` and the settings above.

    The JVM takes seconds to start; the modules of `meanwhile` are imported in that time.
    """
    # Else the workers take whatever `python3` is first on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    threading.Thread(target=_import_all, args=[meanwhile], daemon=True).start()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name)
    for key, value in _REQUIRED.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _import_all(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)


def checkpoint_exists(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether the checkpoint fixes a position: the source's initial offsets, or a planned batch."""
    jvm: Any = spark._jvm  # noqa: SLF001 — Hadoop's file systems have no public face in PySpark
    context: Any = spark._jsc  # noqa: SLF001
    files = jvm.org.apache.hadoop.fs.Path(checkpoint).getFileSystem(context.hadoopConfiguration())
    return any(
        files.exists(jvm.org.apache.hadoop.fs.Path(f"{checkpoint.rstrip('/')}/{part}"))
        for part in ("sources/0/0", "offsets/0")
    )
