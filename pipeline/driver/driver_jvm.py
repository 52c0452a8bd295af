"""The JVM of the driver, asked through the bridge that PySpark has to it.

Each thread of Python has a connection of its own, so a question waits for no other thread's call.
"""

from typing import TYPE_CHECKING, Any

from pipeline.metrics.jvm_watch import JvmFigures, MemoryPool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class DriverJvm:
    """Connects with the first look. A look is some sixty calls over loopback, each answered at once."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._beans: Any = None
        self._pools: dict[str, tuple[str, Any]] = {}
        self._collectors: dict[str, Any] = {}

    def look(self) -> JvmFigures:
        """Its figures now. Raises what py4j raises when the JVM has ended."""
        if self._beans is None:
            self._find()
        context: Any = self._spark.sparkContext._jsc.sc()  # noqa: SLF001
        executors = context.statusStore().executorList(True)
        held = [executors.apply(number) for number in range(int(executors.size()))]
        return JvmFigures(
            pools={name: _pool(area, pool) for name, (area, pool) in self._pools.items()},
            classes=int(self._beans.getClassLoadingMXBean().getLoadedClassCount()),
            threads=int(self._beans.getThreadMXBean().getThreadCount()),
            gc_seconds={name: max(0, one.getCollectionTime()) / 1000 for name, one in self._collectors.items()},
            cached_rdds=int(context.getPersistentRDDs().size()),
            cached_bytes={
                "memory": sum(int(one.memoryUsed()) for one in held),
                "disk": sum(int(one.diskUsed()) for one in held),
            },
            storage_bytes_max=sum(int(one.maxMemory()) for one in held),
        )

    def _find(self) -> None:
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
