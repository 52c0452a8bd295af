"""One micro-batch: source rows through the job into the sink, in one write action."""

import time
from typing import TYPE_CHECKING

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.worker import RECORD_DDL, SOURCE_COLUMNS, enrich

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MIN_PRODUCER_BUFFER = 32 * 1024 * 1024


def write_batch(batch: "DataFrame", number: int, config: PipelineConfig) -> None:
    """Returns when every record of the batch is acknowledged; raises what Spark raises when one is not."""
    started = time.monotonic()
    log.say("batch_started", batch=number)
    workers = max(1, min(batch.rdd.getNumPartitions(), batch.sparkSession.sparkContext.defaultParallelism))
    limit = config.sink.max_request_size
    (
        batch.select(*SOURCE_COLUMNS)
        .mapInArrow(enrich(config, workers=workers), RECORD_DDL)
        .write.format("kafka")
        .option("kafka.bootstrap.servers", config.sink.bootstrap_servers)
        .option("kafka.max.request.size", limit)
        .option("kafka.buffer.memory", max(_MIN_PRODUCER_BUFFER, 2 * limit))
        .option("kafka.acks", "all")
        .option("kafka.enable.idempotence", "true")
        .save()
    )
    log.say("batch_written", batch=number, seconds=round(time.monotonic() - started, 3))
