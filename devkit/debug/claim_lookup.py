"""A claim check by what a person has of it, and its payload, verified.

    KEY                       of the object, or the SHA-256 that ends it
    TOPIC/PARTITION/OFFSET    of the record, or of the source event it came from
    ID                        the record's own `meta.id`

By a key the payload has to hash to it; by a record it has to have the length and the hash that its headers state.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from devkit.errors import StackError, UsageError
from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.claim_check import KEY_HEADER, ClaimError, resolve_claim
from located_config.count import counted

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_KEY = re.compile(r"(?:.*/)?([0-9a-f]{64})")
_POSITION = re.compile(r"([A-Za-z0-9._-]+)/(\d+)/(\d+)", re.ASCII)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_FORMS = "a key or its SHA-256, TOPIC/PARTITION/OFFSET of the record or of its source event, or the record's meta.id"


@dataclass(frozen=True)
class ClaimPlace:
    """Where claim checks of a pipeline are, and how their keys begin."""

    bucket: str
    prefix: str


@dataclass(frozen=True)
class FoundClaim:
    """A payload that is what was promised; `where` is bucket and key."""

    where: str
    payload: bytes
    sha256: str


def find_claim(
    reference: str, client: "S3Client", place: ClaimPlace, records: Callable[[], Iterable[Arrival]]
) -> FoundClaim:
    """The claim check that `reference` means. `records` are read only when it names one.

    Raises UsageError when there is none, StackError when it does not hold what it should.
    """
    by_key, by_position, by_id = (form.fullmatch(reference) for form in (_KEY, _POSITION, _ID))
    if by_key:
        return _by_key(reference, by_key.group(1), client, place)
    if by_position:
        topic, partition, offset = by_position.groups()
        position = topic, int(partition), int(offset)
        return _by_record(reference, client, records(), lambda record: position in _positions(record))
    if by_id:
        return _by_record(reference, client, records(), lambda record: _id_of(record) == reference.lower())
    raise UsageError(f"{reference!r} names no claim check", hint=f"give {_FORMS}")


def _by_key(reference: str, sha256: str, client: "S3Client", place: ClaimPlace) -> FoundClaim:
    key = reference if reference != sha256 else _key_that_ends_in(sha256, client, place)
    where = f"{place.bucket}/{key}"
    try:
        answer = client.get_object(Bucket=place.bucket, Key=key)
        payload = answer["Body"].read()
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "NoSuchBucket", "404"):
            raise UsageError(
                f"there is no claim check {where}",
                hint="`devkit tail output` shows the keys; where the store has the key with .suppressed behind it, the "
                "program has removed it",
            ) from error
        raise StackError(f"{where} cannot be read: {error}") from error
    except BotoCoreError as error:
        raise StackError(f"{where} cannot be read: {error}") from error
    found = hashlib.sha256(payload).hexdigest()
    if found != sha256:
        raise StackError(f"{where} holds {counted(len(payload), 'byte')} with SHA-256 {found}: it is damaged")
    return FoundClaim(where, payload, found)


def _key_that_ends_in(sha256: str, client: "S3Client", place: ClaimPlace) -> str:
    """Below the prefix, at whatever page; what a key of older versions would be where there is none."""
    folder = place.prefix.strip("/")
    try:
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=place.bucket, Prefix=f"{folder}/" if folder else ""
        )
        found = (stored["Key"] for page in pages for stored in page.get("Contents", ()))
        key = next((key for key in found if key.endswith(f"/{sha256}")), None)
    except (BotoCoreError, ClientError) as error:
        raise StackError(f"bucket {place.bucket} cannot be listed: {error}") from error
    return key or "/".join(part for part in (folder, sha256[:2], sha256) if part)


def _by_record(
    reference: str, client: "S3Client", records: Iterable[Arrival], is_meant: Callable[[Arrival], bool]
) -> FoundClaim:
    looked_at = 0
    for record in records:
        looked_at += 1
        if not is_meant(record):
            continue
        if KEY_HEADER not in record.headers:
            raise UsageError(
                f"{record.topic}/{record.partition}/{record.offset} is no claim check",
                hint="its content stands in the record: `devkit tail output --full`",
            )
        try:
            payload = resolve_claim(client, record.headers)
        except ClaimError as error:
            raise StackError(
                f"the claim check of {record.topic}/{record.partition}/{record.offset}: {error}"
            ) from error
        where = f"{record.headers['claim-check-bucket'].decode()}/{record.headers[KEY_HEADER].decode()}"
        return FoundClaim(where, payload, record.headers["claim-check-sha256"].decode())
    raise UsageError(f"no record of {looked_at} in the output topic is {reference}", hint=f"give {_FORMS}")


def _positions(record: Arrival) -> tuple[tuple[str, int, int], ...]:
    own = record.topic, record.partition, record.offset
    return (own,) if record.source is None else (own, record.source)


def _id_of(record: Arrival) -> str | None:
    try:
        return str(json.loads(record.value)["meta"]["id"]).lower()
    except (ValueError, KeyError, TypeError):
        return None
