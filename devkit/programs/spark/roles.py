"""Which part of Spark a process is.

driver     the Python process that was started; on a laptop its JVM is the executor as well
executor   a JVM that runs tasks: the driver's with a local master, unless it has started executors; else each of these
worker     a Python process that a JVM's daemon has forked; the daemon itself would only fork a new one
"""

import contextlib

import psutil

from devkit.container.process_kind import process_kind
from devkit.programs.role import Role

_DRIVER, _EXECUTOR = "org.apache.spark.deploy.SparkSubmit", "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def role_of(process: psutil.Process, first: int) -> Role | None:
    """None for a process that has ended, and for what only helps: a launcher, Spark's daemon."""
    if process.pid == first:
        return "driver"
    with contextlib.suppress(psutil.Error):
        kind = process_kind(process, first)
        if kind == "Python worker":
            return "worker"
        if kind == "JVM" and (_EXECUTOR in process.cmdline() or _runs_tasks(process)):
            return "executor"
    return None


def _runs_tasks(process: psutil.Process) -> bool:
    """Whether it is a driver's JVM, and no executor of `local-cluster[…]` is below it."""
    return _DRIVER in process.cmdline() and not any(_is_executor(child) for child in process.children())


def _is_executor(process: psutil.Process) -> bool:
    try:
        return _EXECUTOR in process.cmdline()
    except psutil.Error:
        return False
