"""The driver's JVM through a bridge that answers as py4j does, and its end, with a process in its place."""

import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from pipeline.driver.jvm import DriverJvm, JvmEnd
from pipeline.metrics.jvm_watch import MemoryPool


def answers(**values: Any) -> Any:
    """Each value as Java's method of that name."""
    return SimpleNamespace(**{name: lambda *_arguments, value=value: value for name, value in values.items()})


def pool(name: str, kind: str, used: int, most: int, live: int | None) -> Any:
    collected = None if live is None else answers(getUsed=live)
    kinds = answers(name=kind)
    return answers(
        getName=name, getType=kinds, getUsage=answers(getUsed=used, getMax=most), getCollectionUsage=collected
    )


class Seq:
    """Scala's; Python's own indexing is not there."""

    def __init__(self, *items: Any) -> None:
        self._items = items

    def size(self) -> int:
        return len(self._items)

    def apply(self, number: int) -> Any:
        return self._items[number]


def test_a_look_asks_beans_and_block_managers() -> None:
    beans = answers(
        getMemoryPoolMXBeans=[pool("Eden Space", "HEAP", 5, 9, 0), pool("Metaspace", "NON_HEAP", 7, -1, None)],
        getGarbageCollectorMXBeans=[
            answers(getName="Copy", getCollectionTime=1500),
            answers(getName="Unknown", getCollectionTime=-1),
        ],
        getClassLoadingMXBean=answers(getLoadedClassCount=17_000),
        getThreadMXBean=answers(getThreadCount=70),
    )
    held = Seq(
        answers(memoryUsed=10, diskUsed=1, maxMemory=100, id="driver", totalCores=0),
        answers(memoryUsed=20, diskUsed=2, maxMemory=200, id="1", totalCores=4),
    )
    context = answers(statusStore=answers(executorList=held), getPersistentRDDs=Seq("one", "two", "three"))
    java = SimpleNamespace(lang=SimpleNamespace(management=SimpleNamespace(ManagementFactory=beans)))
    settings = {"spark.executor.instances": "3", "spark.executor.cores": "4", "spark.task.cpus": "2"}
    spark_context = SimpleNamespace(
        _jsc=answers(sc=context),
        master="k8s://x",
        defaultParallelism=4,
        getConf=lambda: answers(getAll=settings.items()),
    )
    spark: Any = SimpleNamespace(_jvm=SimpleNamespace(java=java), sparkContext=spark_context)

    measurements = DriverJvm(spark).look()

    assert measurements.pools == {
        "Eden Space": MemoryPool("heap", used=5, most=9, live=0),
        "Metaspace": MemoryPool("nonheap", used=7, most=None, live=None),
    }
    assert (measurements.classes, measurements.threads) == (17_000, 70)
    assert measurements.gc_seconds == {"Copy": 1.5, "Unknown": 0.0}, "Java says -1 for a time that it does not know"
    assert measurements.cached_rdds == 3
    assert measurements.cached_bytes == {"memory": 30, "disk": 3}
    assert measurements.storage_bytes_max == 300
    assert (measurements.slots, measurements.slots_configured) == (2, 6)


LEFT, NOTHING = SimpleNamespace(is_there=True), SimpleNamespace(is_there=False)


GONE = Py4JNetworkError("gone")


def ended_jvm(stopped: bool | Exception, process: Any) -> Any:
    """`process` is the JVM's, None where another one has started it."""

    def is_stopped() -> bool:
        if isinstance(stopped, Exception):
            raise stopped
        return stopped

    jsc = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=is_stopped))
    return SimpleNamespace(sparkContext=SimpleNamespace(_jsc=jsc, _gateway=SimpleNamespace(proc=process)))


def exited(code: int) -> Any:
    return SimpleNamespace(wait=lambda _seconds: code)


def hangs(seconds: float) -> int:
    raise subprocess.TimeoutExpired("java", seconds)


def lives(_seconds: float) -> int:
    pytest.fail("one that goes on is not waited for")


@pytest.mark.parametrize(
    ("stopped", "process", "dump", "is_out_of_memory"),
    [
        (True, lambda: exited(52), NOTHING, True),
        (GONE, lambda: exited(52), NOTHING, True),
        (ConnectionRefusedError(111), lambda: exited(52), NOTHING, True),
        (GONE, lambda: exited(137), NOTHING, False),
        (True, lambda: None, LEFT, True),
        (True, lambda: None, NOTHING, False),
        (True, lambda: SimpleNamespace(wait=hangs), LEFT, True),
        (True, lambda: SimpleNamespace(wait=hangs), NOTHING, False),
        # A thread of it may have run out of memory before.
        (False, lambda: SimpleNamespace(wait=lives), LEFT, False),
    ],
)
def test_its_exit_code_tells_or_else_its_dump(
    stopped: bool | Exception, process: Callable[[], Any], dump: Any, is_out_of_memory: bool
) -> None:
    assert JvmEnd(ended_jvm(stopped, process()), dump).is_out_of_memory() == is_out_of_memory
