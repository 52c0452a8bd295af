"""The event time that a stateful operator is given: never behind its watermark, where the source says what was read."""

from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.worker.spark_task import HORIZON

if TYPE_CHECKING:
    from pyspark.sql import Column


def in_time(config: PipelineConfig, delay_ms: int) -> "Column":
    """The event time of a row. A late row gets the earliest time that an operator with this delay does not drop. A row
    without a time keeps null: to Spark it is never late, and moves no watermark.
    """
    from pyspark.sql import functions

    timestamp = functions.col("timestamp")
    if config.source.read != "aligned":
        return timestamp
    # `greatest` passes over null: the horizon of the first batch, and the timestamp of a record without a time.
    first_time = functions.expr(f"{HORIZON} - make_interval(0, 0, 0, 0, 0, 0, {(delay_ms - 1) / 1000:.3f})")
    return functions.greatest(timestamp, first_time)
