from typing import cast

import psutil

from devkit.container.process_kind import process_kind


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
