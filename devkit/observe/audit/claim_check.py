"""Resolves a claim check and verifies it: the object is there, with the length and hash that the record states.

A program removes the object where a later event deletes its page or hides its revision, and leaves a mark in its place.
"""

import hashlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING

import orjson
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.errors import PartError
from devkit.observe.audit.source_event import SourceEvent, place

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

CLAIM_HEADERS = "claim-check-"
"""How the names of their headers begin."""
KEY_HEADER = "claim-check-key"
_MARK = ".suppressed"
"""Ends the key of the mark of a claim check that the program has removed."""
_VISIBILITY_FLAGS = ("is_content_visible", "is_editor_visible", "is_comment_visible")


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
    """The payload. Raises ClaimError that says what is missing or differs, and StackError where the store fails."""
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


def may_suppress(events: Iterable[SourceEvent], by: str, event: SourceEvent) -> bool:
    """Whether the source event `by`, as `topic/partition/offset`, makes a program remove the claim check of `event`.

    A later event of the same page does so where it deletes the page or hides the revision. A hidden revision suppresses
    its child's output too, as the child's diff has its text.
    """
    later = next((candidate for candidate in events if place(candidate.position) == by), None)
    if later is None or (later.partition, later.key) != (event.partition, event.key):
        return False
    if later.entry.offset <= event.entry.offset:
        return False
    try:
        suppressing, suppressed = orjson.loads(later.value), orjson.loads(event.value)["revision"]
        if suppressing["page_change_kind"] == "delete":
            return True
        revision = suppressing["revision"]
        is_hidden = any(revision.get(flag) is False for flag in _VISIBILITY_FLAGS)
        return is_hidden and revision["rev_id"] in (suppressed["rev_id"], suppressed.get("rev_parent_id"))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False


def _mark(client: "S3Client", bucket: str, key: str) -> _Mark | None:
    """None where there is no mark, or one that cannot be read."""
    try:
        return _Mark.model_validate_json(client.get_object(Bucket=bucket, Key=key + _MARK)["Body"].read())
    except (BotoCoreError, ClientError, ValidationError):
        return None


def _is_of_store(error: BotoCoreError | ClientError) -> bool:
    if isinstance(error, ClientError):
        return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
    return not isinstance(error, ParamValidationError)  # such as a bucket that cannot be one
