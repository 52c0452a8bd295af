"""How far a pipeline is behind its sources: its checkpoint against their ends, and its deferred events."""

from contextlib import closing
from dataclasses import dataclass

from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.observe.checkpoint import Checkpoint, Offsets, SourcePartition, of_topic
from devkit.observe.kafka.deferrals import DeferralTopic
from devkit.stack.topic_reader import answering, connect
from devkit.stack.topics import TopicEnds
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.kafka.record_quirks import record_time_ms

_POLL_MS = 5_000


@dataclass(frozen=True)
class PartitionLag:
    """`committed` is None when no batch has ended. `behind_s` is the age of the oldest event that is not committed,
    by its timestamp; None when there is none, or it cannot be told.
    """

    topic: str
    partition: int
    committed: int | None
    end: int
    behind_s: float | None

    @property
    def lag(self) -> int:
        """In events; counted from offset 0 while no batch has ended."""
        return self.end - (self.committed or 0)


@dataclass(frozen=True)
class ProgramLag:
    """`deferred` counts events that stand in the deferral topic, None for a pipeline that defers nothing."""

    partitions: tuple[PartitionLag, ...]
    deferred: int | None

    @property
    def topics(self) -> tuple[str, ...]:
        """The source's topics, in the order of the configuration."""
        return tuple(dict.fromkeys(partition.topic for partition in self.partitions))

    @property
    def total(self) -> int:
        """Events of all partitions. Deferred events are committed, so they do not count."""
        return sum(partition.lag for partition in self.partitions)


def lag_of(config: PipelineConfig, checkpoint: Checkpoint, *, bootstrap: str, now_ms: int) -> ProgramLag:
    """A look now, by the broker that the kit finds at `bootstrap`. Raises StackError."""
    committed = checkpoint.committed()  # first: what is committed is not beyond ends that are asked for later
    ends = _ends(config, bootstrap)
    oldest = _timestamps(
        bootstrap, {place: committed.get(place, 0) for place, end in ends.items() if committed.get(place, 0) < end}
    )
    partitions = tuple(
        PartitionLag(*place, committed.get(place), end, _age_s(oldest.get(place), now_ms))
        for place, end in ends.items()
    )
    return ProgramLag(partitions, _deferred(config, bootstrap))


def _age_s(timestamp_ms: int | None, now_ms: int) -> float | None:
    """A producer's clock may be ahead of this one."""
    time_ms = record_time_ms(timestamp_ms)
    return None if time_ms is None else max(0, now_ms - time_ms) / 1000


def _ends(config: PipelineConfig, bootstrap: str) -> Offsets:
    """Topic by topic, the partitions of each in their order."""
    all_ends: Offsets = {}
    with closing(TopicEnds(bootstrap)) as ends:
        for topic in config.source.all_topics:
            topic_ends = ends.of(topic)
            if not topic_ends:
                raise StackError(f"there is no topic {topic}", hint="`devkit topics` lists those there are")
            all_ends |= of_topic(topic, dict(sorted(topic_ends.items())))
    return all_ends


def _timestamps(bootstrap: str, offsets: Offsets) -> dict[SourcePartition, int]:
    """When the record at each offset was made, in milliseconds since the epoch; without those that do not come."""
    timestamps: dict[SourcePartition, int] = {}
    with closing(connect(bootstrap, max_poll_records=1)) as consumer:
        for (topic, number), offset in offsets.items():
            place = TopicPartition(topic, number)
            with answering(f"{topic} could not be read"):
                consumer.assign([place])
                consumer.seek(place, offset)
                for records in consumer.poll(timeout_ms=_POLL_MS, max_records=1).values():
                    timestamps[topic, number] = records[0].timestamp
    return timestamps


def _deferred(config: PipelineConfig, bootstrap: str) -> int | None:
    if config.deferral.policy != "defer":
        return None
    with closing(DeferralTopic(bootstrap, config.deferral.topic)) as topic:
        return topic.catch_up()
