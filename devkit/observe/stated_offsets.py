"""Committed offsets that a program without a checkpoint of Spark's keeps elsewhere, and says where on standard output:

    {"event": "committed_offsets", "group": "mine-fixed"}
    {"event": "committed_offsets", "file": "/tmp/offsets.json"}

A consumer group is read from the broker. The file is JSON, by topic and partition the next offset to read:
`{"mediawiki.page_change.v1": {"0": 17}}`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from kafka import KafkaConsumer
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError, model_validator

from devkit.observe.checkpoint import Offsets, of_topic
from devkit.observe.figures import CheckpointSize
from devkit.observe.kafka.group_offsets import GroupOffsets
from devkit.stack.topic_reader import connect
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
    """What is there now. `problem` says why nothing is known, and is empty otherwise. `size` is None for a consumer
    group.
    """

    place: str
    offsets: Offsets = field(default_factory=dict)
    size: CheckpointSize | None = None
    problem: str = ""


@dataclass
class StatedOffsetsReader:
    """`bootstrap` is the broker's address without a proxy, and `ends` gives the ends of a source topic. `began_ms` is
    the arm's start, since the epoch: a file that is older is of another arm.
    """

    bootstrap: str
    topics: tuple[str, ...]
    ends: Callable[[str], Mapping[int, int]]
    began_ms: Callable[[], int]
    connect: Callable[..., KafkaConsumer] = connect
    _group: GroupOffsets | None = field(default=None, init=False)

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

    def close(self) -> None:
        """End the connection."""
        if self._group is not None:
            self._group.close()

    def _of_group(self, group: str) -> Offsets:
        if self._group is None or self._group.group != group:
            self.close()
            self._group = GroupOffsets(self.bootstrap, group, self.connect)
        return self._group.of(self.topics)

    def _of_file(self, file: Path) -> StatedOffsets:
        place = f"file {file}"
        try:
            status = file.stat()
            if status.st_mtime_ns // 1_000_000 < self.began_ms():
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
        # Asked for behind the offsets, as more may be published between the two.
        ends = {topic: self.ends(topic) for topic, _ in offsets}
        for (topic, partition), offset in sorted(offsets.items()):
            if offset > (end := ends[topic].get(partition, 0)):
                beyond = f"offset {offset} of {topic}/{partition} is beyond its end {end}"
                return StatedOffsets(place, problem=f"{place}: {beyond}, so it is not of this arm")
        return StatedOffsets(place, offsets, size)


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    where = ".".join(map(str, detail["loc"]))
    return f"{where}: {detail['msg']}" if where else detail["msg"]
