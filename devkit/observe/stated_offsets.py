"""Committed offsets that a program without a checkpoint of Spark's keeps elsewhere, and says where on standard output:

    {"event": "committed_offsets", "group": "mine-fixed"}
    {"event": "committed_offsets", "file": "/tmp/offsets.json"}

A consumer group is read from the broker. The file is JSON, by topic and partition the next offset to read:
`{"mediawiki.page_change.v1": {"0": 17}}`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kafka import KafkaConsumer
from kafka.structs import TopicPartition
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError, model_validator

from devkit.observe.checkpoint import Offsets, of_topic
from devkit.observe.figures import CheckpointSize
from devkit.stack.topic_reader import answering, connect, places_of
from located_config.size import format_size

STATED_BY = "committed_offsets"
"""The event's name."""
_LARGEST_FILE = 1 << 20
_FORM = '{"TOPIC": {"PARTITION": OFFSET}}'
_BY_TOPIC = TypeAdapter(dict[str, dict[NonNegativeInt, NonNegativeInt]])


class OffsetsStatement(BaseModel):
    """Where a program keeps its offsets, as it says in its event."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str | None = Field(default=None, min_length=1)
    file: Path | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.group is None) == (self.file is None):
            raise ValueError("write either group or file")
        if self.file is not None and not self.file.is_absolute():
            raise ValueError(f"file {str(self.file)!r} is relative; write the absolute path")
        return self


@dataclass(frozen=True)
class StatedOffsets:
    """What was found there at the arm's end. `problem` says why nothing is known, and is empty otherwise.

    `partitions_read` counts the source partitions with a committed offset. `size` is None for a consumer group.
    """

    place: str
    partitions_read: int = 0
    size: CheckpointSize | None = None
    problem: str = ""


@dataclass(frozen=True)
class StatedOffsetsReader:
    """`began_ms` is the arm's start, since the epoch: a file that is older is of another arm. `begun` counts the
    partitions that are beyond where the arm found them, and `ends` are the ends of the source.
    """

    bootstrap: str
    topics: tuple[str, ...]
    ends: Offsets
    began_ms: int
    begun: Callable[[Offsets], int]
    connect: Callable[..., KafkaConsumer] = connect

    def read(self, fields: Mapping[str, object]) -> StatedOffsets:
        """By the fields of the program's event. Raises StackError when the broker does not answer."""
        try:
            statement = OffsetsStatement.model_validate(fields)
        except ValidationError as error:
            return StatedOffsets(STATED_BY, problem=f"its event {STATED_BY} is not valid: {_first(error)}")
        if statement.group is not None:
            return self._checked(f"consumer group {statement.group}", self._of_group(statement.group), None)
        assert statement.file is not None
        return self._of_file(statement.file)

    def _of_group(self, group: str) -> Offsets:
        consumer = self.connect(self.bootstrap, group_id=group)
        try:
            with answering(f"Kafka did not say what group {group} has committed"):
                places = [place for topic in self.topics for place in places_of(consumer, topic)]
                return committed_of(consumer, places)
        finally:
            consumer.close()

    def _of_file(self, file: Path) -> StatedOffsets:
        place = f"file {file}"
        try:
            status = file.stat()
            if status.st_mtime_ns // 1_000_000 < self.began_ms:
                return StatedOffsets(place, problem=f"{place} was not written in this arm")
            if status.st_size > _LARGEST_FILE:
                return StatedOffsets(place, problem=f"{place} is larger than {format_size(_LARGEST_FILE)}")
            by_topic = _BY_TOPIC.validate_json(file.read_bytes())
        except OSError as error:
            return StatedOffsets(place, problem=f"{place} cannot be read: {error.strerror}")
        except ValidationError as error:
            return StatedOffsets(place, problem=f"{place} has not the form {_FORM}: {_first(error)}")
        offsets: Offsets = {}
        for topic in by_topic.keys() & set(self.topics):
            offsets |= of_topic(topic, by_topic[topic])
        return self._checked(place, offsets, CheckpointSize(status.st_size, 1))

    def _checked(self, place: str, offsets: Offsets, size: CheckpointSize | None) -> StatedOffsets:
        if not offsets:
            return StatedOffsets(place, problem=f"{place} has no committed offset of {', '.join(self.topics)}")
        for (topic, partition), offset in sorted(offsets.items()):
            if offset > (end := self.ends.get((topic, partition), 0)):
                beyond = f"offset {offset} of {topic}/{partition} is beyond its end {end}"
                return StatedOffsets(place, problem=f"{place}: {beyond}, so it is not of this arm")
        return StatedOffsets(place, self.begun(offsets), size)


def committed_of(consumer: KafkaConsumer, places: list[TopicPartition]) -> Offsets:
    """The committed offsets of the consumer's group, without partitions of which it has none. Raises KafkaError."""
    committed = {(place.topic, place.partition): consumer.committed(place) for place in places}
    return {place: offset for place, offset in committed.items() if offset is not None and offset >= 0}


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    where = ".".join(map(str, detail["loc"]))
    return f"{where}: {detail['msg']}" if where else detail["msg"]
