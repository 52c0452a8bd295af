"""The Kafka sink: one write action for records of every topic, which returns when all of them are acknowledged."""

from typing import TYPE_CHECKING

from pipeline.config import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MIN_PRODUCER_BUFFER = 32 * 1024 * 1024


def write(records: "DataFrame", sink: Sink) -> None:
    """Produce rows of `worker.RECORD_DDL`. Raises what Spark raises when a record is refused."""
    writer = records.write.format("kafka").option("kafka.bootstrap.servers", sink.bootstrap_servers)
    for name, size in producer_sizes(sink).items():
        writer = writer.option(f"kafka.{name}", size)
    writer.option("kafka.acks", "all").option("kafka.enable.idempotence", "true").save()


def producer_sizes(sink: Sink) -> dict[str, int]:
    """The producer's settings that bound a record, in bytes."""
    limit = sink.max_request_size
    return {"max.request.size": limit, "buffer.memory": max(_MIN_PRODUCER_BUFFER, 2 * limit)}
