"""A page change event as it was read: validated once, then known by the few fields that decide what happens to it.

`$schema` says by which version: that which is stated in `pipeline.schemas` in all its fields, another minor version in
those that are used here. Fields that are unknown are passed on. Nothing is lost on bad input: what does not fit raises
InvalidEventError, whose failure becomes an error event.
"""

import json  # beside orjson, which reads an integer beyond 64 bits as a float
import re
import uuid
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from pipeline.records.claim_key import PageRevision
from pipeline.records.error_event import Failure
from pipeline.records.event_id import event_id_in
from pipeline.schemas import (
    PAGE_CHANGE_MAJOR,
    PAGE_CHANGE_NAME,
    PAGE_CHANGE_URI,
    known_fields_validator,
    used_fields_validator,
)

Kind = Literal["create", "edit", "move", "delete", "undelete", "visibility_change"]

_EXCERPT_BYTES = 120
_MOST_DIGITS = 20
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:source-event")
_VERSION = re.compile(rf"{PAGE_CHANGE_NAME}/([0-9]{{1,9}})\.[0-9]{{1,9}}\.[0-9]{{1,9}}")


class InvalidEventError(Exception):
    """A message that is no page change event; carries the failure for its error event."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class PageChange:
    """One event. `raw` is the whole of it, in the source's order of fields, and is never changed in place. `event_id`
    is made of its position where it has none.
    """

    raw: dict[str, Any]
    event_id: str
    domain: str | None
    wiki_id: str
    page_id: int
    kind: Kind
    rev_id: int
    parent_id: int | None
    content_visible: bool
    content_model: str | None

    @property
    def own_id(self) -> str | None:
        """Its id, None where it has none."""
        return event_id_in(self.raw)

    @property
    def page_key(self) -> bytes:
        """The key of the page's events, as their stream has it."""
        return orjson.dumps({"wiki_id": self.wiki_id, "page_id": self.page_id})

    @property
    def page_revision(self) -> PageRevision:
        """Which revision it is about."""
        return PageRevision(self.wiki_id, self.page_id, self.rev_id, self.parent_id)

    def request_id(self, role: str) -> str:
        """`X-Request-Id` of a fetch, the same for all its attempts; `role` says what is fetched."""
        return f"{self.event_id}:{role}"


def parse(value: bytes | None, position: str) -> PageChange:
    """The event in a message; `position` names it where the event has no id of its own.

    Raises InvalidEventError with `malformed_json`, `schema_violation`, `unknown_schema` or `unknown_schema_version`.
    """
    try:
        document = orjson.loads(value or b"")
    except orjson.JSONDecodeError as error:
        excerpt = (value or b"")[:_EXCERPT_BYTES].decode(errors="replace")
        raise InvalidEventError(
            Failure(
                "malformed_json", f"message of {len(value or b'')} bytes is not JSON: {error}; it begins {excerpt!r}"
            )
        ) from error
    try:
        encoded = orjson.dumps(document)
    except orjson.JSONEncodeError as error:
        # What can be read may be nested too deeply to be written, or for the validator.
        raise InvalidEventError(
            Failure("malformed_json", f"message of {len(value or b'')} bytes cannot be passed on: {error}")
        ) from error
    uri = _read_by(document)
    validator = known_fields_validator() if uri == PAGE_CHANGE_URI else used_fields_validator()
    for violation in validator.iter_errors(document):
        place = "/".join(str(step) for step in violation.instance_path) or "(top)"
        raise InvalidEventError(
            Failure("schema_violation", f"not a {uri} event at {place[:200]}: {violation.message[:250]}")
        )
    # So large a float is written with an exponent; in texts the two characters are rare.
    if b"e+" in encoded and (integer := _beyond_64_bits(value or b"")):
        text = f"message of {len(value or b'')} bytes cannot be passed on: {integer} is beyond 64 bits"
        raise InvalidEventError(Failure("malformed_json", text))
    revision = document["revision"]
    slot = revision.get("content_slots", {}).get("main", {})
    return PageChange(
        raw=document,
        event_id=event_id_in(document) or str(uuid.uuid5(_NAMESPACE, position)),
        domain=document["meta"].get("domain"),
        wiki_id=document["wiki_id"],
        # To JSON Schema 5.0 is an integer too.
        page_id=int(document["page"]["page_id"]),
        kind=cast("Kind", document["page_change_kind"]),
        rev_id=int(revision["rev_id"]),
        # MediaWiki's 0 says that there is no parent.
        parent_id=int(revision.get("rev_parent_id", 0)) or None,
        content_visible=revision.get("is_content_visible", True),
        content_model=slot.get("content_model"),
    )


def schema_of(value: bytes | None) -> str:
    """The version of the schema that the event in a message names; the one stated here where it names none."""
    try:
        document = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return PAGE_CHANGE_URI
    schema = document.get("$schema") if isinstance(document, dict) else None
    return schema if isinstance(schema, str) and _VERSION.fullmatch(schema) else PAGE_CHANGE_URI


def _beyond_64_bits(value: bytes) -> str | None:
    """The first such integer, shortened, in what is JSON; it would leave as a float, which is another number."""
    beyond: list[str] = []

    def look(text: str) -> int:
        if len(text.lstrip("-")) > _MOST_DIGITS or not -(2**63) <= int(text) < 2**64:
            beyond.append(text if len(text) <= _EXCERPT_BYTES else f"{text[:_EXCERPT_BYTES]}…")
        return 0

    json.loads(value.decode(), parse_int=look)
    return beyond[0] if beyond else None


def _read_by(document: object) -> str:
    """The schema that an event is validated by. Raises InvalidEventError when it names one that cannot be read."""
    schema = document.get("$schema") if isinstance(document, dict) else None
    if not isinstance(schema, str):
        return PAGE_CHANGE_URI  # whose validator says what is wrong
    version = _VERSION.fullmatch(schema)
    if version is None:
        raise InvalidEventError(Failure("unknown_schema", f"event of {schema[:200]!r}, not of {PAGE_CHANGE_NAME}"))
    if int(version[1]) != PAGE_CHANGE_MAJOR:
        text = f"event of {schema}, of which major version {PAGE_CHANGE_MAJOR} can be read"
        raise InvalidEventError(Failure("unknown_schema_version", text))
    return schema
