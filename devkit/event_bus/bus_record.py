"""A record that the bus publishes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BusRecord:
    """`timestamp_ms` is the record's own time, None where the kit leaves it to Kafka."""

    topic: str
    key: bytes
    value: bytes
    timestamp_ms: int | None = None
