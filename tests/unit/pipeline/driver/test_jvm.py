"""The driver's JVM through a bridge that answers as py4j does."""

import subprocess
import sys
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


def ended_jvm(stopped: bool | Exception, code: int | None) -> Any:
    """`code` is that of the JVM's process, None where another one has started it."""

    def is_stopped() -> bool:
        if isinstance(stopped, Exception):
            raise stopped
        return stopped

    started = None if code is None else subprocess.Popen([sys.executable, "-c", f"raise SystemExit({code})"])
    context = SimpleNamespace(isStopped=is_stopped)
    jsc = SimpleNamespace(sc=lambda: context)
    return SimpleNamespace(sparkContext=SimpleNamespace(_jsc=jsc, _gateway=SimpleNamespace(proc=started)))


@pytest.mark.parametrize("stopped", [True, Py4JNetworkError("gone"), ConnectionRefusedError(111)])
def test_its_exit_code_tells(stopped: bool | Exception) -> None:
    assert JvmEnd(ended_jvm(stopped, 52), NOTHING).is_out_of_memory()  # type: ignore[arg-type]
    assert not JvmEnd(ended_jvm(stopped, 137), NOTHING).is_out_of_memory()  # type: ignore[arg-type]


def test_where_that_is_not_to_be_had_its_dump_does() -> None:
    assert JvmEnd(ended_jvm(True, None), LEFT).is_out_of_memory()  # type: ignore[arg-type]
    assert not JvmEnd(ended_jvm(True, None), NOTHING).is_out_of_memory()  # type: ignore[arg-type]


def test_one_that_goes_on_is_not_waited_for() -> None:
    """A thread of it may have run out of memory before."""
    found = ended_jvm(False, None)
    found.sparkContext._gateway.proc = SimpleNamespace(wait=lambda _seconds: pytest.fail("it lives"))
    assert not JvmEnd(found, LEFT).is_out_of_memory()  # type: ignore[arg-type]


def test_one_that_does_not_come_to_its_end_is_given_up() -> None:
    def wait(seconds: float) -> int:
        raise subprocess.TimeoutExpired("java", seconds)

    found = ended_jvm(True, None)
    found.sparkContext._gateway.proc = SimpleNamespace(wait=wait)
    assert not JvmEnd(found, NOTHING).is_out_of_memory()  # type: ignore[arg-type]
    assert JvmEnd(found, LEFT).is_out_of_memory()  # type: ignore[arg-type]
