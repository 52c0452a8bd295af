"""The memory of real processes made for the purpose, and of mappings as Linux prints them."""

import subprocess
import sys
from collections.abc import Iterator
from typing import cast

import psutil
import pytest

from devkit.container.memory import MEASURE, KindMemory, TreeMemory, describe, heap_size, split, tree_memory
from devkit.container.process_kind import process_kind

MIB = 1 << 20
HOLDS_64_MIB = "import sys; kept = b'x' * (64 << 20); print('ready', flush=True); sys.stdin.read()"
# What a JVM with `-Xmx1g` shows: two spaces of its heap, its class archive, a library, memory of threads.
SMAPS = """\
c0000000-c7e00000 rw-p 00000000 00:00 0
Rss:              126424 kB
Pss:              126424 kB
c7e00000-d5550000 ---p 00000000 00:00 0
Rss:                   0 kB
Pss:                   0 kB
d5550000-e5150000 rw-p 00000000 00:00 0
Rss:              186744 kB
Pss:              186744 kB
100000000-100800000 rw-p 00000000 fe:00 1234                               /java-runtime/lib/server/classes.jsa
Rss:                4000 kB
Pss:                4000 kB
7f75a22e2000-7f75a32e2000 r-xp 00000000 fe:00 99                           /java-runtime/lib/server/libjvm.so
Rss:               10600 kB
Pss:               10600 kB
7f758c000000-7f758c340000 rw-p 00000000 00:00 0
Rss:                3304 kB
Pss:                3304 kB
"""


@pytest.fixture
def holder() -> Iterator[psutil.Process]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_64_MIB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with process:
        yield psutil.Process(process.pid)
        process.kill()


def test_a_process_is_as_large_as_what_it_holds(holder: psutil.Process) -> None:
    memory = tree_memory([holder], holder.pid)
    assert [(row.pid, row.kind) for row in memory.rows] == [(holder.pid, "driver")]
    assert 64 * MIB < memory.total < 128 * MIB
    assert memory.measure == MEASURE


def test_one_that_has_ended_is_left_out(holder: psutil.Process) -> None:
    holder.kill()
    holder.wait()
    assert tree_memory([holder], holder.pid).rows == ()


@pytest.mark.skipif(sys.platform != "linux", reason="proportional memory is Linux's")
def test_what_two_processes_share_counts_once() -> None:
    """A fork shares its parent's pages: together they hold little more than the parent alone."""
    shared = 64 * MIB
    forks = (
        f"import os, sys; kept = b'x' * {shared}; child = os.fork(); child and print(child, flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", forks], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        processes = [psutil.Process(parent.pid), psutil.Process(child)]
        both = tree_memory(processes, parent.pid)
        resident = sum(process.memory_info().rss for process in processes)
    assert len(both.rows) == 2
    assert both.total < resident - shared // 2


def test_the_heap_is_what_lies_low_and_is_no_file() -> None:
    assert heap_size(SMAPS) == (126424 + 186744) * 1024


def test_where_the_system_shows_no_mappings_a_jvm_is_not_split() -> None:
    memory = TreeMemory(rows=(KindMemory(pid=2**22 + 1, kind="JVM besides the heap", size=5 * MIB),))
    assert split(memory) == memory


def test_a_description_has_the_largest_first() -> None:
    rows = (
        KindMemory(pid=1, kind="driver", size=100 * MIB),
        KindMemory(pid=2, kind="Python worker", size=150 * MIB),
        KindMemory(pid=3, kind="Python worker", size=150 * MIB),
        KindMemory(pid=4, kind="JVM heap", size=1200 * MIB),
    )
    assert describe(TreeMemory(rows=rows)) == "JVM heap 1200MiB, 2 Python workers 300MiB, driver 100MiB"


class Named:
    """A process of a name and a command line."""

    def __init__(self, pid: int, parent: "Named | None", *command: str) -> None:
        self.pid, self._parent, self._command = pid, parent, list(command)

    def name(self) -> str:
        return self._command[0]

    def parent(self) -> "Named | None":
        return self._parent

    def cmdline(self) -> list[str]:
        return self._command


def test_the_processes_of_a_spark_program() -> None:
    driver = Named(10, None, "python", "-m", "pipeline", "run")
    jvm = Named(11, driver, "java", "-Xmx1g")
    daemon = Named(12, jvm, "python", "-m", "pipeline.worker.daemon", "pyspark.worker")
    worker = Named(13, daemon, *daemon.cmdline())
    debugged = Named(
        14, Named(15, jvm, "python", "-m", "devkit.debug.spark_daemon", "pyspark.worker"), *daemon.cmdline()
    )
    shell = Named(16, driver, "sh", "-c", "true")
    tree = (driver, jvm, daemon, worker, debugged, shell)
    assert [process_kind(cast(psutil.Process, process), 10) for process in tree] == [
        "driver",
        "JVM",
        "Python daemon",
        "Python worker",
        "Python worker",
        "other",
    ]


def test_a_jvm_that_was_started_is_one_all_the_same() -> None:
    assert process_kind(cast(psutil.Process, Named(10, None, "java", "-jar", "x")), 10) == "JVM"
