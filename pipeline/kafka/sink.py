"""The Kafka sink: one write action for records of every topic, which returns when all of them are acknowledged."""

from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import Kafka, Sink
from pipeline.kafka.cluster import java_client

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MIN_PRODUCER_BUFFER = 32 * 1024 * 1024
# The producer's own 16 KiB and 5 ms would send every page by itself, for twice the broker's time. A task that ends
# sends what is there at once, so no record waits for the rest of these.
_LINGER_MS = 200
BATCH_BYTES = 1024 * 1024
"""The largest batch of the producer, where all topics that it writes to take that much."""
_NEVER_MS = 2**31 - 1
REQUEST_MS = 30_000
"""How long a producer waits for the answer to one request, where it may try for longer than that."""


def write(records: "DataFrame", sink: Sink, kafka: Kafka, batch_bytes: int) -> None:
    """Produce rows of `worker.RECORD_DDL`. Raises what Spark raises when a record is refused."""
    records.write.format("kafka").options(**producer_options(sink, kafka, batch_bytes)).save()


def discard(rows: "DataFrame") -> None:
    """Have tasks run for what they do beside their rows. Raises what Spark raises when one fails."""
    rows.write.format("noop").mode("overwrite").save()


def producer_options(sink: Sink, kafka: Kafka, batch_bytes: int = BATCH_BYTES) -> dict[str, str | int]:
    """The settings of Spark's sink: those of the producer, with `kafka.` before their names."""
    batching = {"kafka.batch.size": batch_bytes, "kafka.linger.ms": _LINGER_MS}
    sizes = {f"kafka.{name}": size for name, size in producer_sizes(sink).items()}
    reliable = {"kafka.acks": "all", "kafka.enable.idempotence": "true"}
    reached = {f"kafka.{name}": value for name, value in java_client(kafka).items()}
    options = {"kafka.bootstrap.servers": sink.bootstrap_servers, **sizes, **batching, **reliable, **_patience(sink)}
    packed = {} if kafka.compression == "none" else {"kafka.compression.type": kafka.compression}
    return {**reached, **options, **packed}


def patience_ms(sink: Sink) -> int:
    """How long a producer tries, in milliseconds: by default, until `stall_timeout` ends the process.

    A producer that gives up on a record goes on with those behind it, of the same page too. When the process ends
    instead, each topic's partition has what was sent first, and no gap.
    """
    return _NEVER_MS if sink.delivery_timeout is None else round(1000 * sink.delivery_timeout.total_seconds())


def _patience(sink: Sink) -> dict[str, str | int]:
    limit_ms = patience_ms(sink)
    limits: dict[str, str | int] = {"kafka.delivery.timeout.ms": limit_ms, "kafka.max.block.ms": limit_ms}
    if sink.delivery_timeout is None:
        return limits
    # Kafka refuses a time that is shorter than one request of it.
    return limits | {"kafka.request.timeout.ms": min(REQUEST_MS, limit_ms - _LINGER_MS)}


def producer_sizes(sink: Sink) -> dict[str, int]:
    """The producer's settings that bound a record, in bytes."""
    limit = sink.max_request_size
    return {"max.request.size": limit, "buffer.memory": max(_MIN_PRODUCER_BUFFER, 2 * limit)}
