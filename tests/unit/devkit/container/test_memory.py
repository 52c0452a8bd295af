"""The memory of mappings as Linux prints them, and the kinds of processes."""

from typing import cast

import psutil

from devkit.container.memory import KindMemory, TreeMemory, describe, heap_size, split
from devkit.container.process_kind import process_kind

MIB = 1 << 20
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
