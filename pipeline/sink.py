"""The Kafka sink: one write action for records of every topic, which returns when all of them are acknowledged."""

from typing import TYPE_CHECKING

from pipeline.config import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MIN_PRODUCER_BUFFER = 32 * 1024 * 1024


def write(records: "DataFrame", sink: Sink) -> None:
    """Produce rows of `worker.RECORD_DDL`. Raises what Spark raises when a record is refused."""
    limit = sink.max_request_size
    (
        records.write.format("kafka")
        .option("kafka.bootstrap.servers", sink.bootstrap_servers)
        .option("kafka.max.request.size", limit)
        .option("kafka.buffer.memory", max(_MIN_PRODUCER_BUFFER, 2 * limit))
        .option("kafka.acks", "all")
        .option("kafka.enable.idempotence", "true")
        .save()
    )
