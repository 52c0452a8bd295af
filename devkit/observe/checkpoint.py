"""Reads the pipeline's checkpoint in the object store: which offsets are planned, and which are committed.

The layout is Spark Structured Streaming's own: `offsets/N` is written when batch N is planned, `commits/N` when it
has ended. Behind its version and settings an offset file has a line for each source, several in a query that unites
streams, which maps topic to partition to the offset at which the batch ends. Batches are numbered anew where the
checkpoint was lost and another one made in its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import TypeAdapter, ValidationError

from devkit.errors import PartError, StackError
from devkit.observe.figures import CheckpointSize

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectTypeDef

SourcePartition = tuple[str, int]
"""Topic and partition of a source."""
Offsets = dict[SourcePartition, int]
_NOTHING = b"-"
_BEGIN = "sources/0/0"
_AT_ONCE = 1000
"""How many objects S3 deletes with one request."""
_BY_TOPIC = TypeAdapter(dict[str, dict[int, int]])


def of_topic(topic: str, offsets: Mapping[int, int]) -> Offsets:
    """Offsets by partition as those of that topic."""
    return {(topic, partition): offset for partition, offset in offsets.items()}


@dataclass(frozen=True)
class OffsetRange:
    """The offsets of a batch in each partition: from `start`, up to and without `end`."""

    start: Offsets
    end: Offsets

    @property
    def size(self) -> int:
        """Number of offsets over all partitions; one that `start` does not name counts from 0."""
        return sum(end - self.start.get(partition, 0) for partition, end in self.end.items())

    def holds(self, partition: SourcePartition, offset: int) -> bool:
        """Whether the event at this place is in the batch."""
        return self.start.get(partition, 0) <= offset and self.reaches(partition, offset)

    def reaches(self, partition: SourcePartition, offset: int) -> bool:
        """Whether the event at this place is in the batch or in one before it."""
        return offset < self.end.get(partition, 0)


def _of_sources(body: bytes) -> list[bytes]:
    """The lines of an offset file that have offsets: behind the version and Spark's settings one for each source, which
    is a dash while nothing of it is planned.
    """
    lines = body.strip().split(b"\n")
    return [line for line in lines[2:] or lines[-1:] if line != _NOTHING]


class Checkpoint:
    """The checkpoint below `prefix` in `bucket`, for the source `topics`. An offset file never changes, so each is read
    once, but anew where the numbers have begun again.
    """

    def __init__(self, client: "S3Client", bucket: str, prefix: str, topics: tuple[str, ...]) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix.strip("/")
        self._topics = frozenset(topics)
        self._ends: dict[int, Offsets] = {-1: {}}
        self._highest: dict[str, int] = {}
        self._began: Offsets | None = None

    def began(self) -> Offsets:
        """The offsets at which the first batch begins; empty until that is written down."""
        if self._began is None and self._listed(_BEGIN):
            self._began = self._read(_BEGIN, "offsets at which the job began")
        return self._began or {}

    def committed(self) -> Offsets:
        """The offsets from which the pipeline would continue: the end of the last committed batch."""
        batches = self._numbers("commits")
        return self._end_of(max(batches)) if batches else {}

    def failed_range(self) -> OffsetRange | None:
        """The range of the batch that is planned but not committed, if there is one."""
        planned, committed = self._numbers("offsets"), self._numbers("commits")
        last = max(planned, default=-1)
        return self.range_of(last) if last > max(committed, default=-1) else None

    def range_of(self, batch: int) -> OffsetRange:
        """The range of a planned batch."""
        return OffsetRange(self._end_of(batch - 1), self._end_of(batch))

    def size(self) -> CheckpointSize:
        """What is there now. Raises StackError."""
        sizes = [item["Size"] for item in self._listed("")]
        return CheckpointSize(sum(sizes), len(sizes))

    def delete(self) -> int:
        """All that is there now; the number of objects. Raises StackError."""
        keys = [item["Key"] for item in self._listed("")]
        try:
            for begin in range(0, len(keys), _AT_ONCE):
                batch = keys[begin : begin + _AT_ONCE]
                self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in batch]})
        except (BotoCoreError, ClientError) as error:
            raise PartError(f"the checkpoint could not be deleted: {error}", "object-store") from error
        return len(keys)

    def _end_of(self, batch: int) -> Offsets:
        if batch not in self._ends:
            self._ends[batch] = self._read(f"offsets/{batch}", f"offsets of batch {batch}")
        return self._ends[batch]

    def _read(self, name: str, noun: str) -> Offsets:
        try:
            body = self._client.get_object(Bucket=self._bucket, Key=f"{self._prefix}/{name}")["Body"].read()
        except (BotoCoreError, ClientError) as error:
            raise PartError(f"{noun} could not be read from the checkpoint: {error}", "object-store") from error
        by_topic: dict[str, dict[int, int]] = {}
        try:
            for line in _of_sources(body):
                by_topic |= _BY_TOPIC.validate_json(line)
        except ValidationError as error:
            raise StackError(f"{noun} are not in the form of Spark's checkpoints: {error}") from error
        offsets: Offsets = {}
        for topic in self._topics & by_topic.keys():
            offsets |= of_topic(topic, by_topic[topic])
        return offsets

    def _numbers(self, log: str) -> list[int]:
        prefix = f"{self._prefix}/{log}/"
        names = [item["Key"].removeprefix(prefix) for item in self._listed(f"{log}/")]
        numbers = [int(name) for name in names if name.isdecimal()]
        highest = max(numbers, default=-1)
        if highest < self._highest.get(log, -1):
            self._ends, self._highest, self._began = {-1: {}}, {}, None
        self._highest[log] = highest
        return numbers

    def _listed(self, below: str) -> "list[ObjectTypeDef]":
        prefix = f"{self._prefix}/{below}"
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            return [item for page in pages for item in page.get("Contents", [])]
        except (BotoCoreError, ClientError) as error:
            raise PartError(f"the checkpoint could not be listed: {error}", "object-store") from error
