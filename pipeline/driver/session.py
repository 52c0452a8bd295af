"""The Spark session, and the few settings that the protocol depends on whatever cluster it runs on."""

import importlib
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from located_config.extension import VARIABLE
from pipeline.driver.spark_conf import PROTOCOL, Given, is_submitted, master_of
from pipeline.driver.spark_slots import is_local
from pipeline.driver.stop import late_signals
from pipeline.worker import daemon

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_DAEMON = "spark.python.daemon.module"
_REQUIRED = {key: value for key, (value, _) in PROTOCOL.items()} | {
    "spark.sql.streaming.metricsEnabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
    # A batch has one stage, or two with a given number of tasks: to look for something to adapt only takes time.
    "spark.sql.adaptive.enabled": "false",
    # Of DataFrames' workers by default. Only with an equal environment are those started for another job used.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
}


def start_session(
    app_name: str,
    settings: Mapping[str, str] | None = None,
    *,
    meanwhile: Sequence[str] = (),
    workers: Callable[[int], int] | None = None,
) -> "SparkSession":
    """A session with `spark-defaults.conf`, `settings` and those above.

    The JVM takes seconds to start; the modules of `meanwhile` are imported in that time. `workers` says how many Python
    workers are started, of the number of slots: they take as long, and the first batch would wait for them.
    """
    # Else the workers take whatever `python3` is first on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    # First of all, and whole: its modules import each other, and two threads that begin with different ones wait for
    # each other until Python calls it a deadlock.
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    threading.Thread(target=_import_all, args=[meanwhile], daemon=True).start()
    conf = {**(settings or {})} | _REQUIRED | _for_workers(os.environ)
    # Of a JVM that has no connection yet PySpark forgets the process when it is interrupted, and that would stay.
    with late_signals():
        SparkContext._ensure_initialized(conf=SparkConf().setAll(list(conf.items())))  # noqa: SLF001
    context = SparkContext.getOrCreate(SparkConf().setAppName(app_name).setAll(list(conf.items())))
    if workers is not None:
        tasks = workers(context.defaultParallelism)
        threading.Thread(target=_start_workers, args=[context, tasks], name="start-workers", daemon=True).start()
    return SparkSession.builder.getOrCreate()  # with the context's settings


def daemon_settings(given: Mapping[str, Given], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Spark's setting for the daemon that loads the job's modules: where Python finds them as it does here. The
    executors of a cluster may get them with a task only.
    """
    if _DAEMON in given or is_submitted(environment) or not is_local(master_of(given)):
        return {}
    return {_DAEMON: daemon.MODULE}


def _start_workers(context: "SparkContext", tasks: int) -> None:
    # What keeps a worker from starting fails the first batch, which says it.
    with suppress(Exception):
        context.parallelize(range(tasks), tasks).foreachPartition(daemon.load)


def _for_workers(environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings by which workers find a job of the user's own."""
    extensions = environment.get(VARIABLE)
    return {f"spark.executorEnv.{VARIABLE}": extensions} if extensions else {}


def _import_all(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)


def submitted_settings() -> dict[str, Given]:
    """The settings of spark-submit, under which the JVM runs already; to be asked before there is a session."""
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
    # As one text: to ask each of the thousand entries takes half a second.
    entries = str(jvm.org.apache.spark.internal.config.ConfigEntry.listAllEntries().toString())
    return frozenset(re.findall(r"ConfigEntry\(key=([^,]+),", entries))


def jvm_pid(spark: "SparkSession") -> int:
    """The process id of the driver's JVM."""
    jvm: Any = spark._jvm  # noqa: SLF001
    return int(jvm.java.lang.ProcessHandle.current().pid())
