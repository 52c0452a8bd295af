"""What happens to records that take long."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from located_config.duration import Duration, PositiveDuration
from located_config.size import Size
from pipeline.config.section import MIB, Section, Topic
from pipeline.jobs.names import FIRST, other_defaults

_MIN_COMPACTION_LAG = timedelta(hours=24)
# What is still in the segment that is written to is never compacted, and a driver that starts reads all of it.
_SEGMENT_BYTES = 64 * MIB
_SEGMENT = timedelta(hours=1)


class SlowLaneConfig(Section):
    """How deferred records are processed, in rounds.

    Each request has the deadline of its record, or `fetch.request_timeout` if that is shorter.
    """

    deadline: PositiveDuration = Field(
        default=timedelta(minutes=2), description="Time that a deferred record has for its requests in each round."
    )
    concurrency: PositiveInt = Field(
        default=16, description="Number of requests of a round that may be under way at once."
    )
    pages: PositiveInt = Field(default=64, description="Number of pages that a round takes.")
    entries: PositiveInt = Field(
        default=1000, description="Number of events that a round takes at most; of each page the earliest."
    )
    round_time: PositiveDuration = Field(
        default=timedelta(minutes=10),
        description="Time after which a round begins no further event; the remaining ones wait for a later round."
        " What is emitted is resolved as it goes: a crash repeats only what was under way.",
    )
    rounds: PositiveInt = Field(default=1, description="Number of rounds at once; each takes a slot of Spark.")
    attempts: Annotated[int, Field(ge=2)] = Field(
        default=8,
        description="Number of tries that an event has in all, the one in the main lane included; then it becomes"
        " an error event.",
    )
    backoff: Duration = Field(
        default=timedelta(seconds=10),
        description="Time between the first try of an event and the next; it doubles after each try, and is "
        "longer where the upstream's `Retry-After` is.",
    )
    backoff_cap: Duration = Field(
        default=timedelta(minutes=10), description="Longest time between two tries of an event."
    )
    max_in_flight_bytes: Annotated[Size, Field(gt=0)] = Field(
        default=64 * MIB,
        description="Bytes of fetched content that a round may hold in memory; one record may always exceed it.",
    )


class Deferral(Section):
    """What happens to a record that is not done within `inline_allowance` of its own first request."""

    policy: Literal["defer", "none"] = Field(
        default="defer",
        description="`defer` moves a slow record to the slow lane, and its page's later events behind it. `none` "
        "is unsafe: a slow record holds its micro-batch for up to `fetch.deadline`.",
    )
    topic: Topic = Field(
        default=FIRST.deferred_topic,
        description=f"Compacted topic that holds the deferred events.{other_defaults('deferred_topic')}",
    )
    inline_allowance: PositiveDuration = Field(
        default=timedelta(seconds=5),
        description="Time that a record has in the main lane, from its own first request on; then it is deferred.",
    )
    max_entries: PositiveInt = Field(
        default=1000,
        description="Number of deferred events above which the main lane waits before it plans the next micro-batch.",
    )
    max_bytes: Annotated[Size, Field(gt=0)] = Field(
        default=64 * MIB,
        description="Bytes of deferred events above which the main lane waits before it plans the next micro-batch.",
    )
    slow_lane: SlowLaneConfig = Field(default=SlowLaneConfig(), description="How deferred events are processed.")


def ledger_topic_settings(max_record_bytes: int) -> dict[str, str]:
    """The settings that `deferral.topic` needs, also where an operator creates it: no event is forgotten before it is
    resolved.

    `max_record_bytes` is the largest record that is written there.
    """
    return {
        "cleanup.policy": "compact",
        "unclean.leader.election.enable": "false",
        "min.compaction.lag.ms": str(_MIN_COMPACTION_LAG // timedelta(milliseconds=1)),
        "segment.ms": str(_SEGMENT // timedelta(milliseconds=1)),
        "segment.bytes": str(max(_SEGMENT_BYTES, 2 * max_record_bytes)),
        "max.message.bytes": str(max_record_bytes),
    }
