"""Which part of Spark a process is.

driver     the Python process that was started; on a laptop its JVM is the executor as well
executor   a JVM that runs tasks: the driver's with a local master, else each of the cluster's
worker     a Python process that a JVM's daemon has forked; the daemon itself would only fork a new one
"""

import contextlib

import psutil

from devkit.container.process_kind import process_kind
from devkit.programs.program import Role

_EXECUTORS = ("org.apache.spark.deploy.SparkSubmit", "org.apache.spark.executor.CoarseGrainedExecutorBackend")


def role_of(process: psutil.Process, first: int) -> Role | None:
    """None for a process that has ended, and for what only helps: a launcher, Spark's daemon."""
    if process.pid == first:
        return "driver"
    with contextlib.suppress(psutil.Error):
        kind = process_kind(process, first)
        if kind == "Python worker":
            return "worker"
        if kind == "JVM" and any(name in process.cmdline() for name in _EXECUTORS):
            return "executor"
    return None
