"""A micro-batch that Spark keeps while it is processed, so that what reads it twice asks Kafka once.

The lesson: what a batch has cached has to be released with it. Spark forgets a cached batch only when the driver does,
and a stream has a next batch for ever.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.config.batch_section import Reuse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def reused(rows: "DataFrame", reuse: Reuse) -> Iterator["DataFrame"]:
    """The rows to read, kept in memory first and on disk where that is full. `cached` releases them never."""
    if reuse == "off":
        yield rows
        return
    from pyspark import StorageLevel

    kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        if reuse == "released":
            kept.unpersist()
