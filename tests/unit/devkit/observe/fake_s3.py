"""An object store in a dictionary, with as much of boto3's client as the kit uses."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError


@dataclass
class FakeS3:
    """`broken` makes every call fail as a store that is gone does. Counts `reads`."""

    objects: dict[tuple[str, str], bytes] = field(default_factory=dict)
    broken: bool = False
    reads: int = 0

    def put(self, bucket: str, key: str, body: bytes | str) -> None:
        self.objects[bucket, key] = body.encode() if isinstance(body, str) else body

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        self._answer()
        self.reads += 1
        if (Bucket, Key) not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey", "Message": "no such key"}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Bucket, Key])}

    def delete_object(self, *, Bucket: str, Key: str) -> None:  # noqa: N803
        self._answer()
        self.objects.pop((Bucket, Key), None)

    def delete_objects(self, *, Bucket: str, Delete: dict[str, Any]) -> None:  # noqa: N803
        self._answer()
        assert len(Delete["Objects"]) <= 1000, "S3 takes no more at once"
        for one in Delete["Objects"]:
            self.objects.pop((Bucket, one["Key"]), None)

    def get_paginator(self, operation: str) -> "FakeS3":
        assert operation == "list_objects_v2"
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> Iterator[dict[str, Any]]:  # noqa: N803
        """Two keys a page; no `Contents` where there are none, as S3 does it."""
        self._answer()
        keys = sorted(key for bucket, key in self.objects if bucket == Bucket and key.startswith(Prefix))
        if not keys:
            yield {"KeyCount": 0}
        for start in range(0, len(keys), 2):
            yield {"Contents": [{"Key": key} for key in keys[start : start + 2]]}

    def _answer(self) -> None:
        if self.broken:
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
