"""What forks Spark's Python workers, with the job's modules loaded: else each worker loads them by itself, for a second
of processor time and memory of its own.

Spark runs it as `python -m pipeline.worker.daemon pyspark.worker`. Spark's own daemon loads nothing, as some modules
start threads, which a fork loses. On Linux those of NumPy and Arrow do without; elsewhere workers load all themselves.
"""

import gc
import importlib
import os
import sys
from collections.abc import Iterable

MODULE = "pipeline.worker.daemon"
_MODULES = ("pyspark.worker", "pandas", "pipeline.worker.spark_task")


def load(rows: Iterable[object] = ()) -> None:
    """Loads what the job's tasks need. A task that calls it with all its `rows` leaves a worker to those behind it."""
    for module in _MODULES:
        importlib.import_module(module)
    for _ in rows:
        pass


def main() -> None:
    """Returns when Spark has no more work for it."""
    if sys.platform == "linux":
        load()
        gc.freeze()  # a collection would write to every object, and so copy what the workers share
        # Python's own generator does so by itself.
        os.register_at_fork(after_in_child=importlib.import_module("numpy").random.seed)
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
