"""Resolves a claim check and verifies it: the object is there, with the length and hash that the record states.

A program may have removed it, as a later event deleted its page or hid its revision: then a mark stands in its place.
"""

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.errors import PartError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

KEY_HEADER = "claim-check-key"
_MARK = ".suppressed"
"""Behind the key of a claim check that the program has removed, as a later event suppressed it."""


class ClaimError(Exception):
    """The claim check does not lead to its payload."""


class ClaimSuppressedError(ClaimError):
    """The program has removed it; `by` is the source event that it names, as `topic/partition/offset`."""

    def __init__(self, message: str, by: str) -> None:
        super().__init__(message)
        self.by = by


class _Mark(BaseModel):
    model_config = ConfigDict(frozen=True)

    suppressed: str
    by: str


def resolve_claim(client: "S3Client", headers: dict[str, bytes]) -> bytes:
    """The payload. Raises ClaimError that says what is missing or differs, and StackError where the store does not
    answer, which says nothing of the claim check.
    """
    try:
        bucket, key = headers["claim-check-bucket"].decode(), headers[KEY_HEADER].decode()
        length, sha256 = int(headers["claim-check-length"]), headers["claim-check-sha256"].decode()
    except (KeyError, ValueError) as error:
        raise ClaimError(f"headers are incomplete: {error!r}") from error
    try:
        payload = client.get_object(Bucket=bucket, Key=key)["Body"].read()
    except (BotoCoreError, ClientError) as error:
        if _is_of_store(error):
            raise PartError(f"claim check {bucket}/{key} could not be looked at: {error}", "object-store") from error
        if (mark := _mark(client, bucket, key)) is not None:
            text = f"{bucket}/{key} was removed with its {mark.suppressed}, suppressed by {mark.by}"
            raise ClaimSuppressedError(text, mark.by) from error
        raise ClaimError(f"{bucket}/{key} cannot be read: {error}") from error
    if len(payload) != length:
        raise ClaimError(f"{bucket}/{key} has {len(payload)} bytes, the record says {length}")
    if hashlib.sha256(payload).hexdigest() != sha256:
        raise ClaimError(f"{bucket}/{key} has another SHA-256 than the record says")
    return payload


def _mark(client: "S3Client", bucket: str, key: str) -> _Mark | None:
    """None where there is none, or one that says nothing: the first answer stands then."""
    try:
        return _Mark.model_validate_json(client.get_object(Bucket=bucket, Key=key + _MARK)["Body"].read())
    except (BotoCoreError, ClientError, ValidationError):
        return None


def _is_of_store(error: BotoCoreError | ClientError) -> bool:
    if isinstance(error, ClientError):
        return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
    return not isinstance(error, ParamValidationError)  # such as a bucket that cannot be one
