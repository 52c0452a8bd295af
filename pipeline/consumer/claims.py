"""Resolves a claim check: the payload from the object store, verified by length and SHA-256 before anybody reads it.

The record says bucket and key. Only the configured bucket is asked, and only for a key that is made of the hash, so
that no record sends the consumer's credentials elsewhere.
"""

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.consumer.delivery import UnreadableOutputError
from pipeline.errors import PipelineError
from pipeline.records.claim_check import Claim, store_client

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class Claims:
    """Credentials come from the environment, as for any S3 client."""

    def __init__(self, config: ClaimCheck) -> None:
        self._config = config

    def resolve(self, claim: Claim, place: str) -> bytes:
        """The payload. Raises UnreadableOutputError when it is not what the record at `place` says, PipelineError when
        the store does not give it.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        named = f"claim check {claim.bucket}/{claim.key} of record {place}"
        digits = claim.sha256
        if claim.bucket != self._config.bucket or not f"/{claim.key}".endswith(f"/{digits[:2]}/{digits}"):
            raise UnreadableOutputError(
                f"{named} is not where this job puts one", hint=f"claim_check.bucket is {self._config.bucket}"
            )
        try:
            body = self._client.get_object(Bucket=claim.bucket, Key=claim.key)["Body"]
            # One byte more is enough to know that it is too long.
            payload = body.read(claim.length_bytes + 1)
        except (BotoCoreError, ClientError) as error:
            raise PipelineError(
                f"{named} cannot be read: {error}",
                hint="is the store at claim_check.endpoint, and has a lifecycle rule removed what is this old?",
            ) from error
        if len(payload) != claim.length_bytes or hashlib.sha256(payload).hexdigest() != claim.sha256:
            more = "more than " if len(payload) > claim.length_bytes else ""
            raise UnreadableOutputError(
                f"{named} is not its payload: {more}{min(len(payload), claim.length_bytes)} bytes with another SHA-256 "
                f"or length than the {claim.length_bytes} bytes it says",
                hint="the object was overwritten or cut off; a replay of the source event writes it again",
            )
        return payload

    @cached_property
    def _client(self) -> "S3Client":
        return store_client(self._config)
