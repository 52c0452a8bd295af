"""Resolves a claim check and verifies it: the object is there, with the length and hash that the record states."""

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from devkit.errors import PartError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

KEY_HEADER = "claim-check-key"
_MARK = ".suppressed"
"""Behind the key of a claim check that the program has removed, as a later event suppressed it."""


class ClaimError(Exception):
    """The claim check does not lead to its payload."""


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
        raise ClaimError(_why_missing(client, bucket, key) or f"{bucket}/{key} cannot be read: {error}") from error
    if len(payload) != length:
        raise ClaimError(f"{bucket}/{key} has {len(payload)} bytes, the record says {length}")
    if hashlib.sha256(payload).hexdigest() != sha256:
        raise ClaimError(f"{bucket}/{key} has another SHA-256 than the record says")
    return payload


def _why_missing(client: "S3Client", bucket: str, key: str) -> str | None:
    try:
        mark = client.get_object(Bucket=bucket, Key=key + _MARK)["Body"].read()
    except (BotoCoreError, ClientError):
        return None
    return f"{bucket}/{key} was removed, as it was suppressed: {mark[:200].decode(errors='replace')}"


def _is_of_store(error: BotoCoreError | ClientError) -> bool:
    if isinstance(error, ClientError):
        return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
    return not isinstance(error, ParamValidationError)  # such as a bucket that cannot be one
