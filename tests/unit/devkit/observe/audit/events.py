"""A small world for the audit: source events, the truth about their pages, and records that leave the pipeline."""

import hashlib
import uuid
from difflib import unified_diff
from types import SimpleNamespace
from typing import Any, cast

import orjson

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.html_truth import HtmlTruth
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.records import Expected, Fate, PageRef
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.schemas import HTML_CHANGE_URI

SOURCE, OUTPUT, ERROR = "page_change", "enriched", "enrich.error"
NO_REVISION = 999
"""Of an event for which nothing is fetched."""


def truth(wiki: str, revision: int) -> str:
    """The HTML of a revision."""
    return f"<html>\n<p>{wiki}</p>\n<p>revision {revision}</p>\n</html>\n"


def no_body(wiki: str, path: str) -> bytes:
    raise AssertionError(f"html-enrichment fetches HTML alone, and not {path}")


CONFIG = cast(PipelineConfig, SimpleNamespace(sink=SimpleNamespace(topic=OUTPUT)))
TRUTH = HtmlTruth(CONFIG, WikiAnswers(html=truth, body=no_body))


def source_event(
    offset: int,
    *,
    fate: Fate = "output",
    reason: str | None = None,
    page: int = 1,
    partition: int = 0,
    latest: int | None = 20,
    parent: int | None = 10,
    **stated: Any,
) -> SourceEvent:
    """An edit of a page by default: its output has the HTML of `latest` and the diff to `parent`."""
    value = orjson.dumps(
        {
            "$schema": "/mediawiki/page/change/1.2.0",
            "meta": {"id": f"id-{partition}-{offset}", "stream": SOURCE, "dt": "2026-06-01T00:00:00Z"},
            "dt": "2026-06-01T00:00:00Z",
            "wiki_id": "enwiki",
            "page_change_kind": "edit",
            "page": {"page_id": page},
            "revision": {
                "rev_id": NO_REVISION if latest is None else latest,
                "content_slots": {"main": {"content_model": "wikitext"}},
            },
        }
    )
    expected = Expected(
        fate=fate,
        reason=reason,
        page=PageRef(wiki="enwiki", page_id=page, title="X") if fate == "output" else None,
        latest_revision=latest if fate == "output" else None,
        parent_revision=parent if fate == "output" else None,
        **stated,
    )
    entry = ManifestEntry(topic=SOURCE, partition=partition, offset=offset, expected=expected)
    return SourceEvent(entry, f"page {page}".encode(), value)


def derived(event: SourceEvent) -> str:
    """The id of its output."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{event.entry.partition}-{event.entry.offset}"))


def enriched(event: SourceEvent, **changes: Any) -> dict[str, Any]:
    """The output of an event as it must be; `changes` replace its top-level keys, None removes one."""
    output = orjson.loads(event.value)
    output["meta"] |= {"stream": OUTPUT, "id": derived(event)}
    output["$schema"] = HTML_CHANGE_URI
    expected = event.entry.expected
    if expected.latest_revision is not None:
        after = truth("enwiki", expected.latest_revision)
        output["revision"]["content_slots"]["main"]["content_body"] = after
        if expected.parent_revision is not None:
            before = truth("enwiki", expected.parent_revision)
            body = "".join(unified_diff(before.splitlines(True), after.splitlines(True), "a", "b"))
            output["html_diff"] = {"base_rev_id": expected.parent_revision, "format": "unified", "body": body}
    output |= changes
    return {key: value for key, value in output.items() if value is not None}


def without_bodies(event: SourceEvent) -> dict[str, Any]:
    """What a record says beside a claim check."""
    output = enriched(event, html_diff=None)
    del output["revision"]["content_slots"]["main"]["content_body"]
    return output


def claim_headers(payload: bytes, **changes: str) -> dict[str, bytes]:
    stated = {
        "bucket": "claims",
        "key": "payload",
        "length": str(len(payload)),
        "sha256": hashlib.sha256(payload).hexdigest(),
    } | changes
    return {f"claim-check-{name}": value.encode() for name, value in stated.items()}


def arrival(
    event: SourceEvent | None,
    value: dict[str, Any] | bytes,
    *,
    at: int = 0,
    topic: str = OUTPUT,
    headers: dict[str, bytes] | None = None,
    timestamp_ms: int = 0,
) -> Arrival:
    """A record at an offset of a topic that says it came from `event`."""
    raw = value if isinstance(value, bytes) else orjson.dumps(value)
    source, key = (event.position, event.key) if event else (None, None)
    return Arrival(topic, 0, at, raw, headers or {}, source, timestamp_ms, key)


def output_of(event: SourceEvent, *, at: int = 0, timestamp_ms: int = 0, **changes: Any) -> Arrival:
    return arrival(event, enriched(event, **changes), at=at, timestamp_ms=timestamp_ms)


def error_of(event: SourceEvent, *, at: int = 0, error_type: str | None = None, timestamp_ms: int = 0) -> Arrival:
    value = {"error_type": error_type or event.entry.expected.reason or "timeout", "message": "no"}
    return arrival(event, value, at=at, topic=ERROR, timestamp_ms=timestamp_ms)
