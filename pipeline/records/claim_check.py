"""Claim checks: a payload too large for a record goes to the object store, its reference into Kafka headers.

The payload is the value the record would have had. Its key is its SHA-256, so a replay writes the same object again
and nothing else; it is written before the event that names it.
"""

import hashlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.config import ClaimCheck
from pipeline.records.record import Headers

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

CONTENT_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Claim:
    """Where a payload is, and how to know that it is the right one."""

    bucket: str
    key: str
    length_bytes: int
    sha256: str

    def headers(self) -> Headers:
        return (
            ("claim-check-bucket", self.bucket.encode()),
            ("claim-check-key", self.key.encode()),
            ("claim-check-length", str(self.length_bytes).encode()),
            ("claim-check-sha256", self.sha256.encode()),
            ("claim-check-content-type", CONTENT_TYPE.encode()),
        )


class ClaimStore:
    """Writes payloads. Credentials come from the environment, as for any S3 client. Blocking: call it in a thread."""

    def __init__(self, config: ClaimCheck) -> None:
        self._config = config
        self._client: S3Client | None = None
        # boto3's clients may be shared by threads, but not made by two at once.
        self._connecting = threading.Lock()

    def put(self, payload: bytes) -> Claim:
        """Store a payload; returns when the store has acknowledged it. Raises botocore's errors."""
        digest = hashlib.sha256(payload).hexdigest()
        prefix = self._config.prefix.strip("/")
        key = f"{prefix}/{digest[:2]}/{digest}" if prefix else f"{digest[:2]}/{digest}"
        self._connected().put_object(Bucket=self._config.bucket, Key=key, Body=payload, ContentType=CONTENT_TYPE)
        return Claim(self._config.bucket, key, len(payload), digest)

    def _connected(self) -> "S3Client":
        with self._connecting:
            if self._client is None:
                import boto3  # slow to import, and most workers never store a payload
                from botocore.config import Config

                self._client = boto3.client(
                    "s3",
                    endpoint_url=self._config.endpoint,
                    region_name=self._config.region,
                    config=Config(
                        s3={"addressing_style": "path"}, retries={"mode": "standard", "total_max_attempts": 5}
                    ),
                )
            return self._client
