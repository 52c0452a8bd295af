"""How micro-batches are planned."""

from datetime import timedelta
from typing import Literal

from pydantic import Field, PositiveInt

from located_config.duration import Duration, PositiveDuration
from pipeline.config.section import Section

Reuse = Literal["off", "released", "cached"]


class Batch(Section):
    """How much a micro-batch takes, and how often one is planned."""

    max_offsets: PositiveInt = Field(
        default=1000, description="Number of source events that a micro-batch takes at most."
    )
    trigger: Duration = Field(
        default=timedelta(0),
        description="Time from the start of one micro-batch to the start of the next. Default: the next starts as"
        " soon as the last has ended.",
    )
    isolation: Literal["record", "mini_batch"] = Field(
        default="record",
        description="`record` lets each record finish by itself. `mini_batch` is unsafe: records are processed in"
        " groups, and each waits for the slowest of its group.",
    )
    mini_batch: PositiveInt = Field(
        default=16, description="Number of records in a group under `isolation: mini_batch`."
    )
    page_order: Literal["together", "one_at_a_time"] = Field(
        default="together",
        description="How the order of a page is kept. `together`: its events are fetched side by side and emitted in "
        "order. `one_at_a_time` is unsafe: an event is fetched when the last one of its page has been emitted, so a "
        "page can be no faster than one fetch after the other.",
    )
    reuse: Reuse = Field(
        default="off",
        description="What happens to source events that are read twice, as a batch of 100 or more may be, first for "
        "their version. `off`: Kafka is asked again. `released`: Spark keeps them, in memory and on the local disk, "
        "until the batch is written. `cached` is unsafe: they are kept as long as the driver runs.",
    )


class Commit(Section):
    """What happens when Spark's writes to the checkpoint, the offsets of a micro-batch and its commit, take long."""

    policy: Literal["bounded", "wait"] = Field(
        default="bounded",
        description="`bounded` logs slow writes, and ends the process when they take longer than `timeout`. "
        "`wait` is unsafe: nothing is logged, and they may take as long as the store's client waits.",
    )
    slow_after: PositiveDuration = Field(
        default=timedelta(seconds=5),
        description="Time after which writes to the checkpoint that have not ended are logged (`commit_slow`).",
    )
    timeout: PositiveDuration | None = Field(
        default=None,
        description="Time that the writes between two micro-batches may take; then the process ends with exit code 1, "
        "so that its supervisor sees a failure. Default: `stall_timeout`.",
    )
