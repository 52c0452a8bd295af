"""Reads the pipeline's checkpoint in the object store: which offsets are planned, and which are committed.

The layout is Spark Structured Streaming's own: `offsets/N` is written when batch N is planned, `commits/N` when it
has ended. The last line of an offset file maps topic to partition to the offset at which the batch ends.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import TypeAdapter, ValidationError

from devkit.errors import StackError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

Offsets = dict[int, int]
_OFFSETS = TypeAdapter(dict[str, Offsets])


@dataclass(frozen=True)
class OffsetRange:
    """The offsets of a batch in each partition: from `start`, up to and without `end`."""

    start: Offsets
    end: Offsets

    @property
    def size(self) -> int:
        return sum(end - self.start.get(partition, 0) for partition, end in self.end.items())


class Checkpoint:
    """The checkpoint below `prefix` in `bucket`, for one topic. An offset file never changes, so each is read once."""

    def __init__(self, client: "S3Client", bucket: str, prefix: str, topic: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix.strip("/")
        self._topic = topic
        self._ends: dict[int, Offsets] = {-1: {}}

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

    def _end_of(self, batch: int) -> Offsets:
        if batch not in self._ends:
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=f"{self._prefix}/offsets/{batch}")
                body = answer["Body"].read()
            except (BotoCoreError, ClientError) as error:
                raise StackError(f"offsets of batch {batch} could not be read from the checkpoint: {error}") from error
            try:
                by_topic = _OFFSETS.validate_json(body.strip().rpartition(b"\n")[2])
            except ValidationError as error:
                raise StackError(
                    f"offsets of batch {batch} are not in the form of Spark's checkpoints: {error}"
                ) from error
            self._ends[batch] = by_topic.get(self._topic, {})
        return self._ends[batch]

    def _numbers(self, log: str) -> list[int]:
        prefix = f"{self._prefix}/{log}/"
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            names = [item["Key"].removeprefix(prefix) for page in pages for item in page.get("Contents", [])]
        except (BotoCoreError, ClientError) as error:
            raise StackError(f"the checkpoint could not be listed: {error}") from error
        return [int(name) for name in names if name.isdecimal()]
