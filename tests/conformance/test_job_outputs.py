"""What the jobs publish against the schemas that Wikimedia published, over generated traffic of every kind.

An output names the version of page change that its source event had; that of html-enrichment, with its diff, names our
own schema. A later minor version is made here by adding a field to the published one.

Where the published files do not stand beside the checkout, the schemas stated here take their place; that those are
the same is for `test_schemas`.
"""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import orjson
import pytest
import yaml

from devkit.traffic.generate import generate
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import SourceRecord
from pipeline import schemas
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.route import HTML, Head, Route
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.message import Outcome, SourceMessage
from pipeline.jobs.registry import JOBS
from pipeline.records.claim_check import ClaimStore
from pipeline.records.error_event import Failure
from pipeline.records.record import Position, Record

ROOMS = ("pipeline/jobs", "pipeline/records", "pipeline/schemas", "devkit/traffic")
PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "schemas"
WHEN = datetime(2026, 3, 2, 9, tzinfo=UTC)
SPEC = TrafficSpec(
    seed=5,
    rate="20/s",
    for_="15s",
    mix=Mix(create=0.15, move=0.1, delete=0.15, undelete=0.1, visibility_change=0.2, canary=0.05, not_schema=0.03),
)
GONE_EACH = 7
LATER, LATER_URI = "added_later", "/mediawiki/page/change/1.3.0"


class Upstream:
    """Every seventh revision is gone, of all others there is some text."""

    def deadline(self, limit_s: float) -> Deadline:
        return Deadline(limit_s, lambda: 0.0)

    def hold(self, count: int) -> bool:
        return count > 0

    async def fetch(
        self,
        wiki_id: str,
        rev_id: int,
        *,
        request_id: str,
        deadline: Deadline,
        route: Route = HTML,
        compressed: bool = False,
    ) -> FetchedText:
        if rev_id % GONE_EACH == 0:
            raise FetchFailedError(Failure("revision_not_found", f"revision {rev_id} of {wiki_id}"))
        text = f"<p>{rev_id} ä</p>\n"
        slot = {"contentmodel": "wikitext", "content": text}
        query = {"pages": [{"revisions": [{"revid": rev_id, "slots": {"main": slot}}]}]}
        body = text if route is HTML else orjson.dumps({"query": query}).decode()
        return FetchedText(route.read(rev_id, Head("text/html", str(rev_id)), body), len(body))


def _schema(published: str, ours: str) -> dict[str, Any]:
    path = PUBLISHED / published
    if path.is_file():
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        # Its metaschema address is one that no validator knows.
        return {key: value for key, value in loaded.items() if key != "$schema"}
    stated: dict[str, Any] = orjson.loads((Path(schemas.__file__).parent / ours).read_bytes())
    return stated


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(schema, validate_formats=True)


def _outcomes(config: PipelineConfig, records: tuple[SourceRecord, ...]) -> list[Outcome]:
    client = cast("WikiClient", Upstream())
    job = Enrichment(config, JOBS[config.job](config, client), client, ClaimStore(config.claim_check))

    async def all_of_them() -> list[Outcome]:
        return [
            await job.process(SourceMessage(Position("source", 0, at), record.key, record.value, WHEN), limit_s=1)
            for at, record in enumerate(records)
        ]

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("name", ["content-enrichment", "html-enrichment"])
def test_every_output_is_a_page_change_and_every_error_event_an_error(name: str) -> None:
    config = PipelineConfig.model_validate(
        {
            "job": name,
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": "unused",
        }
    )
    records = tuple(
        _of_a_later_version(record) if record.index % 3 == 0 else record for record in generate(SPEC).records
    )
    page_change, later = (_schema("mediawiki/page/change/1.2.0.yaml", "page_change.json") for _ in range(2))
    later["properties"][LATER] = {"type": "object"}
    by_name = {
        schemas.PAGE_CHANGE_URI: _validator(page_change),
        LATER_URI: _validator(later),
        schemas.HTML_CHANGE_URI: schemas.html_change_validator(),
    }
    error = _validator(_schema("error/2.1.0.yaml", "error.json"))
    seen: Counter[str] = Counter()
    for record, outcome in zip(records, _outcomes(config, records), strict=True):
        if outcome is None:
            seen["filtered"] += 1
            continue
        assert isinstance(outcome, Record)
        value = orjson.loads(outcome.value)
        assert value["meta"]["stream"] == outcome.topic
        if outcome.topic == config.sink.error_topic:
            error.validate(value)
            seen[value["error_type"]] += 1
        else:
            source = orjson.loads(record.value)
            by_name[value["$schema"]].validate(value)
            assert value["$schema"] == (schemas.HTML_CHANGE_URI if name == "html-enrichment" else source["$schema"])
            assert value.get(LATER) == source.get(LATER)
            seen[source["$schema"]] += 1
            body = _body(value)
            seen[f"{value['page_change_kind']} {'with' if body else 'without'} content"] += 1
            assert body is None or str(value["revision"]["rev_id"]) in body
            assert _without_what_is_added(value) == _without_what_is_added(source)
    kinds = ("create", "edit", "move", "undelete", "visibility_change")
    assert {f"{kind} with content" for kind in kinds} <= set(seen)
    assert {"delete without content", "visibility_change without content"} <= set(seen)
    assert {"filtered", "revision_not_found", "schema_violation", "malformed_json"} <= set(seen)
    assert "delete with content" not in seen
    assert {schemas.PAGE_CHANGE_URI, LATER_URI} <= set(seen)


def _of_a_later_version(record: SourceRecord) -> SourceRecord:
    """As a producer would write it after a minor version that has one more field; what is no event stays as it is."""
    if record.expected.fate == "error":
        return record
    event = orjson.loads(record.value) | {"$schema": LATER_URI, LATER: {"parts": [1, 2]}}
    return replace(record, value=orjson.dumps(event))


def _body(event: dict[str, Any]) -> str | None:
    body: str | None = event["revision"].get("content_slots", {}).get("main", {}).get("content_body")
    return body


def _without_what_is_added(event: dict[str, Any]) -> dict[str, Any]:
    slots = event["revision"].get("content_slots", {})
    bare = {role: {key: slot[key] for key in slot if key != "content_body"} for role, slot in slots.items()}
    meta = {key: value for key, value in event["meta"].items() if key not in ("id", "stream", "dt")}
    event = {name: value for name, value in event.items() if name not in ("$schema", "html_diff")}
    return event | {"meta": meta, "revision": event["revision"] | {"content_slots": bare}}
