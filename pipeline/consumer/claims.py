"""Resolves a claim check: the payload from the object store, verified by length and SHA-256 before anybody reads it.

The record says bucket and key. Only the configured bucket is asked, and only for a key that is made of the hash, so
that no record sends the consumer's credentials elsewhere.

A payload that the job removed, as a later event suppressed it, has left a mark in its place: that is an answer, and no
error.
"""

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.consumer.delivery import UnreadableOutputError
from pipeline.errors import PipelineError
from pipeline.records.claim_check import Claim, store_client
from pipeline.records.claim_key import mark_of, names_hash
from pipeline.records.suppression import Scope

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_MISSING = ("NoSuchKey", "404")
_MOST_MARK_BYTES = 4096


class Suppressed(BaseModel):
    """A payload that was removed: what was `suppressed`, and `by` which source event."""

    model_config = ConfigDict(frozen=True)

    suppressed: Scope
    by: str


class Claims:
    """Credentials come from the environment, as for any S3 client."""

    def __init__(self, config: ClaimCheck) -> None:
        self._config = config

    def resolve(self, claim: Claim, place: str) -> bytes | Suppressed:
        """The payload, or what says that it was removed. Raises UnreadableOutputError when it is not what the record at
        `place` says, PipelineError when the store does not give it.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        subject = f"claim check {claim.bucket}/{claim.key} of record {place}"
        if claim.bucket != self._config.bucket or not names_hash(claim.key, claim.sha256):
            raise UnreadableOutputError(
                f"{subject} is not where this job puts one", hint=f"claim_check.bucket is {self._config.bucket}"
            )
        try:
            body = self._client.get_object(Bucket=claim.bucket, Key=claim.key)["Body"]
            # One byte more is enough to know that it is too long.
            payload = body.read(claim.length_bytes + 1)
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in _MISSING:
                mark = self._mark(claim, subject)
                if mark is not None:
                    return mark
            raise PipelineError(
                f"{subject} cannot be read: {error}",
                hint="is the store at claim_check.endpoint, and has a lifecycle rule removed what is this old?",
            ) from error
        if len(payload) != claim.length_bytes or hashlib.sha256(payload).hexdigest() != claim.sha256:
            at_least = "more than " if len(payload) > claim.length_bytes else ""
            raise UnreadableOutputError(
                f"{subject} is not its payload: {at_least}{min(len(payload), claim.length_bytes)} bytes with another "
                f"SHA-256 or length than the {claim.length_bytes} bytes it says",
                hint="the object was overwritten or cut off; a replay of the source event writes it again",
            )
        return payload

    def _mark(self, claim: Claim, subject: str) -> Suppressed | None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client.get_object(Bucket=claim.bucket, Key=mark_of(claim.key))
            return Suppressed.model_validate_json(answer["Body"].read(_MOST_MARK_BYTES))
        except ValidationError as error:
            raise UnreadableOutputError(
                f"{subject} is gone, and {mark_of(claim.key)} in its place does not say why: "
                f"{error.errors()[0]['msg']}",
                hint="the object was overwritten; a replay of the source event writes the claim check again",
            ) from error
        except (BotoCoreError, ClientError):
            return None  # the first answer stands

    @cached_property
    def _client(self) -> "S3Client":
        return store_client(self._config)
