import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from pipeline.ops.source import Bounds, SourceRecord
from pipeline.ops.spark_checkpoint import Offsets
from pipeline.records.claim_key import PageRevision, key_of
from pipeline.records.record import Headers

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BUCKET, PREFIX = "claim-checks", "html-enrichment"


@dataclass
class Bucket:
    """As much of an S3 client as the sweep uses; two keys a page."""

    objects: dict[str, tuple[bytes, datetime]] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    down: bool = False
    may_read: bool = True
    calls: list[str] = field(default_factory=list)

    def put(
        self,
        payload: bytes,
        written: datetime = LONG_AGO,
        *,
        prefix: str = PREFIX,
        about: PageRevision | None = None,
    ) -> str:
        key = key_of(prefix, hashlib.sha256(payload).hexdigest(), about)
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
        if not self.may_read or Key not in self.objects:
            status = 404 if self.may_read else 403
            refused: Any = {"Error": {"Code": str(status)}, "ResponseMetadata": {"HTTPStatusCode": status}}
            raise ClientError(refused, "HeadObject")
        return {"LastModified": self.objects[Key][1], "Metadata": self.metadata.get(Key, {})}

    def put_object(
        self,
        *,
        Bucket: str,  # noqa: N803
        Key: str,  # noqa: N803
        Body: bytes,  # noqa: N803
        ContentType: str,  # noqa: N803
        Metadata: dict[str, str] | None = None,  # noqa: N803
    ) -> None:
        self._answer(Bucket)
        assert ContentType == "application/json"
        self.calls.append(f"put {Key}")
        self.objects[Key] = Body, LONG_AGO
        self.metadata[Key] = dict(Metadata or {})

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        self._answer(Bucket)
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey", "Message": "no such key"}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Key][0])}

    def list_objects_v2(self, *, Bucket: str, Prefix: str, MaxKeys: int) -> dict[str, Any]:  # noqa: N803
        self._answer(Bucket)
        found = sorted(key for key in self.objects if key.startswith(Prefix))[:MaxKeys]
        return {"Contents": [{"Key": key} for key in found]} if found else {"KeyCount": 0}

    def delete_object(self, *, Bucket: str, Key: str) -> None:  # noqa: N803
        """A store has no objection to what is not there."""
        self._answer(Bucket)
        self.calls.append(f"delete {Key}")
        self.objects.pop(Key, None)
        self.metadata.pop(Key, None)

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
