"""The Kafka sink: one write action for records of every topic, which returns when all of them are acknowledged."""

from typing import TYPE_CHECKING

from pipeline.config import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MIN_PRODUCER_BUFFER = 32 * 1024 * 1024
# The producer's own 16 KiB and 5 ms would send every page by itself, for twice the broker's time. A task that ends
# sends what is there at once, so no record waits for the rest of these.
_BATCHING = {"kafka.batch.size": 1024 * 1024, "kafka.linger.ms": 200}


def write(records: "DataFrame", sink: Sink) -> None:
    """Produce rows of `worker.RECORD_DDL`. Raises what Spark raises when a record is refused."""
    records.write.format("kafka").options(**producer_options(sink)).save()


def producer_options(sink: Sink) -> dict[str, str | int]:
    """The settings of Spark's sink: those of the producer, with `kafka.` before their names."""
    sizes = {f"kafka.{name}": size for name, size in producer_sizes(sink).items()}
    reliable = {"kafka.acks": "all", "kafka.enable.idempotence": "true"}
    return {"kafka.bootstrap.servers": sink.bootstrap_servers, **sizes, **_BATCHING, **reliable}


def producer_sizes(sink: Sink) -> dict[str, int]:
    """The producer's settings that bound a record, in bytes."""
    limit = sink.max_request_size
    return {"max.request.size": limit, "buffer.memory": max(_MIN_PRODUCER_BUFFER, 2 * limit)}
