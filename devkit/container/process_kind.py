"""The kind of a program's process, by its command line: memory is reported by it, and faults find processes by it."""

from typing import Literal

import psutil

ProcessKind = Literal["driver", "JVM", "Python daemon", "Python worker", "other"]

# By which Spark starts a daemon, whose module a setting names.
_WORKER = "pyspark.worker"


def process_kind(process: psutil.Process, first: int) -> ProcessKind:
    """`first` is the id of the process that was started. Raises psutil.Error for one that has ended.

    PySpark's workers are forks of its daemon with its command line, so their parent decides.
    """
    if _is_daemon(process):
        parent = process.parent()
        return "Python worker" if parent is not None and _is_daemon(parent) else "Python daemon"
    if process.name() == "java":
        return "JVM"
    return "driver" if process.pid == first else "other"


def _is_daemon(process: psutil.Process) -> bool:
    return _WORKER in process.cmdline()
