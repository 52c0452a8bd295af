"""Claim checks that no record refers to, and how to be sure of it.

A payload is stored before its event. A job that ends in between stores it again when it goes on, under the same key,
and then its event follows; but an event may also be emitted in another way (a higher limit, an error event), or its
record may be removed from the topic by retention. So an orphan is an object

    of the form and below the prefix of the job's own keys   other objects are not touched
    last written before a moment long past                   its event would have followed by now
    named by no record of the output topics                  all of them are read, from their beginning to their end

in this order: the ends are looked up after the objects were listed. A record behind a transaction that is still open
counts, and so does one of a transaction that was given up. What stands in the place of a claim check that was
removed is an orphan when the claim check would be one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pipeline.claims.removal import write_mark
from pipeline.claims.suppressed_claims import ToRemove
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.source import SourceTopic, total
from pipeline.records.claim_check import BUCKET_HEADER, KEY_HEADER
from pipeline.records.claim_key import is_claim, mark_of, without_mark

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as the store lists it."""

    key: str
    length_bytes: int
    written: datetime


@dataclass(frozen=True, slots=True)
class Shelf:
    """The claim checks below the prefix, and the number of other objects there."""

    claims: tuple[Stored, ...]
    others: int


@dataclass(frozen=True, slots=True)
class TopicRead:
    """`records` lie between the topic's beginning and its end of then, `naming` of them name a claim check."""

    topic: str
    records: int
    naming: int


class ClaimShelf:
    """The claim checks of a job. Raises PipelineError when the store does not answer."""

    def __init__(self, client: "S3Client", config: ClaimCheck) -> None:
        self._client = client
        self._config = config

    def look(self) -> Shelf:
        """All that is there, oldest first."""
        claims, foreign = [], 0
        prefix = self._config.prefix.strip("/")
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._config.bucket, Prefix=f"{prefix}/" if prefix else ""
        )
        with _answers(self._config):
            for page in pages:
                for item in page.get("Contents", ()):
                    if is_claim(without_mark(item["Key"]), self._config.prefix):
                        claims.append(Stored(item["Key"], item["Size"], item["LastModified"]))
                    else:
                        foreign += 1
        return Shelf(tuple(sorted(claims, key=lambda stored: stored.written)), foreign)

    def remove(self, orphan: Stored) -> bool:
        """Whether it is gone: an object that was written again since it was listed stays, its event follows."""
        from botocore.exceptions import ClientError

        with _answers(self._config):
            try:
                head = self._client.head_object(Bucket=self._config.bucket, Key=orphan.key)
            except ClientError as error:
                if error.response["Error"]["Code"] != "404":
                    raise
                return True  # another sweep, the job itself or a lifecycle rule was sooner
            if head["LastModified"] > orphan.written:
                return False
            self._client.delete_object(Bucket=self._config.bucket, Key=orphan.key)
        return True

    def suppress(self, claim: ToRemove) -> bool:
        """Whether the claim check was there. A mark takes its place."""
        with _answers(self._config):
            listing = self._client.list_objects_v2(Bucket=self._config.bucket, Prefix=claim.key, MaxKeys=1)
            if not any(stored["Key"] == claim.key for stored in listing.get("Contents", ())):
                return False
            write_mark(self._client, self._config.bucket, claim.key, claim.suppression, claim.by)
            self._client.delete_object(Bucket=self._config.bucket, Key=claim.key)
        return True


def unnamed(
    candidates: Iterable[Stored], topics: Sequence[SourceTopic], bucket: str, *, say: Callable[[str], None]
) -> tuple[list[Stored], list[TopicRead]]:
    """The claim checks that no record of the topics names, and what was read. Raises PipelineError, RefusedError.

    An empty topic is refused: every claim check would be an orphan, and the topic is more likely the wrong one.
    """
    unnamed_claims = {stored.key: stored for stored in candidates}
    read = []
    for topic in topics:
        bounds = topic.bounds()
        count = total(bounds.first, bounds.end)
        if not count:
            raise RefusedError(
                f"topic {topic.topic} is empty: no record says what is still referred to",
                hint="is it the output topic of this job? Where its records expire, a lifecycle rule of the bucket "
                "removes claim checks of the same age",
            )
        say(f"reading {topic.topic}: {count} offsets in {len(bounds.end)} partitions")
        records = naming = 0
        for record in topic.records(bounds.first, bounds.end):
            records += 1
            headers = dict(record.own_headers)
            if KEY_HEADER in headers:
                naming += 1
                if headers.get(BUCKET_HEADER) == bucket.encode():
                    key = headers[KEY_HEADER].decode(errors="replace")
                    unnamed_claims.pop(key, None)
                    unnamed_claims.pop(mark_of(key), None)
        read.append(TopicRead(topic.topic, records, naming))
    return list(unnamed_claims.values()), read


@contextmanager
def _answers(config: ClaimCheck) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise PipelineError(
            f"bucket {config.bucket} at {config.endpoint or 'the default S3 endpoint'} does not answer: {error}",
            hint="look at claim_check in the job's file, and at the credentials in the environment",
        ) from error
