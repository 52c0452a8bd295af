"""Which part of Spark a process is.

driver     the Python process that was started; on a laptop its JVM is the executor as well
executor   a JVM that runs tasks: the driver's with a local master, else each of the cluster's
worker     a Python process that a JVM's daemon has forked; the daemon itself would only fork a new one
"""

import contextlib

import psutil

from devkit.programs.program import Role

_DAEMONS = ("pyspark.daemon", "devkit.debug.spark_daemon")
_EXECUTORS = ("org.apache.spark.deploy.SparkSubmit", "org.apache.spark.executor.CoarseGrainedExecutorBackend")


def role_of(process: psutil.Process, first: int) -> Role | None:
    """None for a process that has ended, and for what only helps: a launcher, Spark's daemon."""
    if process.pid == first:
        return "driver"
    with contextlib.suppress(psutil.Error):
        words = process.cmdline()
        if any(name in words for name in _EXECUTORS):
            return "executor"
        parent = process.parent()
        if _is_daemon(words) and parent is not None and _is_daemon(parent.cmdline()):
            return "worker"
    return None


def _is_daemon(words: list[str]) -> bool:
    return any(name in words for name in _DAEMONS)
