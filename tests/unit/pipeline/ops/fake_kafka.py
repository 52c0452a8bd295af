"""A topic in memory behind the part of a consumer that `SourceTopic` uses, and a producer that appends to a list."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kafka.structs import OffsetAndTimestamp, TopicPartition

from pipeline.errors import PipelineError
from pipeline.ops.copying import Copy
from pipeline.ops.source import OF_SOURCE, SourceTopic

BOOTSTRAP = "broker:9092"


@dataclass(frozen=True)
class Row:
    """As kafka-python's ConsumerRecord."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None = None
    value: bytes | None = b"v"
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass
class FakeConsumer:
    """`first` are offsets at which retention has made a partition begin; `end` the ends, where they are not behind the
    last row. `failure` is raised by every call. A `mute` one delivers nothing.
    """

    rows: list[Row]
    partitions: int = 1
    first: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    failure: Exception | None = None
    mute: bool = False
    topic: str = "mediawiki.page_change.v1"
    polls: int = 0
    _at: dict[TopicPartition, int] = field(default_factory=dict)

    def as_topic(self, clock: Any = None, named_by: str = OF_SOURCE) -> SourceTopic:
        return SourceTopic(self, BOOTSTRAP, self.topic, clock or (lambda: 0.0), named_by=named_by)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        self._fail()
        return set(range(self.partitions)) if topic == self.topic else None

    def beginning_offsets(self, places: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]:
        self._fail()
        return {place: self.first.get(place.partition, 0) for place in places}

    def end_offsets(self, places: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]:
        return {place: self._end(place.partition) for place in places}

    def offsets_for_times(
        self, times: dict[TopicPartition, int], timeout_ms: int
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        found: dict[TopicPartition, OffsetAndTimestamp | None] = {}
        for place, timestamp in times.items():
            match = next((row for row in self._of(place.partition) if row.timestamp >= timestamp), None)
            found[place] = OffsetAndTimestamp(match.offset, match.timestamp, -1) if match else None
        return found

    def assign(self, places: list[TopicPartition]) -> None:
        """What stays assigned stays where it is."""
        self._at = {place: self._at.get(place, 0) for place in places}

    def seek(self, place: TopicPartition, offset: int) -> None:
        assert place in self._at
        self._at[place] = offset

    def position(self, place: TopicPartition) -> int:
        return self._at[place]

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Row]]:
        """Two rows of each partition at a time."""
        self._fail()
        self.polls += 1
        answer = {}
        for place in () if self.mute else self._at:
            rows = [row for row in self._of(place.partition) if row.offset >= self._at[place]][:2]
            self._at[place] = rows[-1].offset + 1 if rows else self._end(place.partition)
            answer |= {place: rows} if rows else {}
        return answer

    def _of(self, partition: int) -> Iterator[Row]:
        first = self.first.get(partition, 0)
        return (row for row in self.rows if row.partition == partition and row.offset >= first)

    def _end(self, partition: int) -> int:
        return self.ends.get(partition, max((row.offset + 1 for row in self._of(partition)), default=0))

    def _fail(self) -> None:
        if self.failure:
            raise self.failure


@dataclass
class FakeTarget:
    """Takes copies, until it has `room` for no more, or somebody presses Ctrl-C."""

    room: int = 1_000_000
    stopped_at: int | None = None
    sent: list[Copy] = field(default_factory=list)
    finished: int = 0

    def send(self, copy: Copy) -> None:
        if len(self.sent) == self.room:
            raise PipelineError("topic full", hint="make room")
        if len(self.sent) == self.stopped_at:
            raise KeyboardInterrupt
        self.sent.append(copy)

    def finish(self) -> None:
        self.finished = len(self.sent)


@contextmanager
def opening(thing: Any) -> Iterator[Any]:
    yield thing
