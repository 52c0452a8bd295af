import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from pipeline.ops.source import Bounds, SourceRecord
from pipeline.ops.spark_checkpoint import Offsets
from pipeline.records.claim_check import key_of
from pipeline.records.record import Headers

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BUCKET, PREFIX = "claim-checks", "html-enrichment"


@dataclass
class Bucket:
    """As much of an S3 client as the sweep uses; two keys a page."""

    objects: dict[str, tuple[bytes, datetime]] = field(default_factory=dict)
    down: bool = False

    def put(self, payload: bytes, written: datetime = LONG_AGO, *, prefix: str = PREFIX) -> str:
        key = key_of(prefix, hashlib.sha256(payload).hexdigest())
        self.objects[key] = payload, written
        return key

    def get_paginator(self, operation: str) -> "Bucket":
        assert operation == "list_objects_v2"
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> Iterator[dict[str, Any]]:  # noqa: N803 - boto3's names
        self._answer(Bucket)
        keys = sorted(key for key in self.objects if key.startswith(Prefix))
        if not keys:
            yield {"KeyCount": 0}
        for start in range(0, len(keys), 2):
            page = [(key, *self.objects[key]) for key in keys[start : start + 2]]
            yield {"Contents": [{"Key": key, "Size": len(body), "LastModified": at} for key, body, at in page]}

    def head_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        self._answer(Bucket)
        return {"LastModified": self.objects[Key][1]}

    def delete_object(self, *, Bucket: str, Key: str) -> None:  # noqa: N803
        self._answer(Bucket)
        del self.objects[Key]

    def _answer(self, bucket: str) -> None:
        assert bucket == BUCKET
        if self.down:
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")


@dataclass
class Topic:
    """Takes the place of `SourceTopic`: one partition, from offset `first`."""

    topic: str
    headers: list[Headers] = field(default_factory=list)
    first: int = 5

    def bounds(self) -> Bounds:
        return Bounds({0: self.first}, {0: self.first + len(self.headers)})

    def records(self, first: Offsets, end: Offsets) -> Iterator[SourceRecord]:
        assert (first, end) == ({0: self.first}, {0: self.first + len(self.headers)}), "all of it is to be read"
        for number, headers in enumerate(self.headers):
            yield SourceRecord(0, self.first + number, 0, None, b"{}", headers)


def naming(key: str, bucket: str = BUCKET) -> Headers:
    return (("source-topic", b"s"), ("claim-check-bucket", bucket.encode()), ("claim-check-key", key.encode()))


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()
