"""A Kafka record on its way to the sink, and the position of the source event it came from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

Headers = tuple[tuple[str, bytes], ...]

# Fixed widths, so that a record's size does not depend on how far the topic has come.
_PARTITION_DIGITS = 10
_OFFSET_DIGITS = 19


class SourcePartition(NamedTuple):
    """A partition of a source topic: a job may read several topics, and each has a partition 0."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}"


@dataclass(frozen=True, slots=True)
class Position:
    """The position of an event in the source."""

    topic: str
    partition: int
    offset: int

    def headers(self) -> Headers:
        """Topic, partition and offset, with a fixed number of digits: the size of a record does not depend on where it
        is.
        """
        return (
            ("source-topic", self.topic.encode()),
            ("source-partition", f"{self.partition:0{_PARTITION_DIGITS}d}".encode()),
            ("source-offset", f"{self.offset:0{_OFFSET_DIGITS}d}".encode()),
        )

    def is_behind(self, other: "Position") -> bool:
        """Whether it is a later one of the same partition."""
        return (self.topic, self.partition) == (other.topic, other.partition) and self.offset > other.offset

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, slots=True)
class Record:
    """What the producer gets. `following` are further records of the same event: all of them together are its output,
    which is complete when each has landed, in this order.
    """

    topic: str
    key: bytes | None
    value: bytes
    headers: Headers
    following: tuple["Record", ...] = ()

    @property
    def all(self) -> tuple["Record", ...]:
        """It and those that follow."""
        return (self, *self.following)

    @property
    def payload_bytes(self) -> int:
        """Bytes of their values together."""
        return sum(len(record.value) for record in self.all)

    @classmethod
    def of(cls, records: Sequence["Record"]) -> "Record | None":
        """Several as the output of one event; None for none."""
        if len(records) < 2:
            return records[0] if records else None
        return replace(records[0], following=tuple(records[1:]))
