"""What a job remembers from one micro-batch to the next, and where."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from located_config.duration import Duration, PositiveDuration
from located_config.size import Size
from pipeline.config.section import MIB, Section

# Below it RocksDB's own buffers do not fit.
_LEAST_BYTES = 16 * MIB


class Deduplicate(Section):
    """Which source events are repeats of an earlier one, and are dropped before anything is fetched for them."""

    by: Literal["id", "event"] = Field(
        default="id",
        description="What repeats have in common. `id`: `meta.id`, over all source topics; an event without a UUID "
        "there is no other's repeat. `event` is unsafe: the whole event, which the state then holds.",
    )
    within: Annotated[PositiveDuration, Field(ge=timedelta(milliseconds=1))] | Literal["ever"] = Field(
        description="Event time for which a seen event is stored; a later repeat passes. `ever` is unsafe: "
        "nothing expires.",
        examples=["10m"],
    )


class State(Section):
    """Where a job with state keeps it, for example with `source.deduplicate`."""

    provider: Literal["rocksdb", "heap"] = Field(
        default="rocksdb",
        description="`rocksdb` keeps it on the local disk and a bounded part in memory, and writes each batch's changes"
        " to the checkpoint. `heap` is Spark's own default, a map in the JVM's heap that must hold all of it.",
    )
    partitions: PositiveInt | None = Field(
        default=None,
        description="Number of partitions of the state; each is a store that every micro-batch writes. The first start"
        " fixes it. Default: one for each slot of the main lane at that start; on a "
        "cluster, by Spark's settings for executors and their cores.",
    )
    max_bytes: Annotated[Size, Field(ge=_LEAST_BYTES)] = Field(
        default=64 * MIB,
        description=(
            "Bytes of memory that RocksDB may take in each JVM outside the heap, for all partitions together."
        ),
    )


_LEAST = timedelta(milliseconds=1)


class Count(Section):
    """By page and window, of event time: the record's own timestamp."""

    window: Annotated[PositiveDuration, Field(ge=_LEAST)] = Field(
        default=timedelta(minutes=1), description="Length of a window. The first begins at the epoch."
    )
    delay: Annotated[Duration, Field(ge=_LEAST)] = Field(
        default=timedelta(seconds=30),
        description="Delay of the watermark: event time for which a window stays open behind the latest event that "
        "was read. Under `source.read: aligned`, `source.lateness` must be no more than this.",
    )
