"""The Spark session, and the few settings that the protocol depends on whatever cluster it runs on."""

import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.errors import RefusedError
from pipeline.spark_given import Given
from pipeline.spark_keys import PROTOCOL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REQUIRED = {key: value for key, (value, _) in PROTOCOL.items()} | {
    "spark.sql.streaming.metricsEnabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
    # A batch has one stage, or two with a given number of tasks: to look for something to adapt only takes time.
    "spark.sql.adaptive.enabled": "false",
}


def start_session(
    app_name: str, settings: Mapping[str, str] | None = None, *, meanwhile: Sequence[str] = ()
) -> "SparkSession":
    """A session with `spark-defaults.conf`, `settings` and those above.

    The JVM takes seconds to start; the modules of `meanwhile` are imported in that time.
    """
    # Else the workers take whatever `python3` is first on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    threading.Thread(target=_import_all, args=[meanwhile], daemon=True).start()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name)
    for key, value in ({**(settings or {})} | _REQUIRED).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _import_all(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)


def submitted_settings() -> dict[str, Given]:
    """What spark-submit was told, under which the JVM runs already; to be asked before there is a session."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # noqa: SLF001 — connects to that JVM
    return {key: Given(value, "spark-submit") for key, value in SparkConf().getAll()}


def heap_bytes(spark: "SparkSession") -> int:
    """The most that the driver's JVM takes for its heap, by its own word."""
    jvm: Any = spark._jvm  # noqa: SLF001
    return int(jvm.java.lang.Runtime.getRuntime().maxMemory())


def known_keys(spark: "SparkSession") -> frozenset[str]:
    """The settings that the modules of Spark which are loaded have registered."""
    jvm: Any = spark._jvm  # noqa: SLF001
    entries = jvm.org.apache.spark.internal.config.ConfigEntry.listAllEntries().toArray()
    return frozenset(str(entry.key()) for entry in entries)


def checkpoint_exists(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether the checkpoint fixes a position: by the source's initial offsets, or a planned batch."""
    files, path = _file_system(spark, checkpoint)
    return bool(files.exists(path("sources/0/0"))) or _last(spark, checkpoint, "offsets") >= 0


def will_replay(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether a batch is planned and not committed, so that Spark will run it again."""
    return _last(spark, checkpoint, "offsets") > _last(spark, checkpoint, "commits")


def committed_offsets(spark: "SparkSession", checkpoint: str) -> dict[int, int] | None:
    """The next offset of each partition by the last committed batch, or where the job began; None before it has."""
    batch = _last(spark, checkpoint, "commits")
    topics = _offsets(spark, checkpoint, f"offsets/{batch}" if batch >= 0 else "sources/0/0")
    if topics is None:
        return None
    return {int(number): int(offset) for offsets in topics.values() for number, offset in offsets.items()}


def checkpoint_entries(spark: "SparkSession", checkpoint: str) -> list[str]:
    """What lies at the top of the checkpoint, nothing where there is none."""
    files, path = _file_system(spark, checkpoint)
    if not files.exists(path("")):
        return []
    return [str(status.getPath().getName()) for status in files.listStatus(path(""))]


def checkpoint_topics(spark: "SparkSession", checkpoint: str) -> list[str]:
    """The topics of the last planned batch, or of where the job began. Raises RefusedError for other files."""
    batch = _last(spark, checkpoint, "offsets")
    name = f"offsets/{batch}" if batch >= 0 else "sources/0/0"
    try:
        found = _offsets(spark, checkpoint, name)
    except ValueError:
        found = {"": {}}
    if found is not None and not (
        isinstance(found, dict) and all(isinstance(of, dict) and of for of in found.values())
    ):
        raise RefusedError(
            f"checkpoint {checkpoint}: {name} has no offsets of Kafka: another program has made it",
            hint="name this job's own checkpoint",
        )
    return sorted(found or {})


def read_text(spark: "SparkSession", checkpoint: str, name: str) -> str | None:
    """A small file of the checkpoint's, None when it is not there."""
    files, path = _file_system(spark, checkpoint)
    if not files.exists(path(name)):
        return None
    stream = files.open(path(name))
    try:
        jvm: Any = spark._jvm  # noqa: SLF001
        return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    finally:
        stream.close()


def write_text(spark: "SparkSession", checkpoint: str, name: str, text: str) -> None:
    """Add a small file to the checkpoint; what Hadoop raises when it is there already."""
    files, path = _file_system(spark, checkpoint)
    stream = files.create(path(name), False)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _offsets(spark: "SparkSession", checkpoint: str, name: str) -> dict[str, dict[str, int]] | None:
    text = read_text(spark, checkpoint, name)
    if text is None:
        return None
    # The last line of either file: one source, and one topic.
    topics: dict[str, dict[str, int]] = json.loads(text.strip().splitlines()[-1])
    return topics


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
    return files, lambda part: jvm.org.apache.hadoop.fs.Path(f"{root}/{part}" if part else root)
