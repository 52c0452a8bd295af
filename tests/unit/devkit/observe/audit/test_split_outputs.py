"""The audit of outputs that take several records: mutations of generated operations, and what breaks them."""

import asyncio
import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.output_parts import OutputParts
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange
from devkit.observe.expected_output.rdf_truth import RdfTruth
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.observe.wikibase.entity_triples import entity_triples
from devkit.traffic.all_streams import generate_all
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.model import TrafficSpec
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, WikiClient
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.rdf_resolve import RdfResolveJob
from pipeline.records.claim_check import ClaimStore
from pipeline.records.error_event import Failure
from pipeline.records.record import Position as RecordPosition
from pipeline.records.record import Record
from tests.unit.mockapi.wiki.wikibase.conftest import entity_at
from tests.unit.pipeline.jobs.conftest import FakeClaims, FakeClient

TOPIC, OUTPUT = "operations", "rdf-streaming-updater.mutation"
SPEC = {"seed": 3, "rate": "10/s", "for": "1s", "population": 3, "generator": "wikibase_change"}
OTHER_TRIPLE = {"mime_type": "text/turtle", "data": "<a:b> <a:c> <a:d> ."}
MIX = {"not_json": 0, "not_schema": 0, "delete": 0.2}
CONFIG = PipelineConfig.model_validate(
    {
        "job": "rdf-resolve",
        "source": {"bootstrap_servers": "127.0.0.1:1", "topic": TOPIC},
        "sink": {"bootstrap_servers": "127.0.0.1:1"},
        "mediawiki": {"endpoint": "http://127.0.0.1:1"},
        "checkpoint": "unused",
        "rdf": {"keep_last": 0, "chunk_characters": 20_000},
    }
)


def document(entity: str, rev: int, form: Any) -> bytes:
    """An entity's page id does not matter to what is drawn of it; its revisions are counted from 1."""
    return EntityRdf(form).write(9, entity_at(entity, rev % 4096))


class Wiki(FakeClient):
    async def fetch(self, wiki_id: str, rev_id: int, **request: Any) -> FetchedText:
        entity = request["route"].path(rev_id).partition(".ttl")[0].rpartition("/")[2]
        return FetchedText(document(entity, rev_id, "ttl").decode(), None)


def body(_wiki: str, path: str) -> bytes:
    entity, _, query = path.rpartition("/")[2].partition(".nt?")
    return document(entity, int(query.rpartition("=")[2]), "nt")


TRUTH = RdfTruth(CONFIG, WikiAnswers(html=lambda *_: "", body=functools.cache(body)))


@dataclass(frozen=True)
class Played:
    events: tuple[SourceEvent, ...]
    records: tuple[Arrival, ...]


def resolver() -> Enrichment[Any, Any]:
    client = Wiki()
    job = RdfResolveJob(CONFIG, cast(WikiClient, client), lambda: datetime(2026, 3, 3, tzinfo=UTC))
    return Enrichment(CONFIG, job, cast(WikiClient, client), cast(ClaimStore, FakeClaims()))


@pytest.fixture(scope="module")
def played() -> Played:
    """Ten operations, and the records that the job makes of them, one behind the other."""
    enrichment = resolver()
    wikis = {"wikidatawiki": "www.wikidata.org"}
    traffic = generate_all(TrafficSpec.model_validate({**SPEC, "mix": MIX, "wikis": wikis}))
    events, arrivals = [], list[Arrival]()
    for offset, record in enumerate(traffic.records):
        entry = ManifestEntry(topic=TOPIC, partition=0, offset=offset, expected=record.expected)
        events.append(SourceEvent(entry, record.key, record.value))
        message = SourceMessage(RecordPosition(TOPIC, 0, offset), record.key, record.value, datetime.now(UTC))
        output = asyncio.run(enrichment.process(message, limit_s=5))
        assert isinstance(output, Record)
        assert output.topic == OUTPUT, output.value
        arrivals += [arrival(part, (TOPIC, 0, offset)) for part in output.all]
    return Played(tuple(events), tuple(arrivals))


def arrival(record: Record, source: Position) -> Arrival:
    return Arrival(OUTPUT, 0, 0, record.value, dict(record.headers), source, 0, record.key)


def audit(played: Played, records: list[Arrival], replays: Replays = NO_REPLAYS) -> Audit:
    held = DeliveryAudit(played.events, truth=TRUTH, resolve=lambda _: b"")
    for offset, record in enumerate(records):
        held.add_output(replace(record, offset=offset))
    return held.finish({(TOPIC, 0): len(played.events)}, replays=replays)


def parts_of_one(played: Played) -> list[int]:
    """The places of the records of an event that has at least three."""
    places: dict[Any, list[int]] = {}
    for index, record in enumerate(played.records):
        places.setdefault(record.source, []).append(index)
    return next(indices for indices in places.values() if len(indices) > 2)


