"""What must become of an event, from what stands in it: of one that was made here, and of one that was captured.

Which revisions' HTML an output must hold:

    edit, move                                      the new revision, and its parent for the diff
    create, undelete, change that leaves it visible  the page's latest revision
    delete, content hidden                          none: the event passes without a fetch

It is stated for `html-enrichment`; what another job does otherwise, its truth knows (`devkit.observe.expected_output`).
"""

import json  # beside orjson, which reads an integer beyond 64 bits as a float
import re
from collections.abc import Mapping
from typing import Any

import orjson

from devkit.traffic.canary import CANARY_DOMAIN
from devkit.traffic.records import Expected, PageRef
from pipeline.schemas import (
    PAGE_CHANGE_MAJOR,
    PAGE_CHANGE_NAME,
    PAGE_CHANGE_URI,
    known_fields_validator,
    used_fields_validator,
)

_VERSION = re.compile(rf"{PAGE_CHANGE_NAME}/([0-9]{{1,9}})\.[0-9]{{1,9}}\.[0-9]{{1,9}}")
_MANY_DIGITS = re.compile(rb"[0-9]{19}")
_WITH_PARENT = ("edit", "move")
_WIKITEXT = "wikitext"


def fate_of_value(value: bytes) -> Expected:
    """How a message ends, whatever it is."""
    try:
        event = orjson.loads(value)
        orjson.dumps(event)  # which refuses what is nested too deeply
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return Expected(fate="error", reason="malformed_json")
    if (reason := _misfit(event)) is not None:
        return Expected(fate="error", reason=reason, event_id=_id(event))
    if _is_beyond_64_bits(value):
        return Expected(fate="error", reason="malformed_json", event_id=_id(event))
    return fate_of(event)


def fate_of(event: Mapping[str, Any]) -> Expected:
    """How an event ends that fits its schema."""
    page, revision, kind = event["page"], event["revision"], event["page_change_kind"]
    event_id, is_visible = event["meta"].get("id"), revision.get("is_content_visible", True)
    if event["meta"].get("domain") == CANARY_DOMAIN:
        return Expected(fate="filtered", reason="canary", event_id=event_id)
    ref = PageRef(wiki=event["wiki_id"], page_id=int(page["page_id"]), title=page["page_title"])
    model = revision.get("content_slots", {}).get("main", {}).get("content_model")
    passes = kind == "delete" or not is_visible
    if not (passes if model is None else model == _WIKITEXT):
        return Expected(fate="filtered", reason="content_model", event_id=event_id, page=ref)
    if passes:
        return Expected(fate="output", event_id=event_id, page=ref)
    return Expected(
        fate="output",
        event_id=event_id,
        page=ref,
        latest_revision=int(revision["rev_id"]),
        # MediaWiki's 0 says that there is no parent.
        parent_revision=(int(revision.get("rev_parent_id", 0)) or None) if kind in _WITH_PARENT else None,
    )


def _misfit(event: Any) -> str | None:
    """The error type of JSON that no job can read; None where it can."""
    named = event.get("$schema") if isinstance(event, dict) else None
    validator = known_fields_validator()
    if isinstance(named, str) and named != PAGE_CHANGE_URI:
        version = _VERSION.fullmatch(named)
        if version is None:
            return "unknown_schema"
        if int(version[1]) != PAGE_CHANGE_MAJOR:
            return "unknown_schema_version"
        validator = used_fields_validator()
    return None if validator.is_valid(event) else "schema_violation"


def _is_beyond_64_bits(value: bytes) -> bool:
    """Whether JSON has an integer that is neither a signed nor an unsigned one of 64 bits: few programs can read it as
    the number that it is.
    """
    if not _MANY_DIGITS.search(value):
        return False
    beyond = False

    def look(digits: str) -> int:
        nonlocal beyond
        # Python refuses to read a number of thousands of digits.
        beyond = beyond or len(digits) > 20 or not -(2**63) <= int(digits) < 2**64
        return 0

    json.loads(value, parse_int=look)
    return beyond


def _id(event: Any) -> str | None:
    meta = event.get("meta") if isinstance(event, dict) else None
    event_id = meta.get("id") if isinstance(meta, dict) else None
    return event_id if isinstance(event_id, str) else None
