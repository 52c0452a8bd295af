"""Whether the JVM of Spark has ended, or is about to, as it ran out of memory.

With a full heap Spark has its JVM exit at once, by a thread of its own. Until then it still answers: the query has
failed, as the context below it was stopped, and what it says of that is not the cause.
"""

import subprocess
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from pipeline.driver.heap_dumps import AwaitedDump

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OUT_OF_MEMORY = 52
"""Spark's exit code for it."""
_EXIT_S = 10.0


def kill_jvm() -> None:
    """One that this process has started; under spark-submit it is the parent, which a supervisor ends."""
    from pyspark import SparkContext

    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001
    if process is not None:
        process.kill()


class JvmEnd:
    """Of the driver's JVM; `dump` is what it would have left."""

    def __init__(self, spark: "SparkSession", dump: AwaitedDump) -> None:
        self._context: Any = spark.sparkContext
        self._dump = dump

    def is_out_of_memory(self) -> bool:
        """To be asked when the query has failed. Waits for a JVM that is about to end, ten seconds at most; one that
        lives on is not waited for.
        """
        try:
            if not self._context._jsc.sc().isStopped():  # noqa: SLF001
                return False
        except (Py4JError, OSError):
            pass  # it is gone
        # Without one it was not this process that has started it, and its exit code is not to be had.
        process: subprocess.Popen[bytes] | None = getattr(self._context._gateway, "proc", None)  # noqa: SLF001
        try:
            code = process.wait(_EXIT_S) if process else None
        except subprocess.TimeoutExpired:
            code = None
        return code == _OUT_OF_MEMORY or self._dump.is_there