def test_all_parts_together_are_the_output(played: Played) -> None:
    figures = audit(played, [*played.records])
    assert len(played.records) > len(played.events)
    assert (figures.inputs, figures.outputs, figures.problems()) == (10, 10, {}), figures.examples


def test_parts_of_two_events_may_lie_between_one_another(played: Played) -> None:
    by_number = sorted(played.records, key=lambda record: orjson.loads(record.value)["sequence"])
    figures = audit(played, by_number)
    assert {name: count for name, count in figures.problems().items() if name != "out_of_order"} == {}


def test_an_output_without_its_last_part_is_lost(played: Played) -> None:
    *_, last = parts_of_one(played)
    records = [record for index, record in enumerate(played.records) if index != last]
    assert audit(played, records).problems() == {"lost": 1}


def test_a_prefix_that_comes_again_is_a_repeat(played: Played) -> None:
    first, second, *_ = parts_of_one(played)
    records = [*played.records[:first], *played.records[first : second + 1], *played.records[first:]]
    assert audit(played, records).problems() == {"duplicated": 1}
    replays = Replays(1, (OffsetRange({}, {(TOPIC, 0): len(played.events)}),))
    assert audit(played, records, replays).problems() == {}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda event: event | {"rev_id": 5}, "rev_id is 5; expected"),
        (lambda event: event | {"rdf_added_data": OTHER_TRIPLE}, "added lacks"),
        (lambda event: event["meta"].update(request_id="x") or event, "meta.request_id is 'x'"),
        (lambda event: event | {"more": 1}, "not valid by"),
    ],
    ids=["field", "triples", "id", "schema"],
)
def test_a_wrong_part_makes_the_output_wrong(
    played: Played, change: Callable[[dict[str, Any]], dict[str, Any]], text: str
) -> None:
    place = parts_of_one(played)[1]
    value = orjson.dumps(change(orjson.loads(played.records[place].value)))
    records = [*played.records[:place], replace(played.records[place], value=value), *played.records[place + 1 :]]
    figures = audit(played, records)
    assert figures.problems() == {"mismatched": 1}
    assert text in figures.examples[0]


def test_each_revision_is_read_once(played: Played) -> None:
    asked: list[str] = []

    def asked_body(wiki: str, path: str) -> bytes:
        asked.append(path)
        return body(wiki, path)

    truth = RdfTruth(CONFIG, WikiAnswers(html=lambda *_: "", body=asked_body))
    for event in played.events * 2:
        truth.output(event)
    operation = orjson.loads(played.events[-1].value)
    expected = entity_triples(document(operation["entity"], operation["rev"], "nt"), operation["entity"])
    assert truth.entity_triples(operation["entity"], operation["rev"]) == expected
    assert len(asked) == len(set(asked)) > 5


@pytest.mark.parametrize(
    ("expected", "change", "problems"),
    [
        ("revision_not_found", {}, {}),
        ("access_denied", {}, {"mismatched": 1}),
        ("revision_not_found", {"item": 5}, {"mismatched": 1}),
        (None, {}, {"misrouted": 1}),
    ],
    ids=["as expected", "another type", "schema", "an output expected"],
)
def test_a_fetch_failure_is_an_error(
    played: Played, expected: str | None, change: dict[str, Any], problems: dict[str, int]
) -> None:
    event = played.events[0]
    fate = event.entry.expected.model_copy(update={"fate": "error", "reason": expected} if expected else {})
    failing = replace(event, entry=event.entry.model_copy(update={"expected": fate}))
    message = SourceMessage(RecordPosition(*event.position), event.key, event.value, datetime.now(UTC))
    failure = resolver().error(message, Failure("revision_not_found", "status 404"))
    assert failure.topic == CONFIG.sink.fetch_failure_topic
    record = replace(failure, value=orjson.dumps(orjson.loads(failure.value) | change))
    held = DeliveryAudit([failing], truth=TRUTH, resolve=lambda _: b"")
    held.add_error(replace(arrival(record, event.position), topic=failure.topic))
    figures = held.finish({(TOPIC, 0): 1})
    assert (figures.errors, figures.problems()) == (1, problems), figures.examples


@pytest.mark.parametrize(
    ("numbers", "whole", "prefixes"),
    [("012", [2], 0), ("01012", [4], 1), ("0012", [3], 1), ("02", [], 1), ("12", [], 0), ("012012", [2, 5], 0)],
)
def test_when_an_output_is_complete(numbers: str, whole: list[int], prefixes: int) -> None:
    parts, complete, dropped = OutputParts(), [], 0
    for offset, number in enumerate(numbers):
        record = Arrival(OUTPUT, 0, offset, number.encode(), {}, (TOPIC, 0, 0), 0)
        output, prefix = parts.add(record, int(number), 3)
        complete += [output.offset] if output else []
        assert output is None or output.value == b"0\n1\n2"
        dropped += prefix is not None
    assert (complete, dropped) == (whole, prefixes)
