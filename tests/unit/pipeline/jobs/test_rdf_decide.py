"""rdf-decide behind its state: which records come of an event that was decided, or that cannot be read."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import cast

import orjson
import pytest

from pipeline.fetch.client import WikiClient
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.job import SplittingJob
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.jobs.rdf_decide import RdfDecideJob
from pipeline.rdf.operation import Operation
from pipeline.records.claim_check import ClaimStore
from pipeline.records.error_event import error_type_in
from pipeline.records.record import Position, Record
from pipeline.schemas import (
    PAGE_DELETE_URI,
    PAGE_UNDELETE_URI,
    RDF_LAPSED_URI,
    RDF_RECONCILE_URI,
    REVISION_CREATE_URI,
    STATE_INCONSISTENCY_URI,
)
from pipeline.updater.decided_event import DecidedEvent
from pipeline.updater.reorder import Outcome
from pipeline.updater.side_output import LapsedAction, StateInconsistency
from tests.unit.pipeline.jobs.conftest import FakeClaims, FakeClient
from tests.unit.pipeline.making import make_config
from tests.unit.pipeline.updater.source_events import source_event

WHEN = datetime(2026, 3, 2, 9, tzinfo=UTC)
EVENT = source_event("page-delete", 7, 5, entity="Q42", event_id="5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a")
OPERATION = Operation("Q42", "delete", 7, None, "2026-03-02T09:00:00.005Z", 4, (EVENT.position,))
OPERATIONS, LAPSED = "rdf-streaming-updater.operation", "rdf-streaming-updater.lapsed-action"
INCONSISTENT, ERRORS = "rdf-streaming-updater.state-inconsistency", "rdf-streaming-updater.decide-error"
Process = Callable[[SourceMessage], Record | None]


@pytest.fixture
def job() -> RdfDecideJob:
    return RdfDecideJob(make_config(job="rdf-decide"))


@pytest.fixture
def process(job: RdfDecideJob) -> Process:
    def run(message: SourceMessage) -> Record | None:
        claims = cast(ClaimStore, FakeClaims())
        enrichment = Enrichment(make_config(job="rdf-decide"), job, cast(WikiClient, FakeClient()), claims)
        outcome = asyncio.run(enrichment.process(message, limit_s=1))
        assert outcome is None or isinstance(outcome, Record)
        return outcome

    return run


def output(process: Process, message: SourceMessage) -> Record:
    record = process(message)
    assert record is not None
    return record


def decided(*outcomes: Outcome) -> SourceMessage:
    return SourceMessage(EVENT.position, b"Q42", DecidedEvent(EVENT, outcomes).to_bytes(), WHEN, decided=True)


def unread(value: bytes | None, topic: str = "eqiad.mediawiki.page-delete") -> SourceMessage:
    return SourceMessage(Position(topic, 0, 3), b"its key", value, WHEN)


def test_its_output_takes_several_records(job: RdfDecideJob) -> None:
    assert isinstance(job, SplittingJob)
    assert not job.needs_fetch(DecidedEvent(EVENT))


def test_each_outcome_is_a_record_under_the_entity(process: Process) -> None:
    inconsistency = StateInconsistency(EVENT, "missed_undelete", -7)
    records = output(process, decided(inconsistency, OPERATION)).all
    assert [(record.topic, record.key) for record in records] == [(INCONSISTENT, b"Q42"), (OPERATIONS, b"Q42")]
    written, operation = (record.value for record in records)
    assert orjson.loads(written)["$schema"] == STATE_INCONSISTENCY_URI
    assert orjson.loads(written)["meta"]["stream"] == INCONSISTENT
    assert operation == OPERATION.value()
    expected = {**dict(EVENT.position.headers()), "source-event-id": str(EVENT.event_id).encode()}
    assert all(dict(record.headers) == expected for record in records)


def test_what_is_late_has_a_topic_of_its_own(process: Process) -> None:
    (record,) = output(process, decided(LapsedAction(EVENT))).all
    assert (record.topic, orjson.loads(record.value)["$schema"]) == (LAPSED, RDF_LAPSED_URI)
    assert process(decided()) is None, "an event of which nothing came leaves none"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"{no", "malformed_json"),
        (None, "malformed_json"),
        (orjson.dumps({"$schema": PAGE_DELETE_URI, "meta": {"domain": "www.wikidata.org"}}), "schema_violation"),
        (orjson.dumps({"$schema": "/other/1.0.0", "meta": {}}), "unknown_schema"),
    ],
)
def test_what_cannot_be_read_is_an_error_event(process: Process, value: bytes | None, error: str) -> None:
    record = output(process, unread(value))
    assert (record.topic, error_type_in(record.value)) == (ERRORS, error)


@pytest.mark.parametrize(
    ("topic", "schema"),
    [
        ("eqiad.mediawiki.revision-create", REVISION_CREATE_URI),
        ("codfw.mediawiki.page-delete", PAGE_DELETE_URI),
        ("mediawiki.page-suppress", PAGE_DELETE_URI),
        ("codfw.mediawiki.page-undelete", PAGE_UNDELETE_URI),
        ("eqiad.rdf-streaming-updater.reconcile", RDF_RECONCILE_URI),
    ],
)
def test_the_schema_of_what_names_none_is_by_the_end_of_its_topic(job: RdfDecideJob, topic: str, schema: str) -> None:
    values: list[bytes | None] = [None, b"[]", b"{no", b'{"$schema": 5}', b'{"$schema": ""}']
    assert {job.schema(unread(value, topic)) for value in values} == {schema}
    assert job.schema(unread(orjson.dumps({"$schema": "/x/1.0.0"}), topic)) == "/x/1.0.0"
    assert len(job.schema(unread(orjson.dumps({"$schema": "x" * 900}), topic))) == 200


def test_its_sources_are_those_of_both_data_centres() -> None:
    kinds = ["revision-create", "page-delete", "page-undelete", "page-suppress"]
    streams = [*(f"mediawiki.{kind}" for kind in kinds), "rdf-streaming-updater.reconcile"]
    expected = [f"{centre}.{stream}" for centre in ("eqiad", "codfw") for stream in streams]
    assert list(JOB_DEFAULTS["rdf-decide"].source_topics) == expected


def test_an_operation_reads_nothing_of_the_configuration_but_its_topics() -> None:
    other = RdfDecideJob(make_config(job="rdf-decide", updater={"reorder": "5m"}))
    event = DecidedEvent(EVENT, (OPERATION,))
    (part,) = other.parts(event, None, stream="s", limit_bytes=None)
    assert (part.value, part.topic) == (OPERATION.value(), None)
