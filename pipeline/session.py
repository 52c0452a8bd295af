"""The Spark session, and the few settings that the protocol depends on whatever cluster it runs on."""

import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
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
    """Whether the checkpoint fixes a position: by the source's initial offsets, or a planned batch."""
    files, path = _file_system(spark, checkpoint)
    return bool(files.exists(path("sources/0/0"))) or _last(spark, checkpoint, "offsets") >= 0


def will_replay(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether a batch is planned and not committed, so that Spark will run it again."""
    return _last(spark, checkpoint, "offsets") > _last(spark, checkpoint, "commits")


def committed_offsets(spark: "SparkSession", checkpoint: str) -> dict[int, int] | None:
    """The next offset of each partition by the last committed batch, or where the job began; None before it has."""
    files, path = _file_system(spark, checkpoint)
    batch = _last(spark, checkpoint, "commits")
    place = path(f"offsets/{batch}" if batch >= 0 else "sources/0/0")
    if not files.exists(place):
        return None
    stream = files.open(place)
    try:
        jvm: Any = spark._jvm  # noqa: SLF001
        text = str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    finally:
        stream.close()
    # The last line of either file: one source, and one topic.
    topics = json.loads(text.strip().splitlines()[-1])
    return {int(number): int(offset) for offsets in topics.values() for number, offset in offsets.items()}


def jvm_pid(spark: "SparkSession") -> int:
    """The process id of the driver's JVM."""
    jvm: Any = spark._jvm  # noqa: SLF001
    return int(jvm.java.lang.ProcessHandle.current().pid())


def _last(spark: "SparkSession", checkpoint: str, log: str) -> int:
    """The number of the newest batch in a log of Spark's, -1 when there is none."""
    files, path = _file_system(spark, checkpoint)
    if not files.exists(path(log)):
        return -1
    names = [str(status.getPath().getName()) for status in files.listStatus(path(log))]
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _file_system(spark: "SparkSession", checkpoint: str) -> tuple[Any, Callable[[str], Any]]:
    jvm: Any = spark._jvm  # noqa: SLF001 — Hadoop's file systems have no public face in PySpark
    context: Any = spark._jsc  # noqa: SLF001
    root = checkpoint.rstrip("/")
    files = jvm.org.apache.hadoop.fs.Path(root).getFileSystem(context.hadoopConfiguration())
    return files, lambda part: jvm.org.apache.hadoop.fs.Path(f"{root}/{part}")
