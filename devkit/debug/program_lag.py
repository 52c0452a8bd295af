"""How far a pipeline is behind its source: its checkpoint against the source's ends, and its deferred events."""

from contextlib import closing
from dataclasses import dataclass

from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.observe.checkpoint import Checkpoint
from devkit.observe.deferrals import DeferralTopic
from devkit.stack.consumer import answering, connect
from devkit.stack.topics import TopicEnds
from pipeline.config import PipelineConfig

_POLL_MS = 5_000


@dataclass(frozen=True)
class PartitionLag:
    """`committed` is None when no batch has ended. `behind_s` is the age of the oldest event that is not committed,
    by its timestamp; None when there is none, or it cannot be told.
    """

    partition: int
    committed: int | None
    end: int
    behind_s: float | None

    @property
    def lag(self) -> int:
        return self.end - (self.committed or 0)


@dataclass(frozen=True)
class ProgramLag:
    """`deferred` counts events that stand in the deferral topic, None for a pipeline that defers nothing."""

    topic: str
    partitions: tuple[PartitionLag, ...]
    deferred: int | None

    @property
    def total(self) -> int:
        return sum(partition.lag for partition in self.partitions)


def lag_of(config: PipelineConfig, checkpoint: Checkpoint, *, bootstrap: str, now_ms: int) -> ProgramLag:
    """A look now, by the broker that the kit finds at `bootstrap`. Raises StackError."""
    committed = checkpoint.committed()  # first: what is committed is not beyond ends that are asked for later
    ends = _ends(config, bootstrap)
    oldest = _timestamps(
        config, bootstrap, {n: committed.get(n, 0) for n, end in ends.items() if committed.get(n, 0) < end}
    )
    partitions = tuple(
        PartitionLag(n, committed.get(n), end, (now_ms - oldest[n]) / 1000 if n in oldest else None)
        for n, end in sorted(ends.items())
    )
    return ProgramLag(config.source.topic, partitions, _deferred(config, bootstrap))


def _ends(config: PipelineConfig, bootstrap: str) -> dict[int, int]:
    with closing(TopicEnds(bootstrap)) as ends:
        found = ends.of(config.source.topic)
    if not found:
        raise StackError(f"there is no topic {config.source.topic}", hint="`devkit topics` lists those there are")
    return found


def _timestamps(config: PipelineConfig, bootstrap: str, offsets: dict[int, int]) -> dict[int, int]:
    """When the record at each offset was made, in milliseconds since the epoch; without those that do not come."""
    found: dict[int, int] = {}
    with (
        closing(connect(bootstrap, max_poll_records=1)) as consumer,
        answering(f"{config.source.topic} could not be read"),
    ):
        for number, offset in offsets.items():
            place = TopicPartition(config.source.topic, number)
            consumer.assign([place])
            consumer.seek(place, offset)
            for records in consumer.poll(timeout_ms=_POLL_MS, max_records=1).values():
                found[number] = records[0].timestamp
    return found


def _deferred(config: PipelineConfig, bootstrap: str) -> int | None:
    if config.deferral.policy != "defer":
        return None
    with closing(DeferralTopic(bootstrap, config.deferral.topic)) as topic:
        return topic.catch_up()
