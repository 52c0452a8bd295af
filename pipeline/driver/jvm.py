"""The JVM of the driver, asked through the bridge that PySpark has to it.

Each thread of Python has a connection of its own, so a question waits for no other thread's call.
"""

import subprocess
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from pipeline.driver.heap_dumps import AwaitedDump
from pipeline.driver.spark_slots import is_local, slots_at_most
from pipeline.metrics.jvm_watch import JvmMeasurements, MemoryPool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class DriverJvm:
    """Connects with the first look. A look is some sixty calls over loopback, each answered at once."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._is_local = True
        self._cores_of_task = 1
        self._slots_configured: int | None = None
        self._beans: Any = None
        self._pools: dict[str, tuple[str, Any]] = {}
        self._collectors: dict[str, Any] = {}

    def look(self) -> JvmMeasurements:
        """Its measurements now. Raises what py4j raises when the JVM has ended."""
        if self._beans is None:
            self._find()
        context: Any = self._spark.sparkContext._jsc.sc()  # noqa: SLF001
        executors = context.statusStore().executorList(True)
        summaries = [executors.apply(number) for number in range(int(executors.size()))]
        return JvmMeasurements(
            pools={name: _pool(area, pool) for name, (area, pool) in self._pools.items()},
            classes=int(self._beans.getClassLoadingMXBean().getLoadedClassCount()),
            threads=int(self._beans.getThreadMXBean().getThreadCount()),
            gc_seconds={
                name: max(0, collector.getCollectionTime()) / 1000 for name, collector in self._collectors.items()
            },
            cached_rdds=int(context.getPersistentRDDs().size()),
            cached_bytes={
                "memory": sum(int(executor.memoryUsed()) for executor in summaries),
                "disk": sum(int(executor.diskUsed()) for executor in summaries),
            },
            storage_bytes_max=sum(int(executor.maxMemory()) for executor in summaries),
            slots=sum(
                int(executor.totalCores()) // self._cores_of_task
                # On a cluster the driver is listed among them, and runs no tasks.
                for executor in summaries
                if self._is_local or str(executor.id()) != "driver"
            ),
            slots_configured=self._slots_configured,
        )

    def _find(self) -> None:
        """What stays as it is."""
        context = self._spark.sparkContext
        master, settings = context.master or "", dict(context.getConf().getAll())
        self._is_local = is_local(master)
        self._cores_of_task = int(settings.get("spark.task.cpus", 1))
        self._slots_configured = slots_at_most(master, settings, context.defaultParallelism)
        beans: Any = self._spark._jvm.java.lang.management.ManagementFactory  # type: ignore[union-attr]  # noqa: SLF001
        for pool in beans.getMemoryPoolMXBeans():
            area = "heap" if pool.getType().name() == "HEAP" else "nonheap"
            self._pools[str(pool.getName())] = area, pool
        for collector in beans.getGarbageCollectorMXBeans():
            self._collectors[str(collector.getName())] = collector
        self._beans = beans


def _pool(area: str, pool: Any) -> MemoryPool:
    usage, collected = pool.getUsage(), pool.getCollectionUsage()
    most = int(usage.getMax())
    return MemoryPool(
        area=area,
        used=int(usage.getUsed()),
        most=most if most >= 0 else None,
        live=int(collected.getUsed()) if collected is not None else None,
    )


_OUT_OF_MEMORY = 52
"""Spark's exit code for it."""
_EXIT_S = 10.0


def kill_jvm() -> None:
    """Kills the JVM that this process has started; under spark-submit the JVM is the parent, which a
    supervisor ends.
    """
    from pyspark import SparkContext

    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001
    if process is not None:
        process.kill()


class JvmEnd:
    """Whether the driver's JVM has ended, or is about to, as it ran out of memory; `dump` is what it would have left.

    With a full heap Spark has its JVM exit at once, by a thread of its own. Until then it still answers: the query has
    failed, as the context below it was stopped, and what it says of that is not the cause.
    """

    def __init__(self, spark: "SparkSession", dump: AwaitedDump) -> None:
        self._context: Any = spark.sparkContext
        self._dump = dump

    def is_out_of_memory(self) -> bool:
        """To be asked when the query has failed. Waits for a JVM that is about to end, ten seconds at most; one that
        lives on is not waited for.
        """
        try:
            if not self._context._jsc.sc().isStopped():  # noqa: SLF001
                return False
        except (Py4JError, OSError):
            pass  # it is gone
        # Without one it was not this process that has started it, and its exit code is not to be had.
        process: subprocess.Popen[bytes] | None = getattr(self._context._gateway, "proc", None)  # noqa: SLF001
        try:
            code = process.wait(_EXIT_S) if process else None
        except subprocess.TimeoutExpired:
            code = None
        return code == _OUT_OF_MEMORY or self._dump.is_there
