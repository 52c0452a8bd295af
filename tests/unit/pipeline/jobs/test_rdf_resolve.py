"""rdf-resolve with a client of texts: what each operation fetches, and the mutation that comes of it."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.route import Head, TryAgainError
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.job import FailureWritingJob, SplittingJob
from pipeline.jobs.message import SourceMessage, Unfinished
from pipeline.jobs.rdf_resolve import CurrentEntityRoute, EntityRoute, RdfResolveJob, ResolvedDiff
from pipeline.metrics.catalogue import INVALID_TERMS
from pipeline.metrics.worker_metrics import RECORDER
from pipeline.rdf.mutation import read_chunk
from pipeline.rdf.operation import Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.rdf.triples import Triple
from pipeline.records.claim_check import ClaimStore
from pipeline.records.error_event import Failure, error_type_in
from pipeline.records.record import Position, Record
from pipeline.schemas import validator_of
from tests.unit.pipeline.jobs.conftest import FakeClaims, FakeClient
from tests.unit.pipeline.making import make_config
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, PREFIXES, triples_of, version_of

WHEN = datetime(2026, 3, 2, 9, tzinfo=UTC)
BERLIN = 'wd:Q64 rdfs:label "Berlin"@de .\n'
NOT_FOUND = FetchFailedError(Failure("revision_not_found", "status 404"))


def document(rev: int, turtle: str = BERLIN) -> FetchedText:
    return FetchedText(
        PREFIXES + version_of("Q64", rev, node="wdata") + "wdata:Q64 schema:about wd:Q64 .\n" + turtle, None
    )


def triples(turtle: str) -> set[Triple]:
    return set(triples_of(turtle))


CURRENT = 0
"""Of the answers, that to a request without a revision."""


class Texts(FakeClient):
    """Answers by revision as they are; the route is for tests of its own."""

    async def fetch(self, wiki_id: str, rev_id: int, **of_request: Any) -> FetchedText:
        self.asked.append((wiki_id, rev_id, of_request["request_id"], of_request["deadline"]))
        answer = self.answers[CURRENT if isinstance(of_request["route"], CurrentEntityRoute) else rev_id]
        if isinstance(answer, BaseException):
            raise answer
        return cast(FetchedText, answer)


Resolve = Callable[..., Any]


def resolver(
    config: PipelineConfig, client: Texts, claims: FakeClaims | None = None
) -> Enrichment[Operation, ResolvedDiff]:
    job = RdfResolveJob(config, cast(WikiClient, client), lambda: WHEN + timedelta(hours=1))
    assert isinstance(job, SplittingJob)
    assert isinstance(job, FailureWritingJob)
    return Enrichment(config, job, cast(WikiClient, client), cast(ClaimStore, claims or FakeClaims()))


def message_of(value: bytes) -> SourceMessage:
    return SourceMessage(Position("operations", 0, 7), b"Q64", value, WHEN)


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resolve:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where last revisions are kept

    def run(
        operation: Operation, answers: Mapping[int, Any], *, claims: FakeClaims | None = None, **sections: Any
    ) -> Any:
        config = make_config(
            **{"job": "rdf-resolve", "rdf": {"concept_base": NAMESPACES.base}, "checkpoint": str(tmp_path), **sections}
        )
        client = Texts(dict(answers))
        enrichment = resolver(config, client, claims)
        outcome = asyncio.run(enrichment.process(message_of(operation.value()), limit_s=5))
        return outcome, [(wiki, rev) for wiki, rev, *_ in client.asked]

    return run


def operation(op: Any, rev: int = 12, from_rev: int | None = None, dt: str = "2026-03-02T09:00:00Z") -> Operation:
    return Operation("Q64", op, rev, from_rev, dt, 3, (Position("mediawiki.revision-create", 0, 4711),))


DIFF = operation("diff", from_rev=11)
ERRORS, FETCH_FAILURES = "rdf-streaming-updater.error", "rdf-streaming-updater.fetch-failure"
OTHER = 'wd:Q64 rdfs:label "Barlin"@de .\n'
MOVED = 'wd:Q64 schema:version {} ; schema:dateModified "2026-03-02T09:00:00Z"^^xsd:dateTime .\n'


@pytest.mark.parametrize(
    ("wanted", "answers", "added", "deleted"),
    [
        (operation("import"), {12: document(12)}, BERLIN + MOVED.format(12), ""),
        (operation("reconcile"), {12: document(12)}, BERLIN + MOVED.format(12), ""),
        (
            operation("diff", from_rev=11),
            {11: document(11, OTHER), 12: document(12)},
            BERLIN + "wd:Q64 schema:version 12 .",
            OTHER + "wd:Q64 schema:version 11 .",
        ),
        (operation("delete"), {}, "", ""),
    ],
    ids=["import", "reconcile", "diff", "delete"],
)
def test_an_operation_becomes_a_mutation(
    resolve: Resolve, wanted: Operation, answers: dict[int, Any], added: str, deleted: str
) -> None:
    output, asked = resolve(wanted, answers)
    assert asked == [("wikidatawiki", rev) for rev in answers]
    assert isinstance(output, Record)
    (record,) = output.all
    assert record.topic == "rdf-streaming-updater.mutation"
    assert record.key == b"Q64"
    chunk = read_chunk(record.value, record.headers, offset=0)
    assert (chunk.entity, chunk.op, chunk.rev, chunk.seq, chunk.request_id) == ("Q64", wanted.op, 12, 3, wanted.id)
    assert set(chunk.diff.added) == triples(added)
    assert set(chunk.diff.deleted) == triples(deleted)
    assert dict(record.headers)["source-offset"] == b"%019d" % 7


def test_the_last_revision_of_an_entity_is_not_fetched_again(resolve: Resolve) -> None:
    edit = operation("diff", from_rev=11)
    first, _ = resolve(operation("import", rev=11), {11: document(11, OTHER)})
    assert first is not None
    output, asked = resolve(edit, {12: document(12)})
    assert asked == [("wikidatawiki", 12)]
    chunk = read_chunk(output.value, output.headers, offset=0)
    assert set(chunk.diff.deleted) == triples(OTHER + "wd:Q64 schema:version 11 .")
    repeat, asked = resolve(edit, {11: document(11, OTHER), 12: document(12)})
    assert asked == [("wikidatawiki", 11), ("wikidatawiki", 12)], "12 is the last one now"
    assert repeat == output


def test_terms_that_no_store_takes_cancel_and_are_named(resolve: Resolve, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the revision that the mutation leads to; the one before it had its own line."""
    invalid = 'wd:Q64 wdt:P1 <http://e.org/a[1]> ; rdfs:label "ship"@zh-classical , "boat"@mis-x-q113819406 .\n'
    encoded = "wd:Q64 wdt:P1 <http://e.org/a%5B1%5D> .\n"
    RECORDER.drain()
    output, _ = resolve(
        operation("diff", from_rev=11),
        {11: document(11, OTHER + invalid), 12: document(12, BERLIN + invalid + "wd:Q64 wdt:P2 <http://e.org/%> .\n")},
    )
    chunk = read_chunk(output.value, output.headers, offset=0)
    assert set(chunk.diff.deleted) == triples(OTHER + "wd:Q64 schema:version 11 .")
    assert set(chunk.diff.added) == triples(BERLIN + "wd:Q64 schema:version 12 ; wdt:P2 <http://e.org/%25> .")
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["event"], line["entity"], line["revision"]) == ("invalid_terms", "Q64", 12)
    assert (line["encoded"], line["left_out"]) == (2, 2)
    assert line["terms"][0] == [f"{NAMESPACES.base}/prop/direct/P1", "<http://e.org/a[1]>", "encoded"]
    counts = RECORDER.drain().counts
    assert [counts[INVALID_TERMS.name, (outcome,)] for outcome in ("encoded", "left_out")] == [2, 2]
    reconciled, _ = resolve(operation("reconcile"), {12: document(12, invalid)})
    chunk = read_chunk(reconciled.value, reconciled.headers, offset=0)
    assert set(chunk.diff.added) == triples(encoded + MOVED.format(12))
    assert '"invalid_terms"' in capsys.readouterr().out


def test_nothing_is_kept_of_an_entity_that_is_deleted(resolve: Resolve) -> None:
    resolve(operation("import", rev=11), {11: document(11, OTHER)})
    resolve(operation("delete", rev=11), {})
    _, asked = resolve(operation("diff", from_rev=11), {11: document(11, OTHER), 12: document(12)})
    assert asked == [("wikidatawiki", 11), ("wikidatawiki", 12)]


DOWN = FetchFailedError(Failure("upstream_error", "status 503"), transient=True)


@pytest.mark.parametrize(
    ("op", "dt", "current", "ends_as"),
    [
        ("reconcile", "2026-03-02T09:00:00Z", NOT_FOUND, "delete"),
        ("reconcile", "2026-03-02T09:00:00Z", document(14), FETCH_FAILURES),
        ("reconcile", "2026-03-02T09:00:00Z", DOWN, Unfinished),
        ("reconcile", "2026-03-02T09:59:59Z", NOT_FOUND, Unfinished),
        ("import", "2026-03-02T09:00:00Z", NOT_FOUND, FETCH_FAILURES),
    ],
    ids=["deleted", "another revision", "the wiki is down", "it may be too young for the replica", "an import"],
)
def test_a_reconcile_of_what_the_wiki_has_deleted(
    resolve: Resolve, op: str, dt: str, current: Any, ends_as: Any
) -> None:
    resolve(operation("import", rev=11), {11: document(11, OTHER)})
    outcome, asked = resolve(operation(op, dt=dt), {12: NOT_FOUND, CURRENT: current}, fetch={"not_found_grace": "10s"})
    if ends_as is Unfinished:
        assert isinstance(outcome, Unfinished)
    elif ends_as == FETCH_FAILURES:
        assert (outcome.topic, error_type_in(outcome.value)) == (FETCH_FAILURES, "revision_not_found")
    else:
        chunk = read_chunk(outcome.value, outcome.headers, offset=0)
        assert (chunk.op, chunk.rev, chunk.seq, chunk.diff) == ("delete", 12, 3, TripleDiff())
        _, asked = resolve(DIFF, {11: document(11), 12: document(12)})
        assert len(asked) == 2, "nothing is kept of it"


def test_a_large_entity_takes_several_records(resolve: Resolve) -> None:
    labels = [f'wd:Q64 skos:altLabel "Berlin {number}"@de .\n' for number in range(40)]
    output, _ = resolve(
        operation("import"),
        {12: document(12, "".join(labels))},
        rdf={"concept_base": NAMESPACES.base, "chunk_characters": 500},
    )
    chunks = [read_chunk(record.value, record.headers, offset=0) for record in output.all]
    assert len(chunks) > 5
    assert [chunk.sequence for chunk in chunks] == list(range(len(chunks)))
    assert {chunk.length for chunk in chunks} == {len(chunks)}
    assert set().union(*(chunk.diff.added for chunk in chunks)) == triples("".join(labels) + MOVED.format(12))


def test_a_triple_that_no_record_takes_goes_by_claim_check(resolve: Resolve) -> None:
    long = f'wd:Q64 schema:description "{"x" * 3000}"@de .\n'
    claims = FakeClaims()
    output, _ = resolve(
        operation("import"), {12: document(12, BERLIN + long)}, claims=claims, sink={"max.request.size": 2000}
    )
    checked = [record for record in output.all if "claim-check-key" in dict(record.headers)]
    assert len(checked) == 1
    assert read_chunk(checked[0].value, checked[0].headers, offset=0).diff.added == ()
    whole = read_chunk(claims.stored[0], checked[0].headers, offset=0)
    assert set(whole.diff.added) == triples(long)


@pytest.mark.parametrize(
    ("dt", "answers", "error_type"),
    [
        ("2026-03-02T09:00:00Z", {11: document(11), 12: NOT_FOUND}, "revision_not_found"),
        ("2026-03-02T09:00:00Z", {11: NOT_FOUND, 12: document(12)}, "revision_not_found"),
        ("2026-03-02T09:00:00Z", {11: document(11), 12: FetchedText("no Turtle", None)}, None),
        ("2026-03-02T09:00:00Z", {11: document(11), 12: FetchedText(PREFIXES + BERLIN, None)}, None),
        ("2026-03-01T23:59:60Z", {11: document(11), 12: NOT_FOUND}, "revision_not_found"),
        ("2026-03-02T09:59:59Z", {11: document(11), 12: NOT_FOUND}, None),
    ],
    ids=["unknown", "unknown before", "no Turtle", "incomplete", "unknown at a leap second", "unknown and young"],
)
def test_what_is_a_fetch_failure(resolve: Resolve, dt: str, answers: dict[int, Any], error_type: str | None) -> None:
    outcome, _ = resolve(operation("diff", from_rev=11, dt=dt), answers, fetch={"not_found_grace": "10s"})
    if error_type is None:
        assert isinstance(outcome, Unfinished)
        return
    assert isinstance(outcome, Record)
    assert (outcome.topic, outcome.key) == (FETCH_FAILURES, b"Q64")
    assert dict(outcome.headers)["source-offset"] == b"%019d" % 7
    event = orjson.loads(outcome.value)
    assert schema_violations(outcome.value) == []
    assert (event["item"], event["exception_type"], event["meta"]["stream"]) == ("Q64", error_type, FETCH_FAILURES)


@pytest.mark.parametrize(
    ("value", "failure", "sink", "topic"),
    [
        (DIFF.value(), Failure("fetch_failed", "not fetched"), {}, FETCH_FAILURES),
        (DIFF.value(), Failure("dropped_by_operator", "dropped"), {}, ERRORS),
        (DIFF.value(), Failure("source_event_too_large", "large"), {}, ERRORS),
        (b"{", Failure("fetch_failed", "not fetched"), {}, ERRORS),
        (DIFF.value(), Failure("fetch_failed", "not fetched"), {"fetch_failure_topic": None}, ERRORS),
    ],
    ids=["fetch", "dropped", "too large", "no operation", "no topic for it"],
)
def test_a_failure_says_which_topic_it_goes_to(
    value: bytes, failure: Failure, sink: dict[str, Any], topic: str
) -> None:
    config = make_config(job="rdf-resolve", rdf={"keep_last": 0}, sink=sink)
    record = resolver(config, Texts()).error(message_of(value), failure)
    assert record.topic == topic
    assert schema_violations(record.value) == []
    assert error_type_in(record.value) == failure.error_type


def test_an_operation_that_cannot_be_read_is_an_error_event() -> None:
    config = make_config(job="rdf-resolve", rdf={"keep_last": 0})
    outcome = asyncio.run(resolver(config, Texts()).process(message_of(b"{"), limit_s=5))
    assert isinstance(outcome, Record)
    assert (outcome.topic, error_type_in(outcome.value)) == (ERRORS, "malformed_json")


def schema_violations(value: bytes) -> list[str]:
    event = orjson.loads(value)
    validator = validator_of(event["$schema"])
    assert validator is not None
    return [violation.message for violation in validator.iter_errors(event)]


@pytest.mark.parametrize(
    ("content_type", "body", "reason"),
    [
        ("text/html", document(12).text, "content type 'text/html'"),
        ("text/turtle; charset=UTF-8", " \n", "no body"),
        ("text/turtle", document(13).text, "revision 13"),
        ("text/turtle", BERLIN, "revision unknown"),
    ],
)
def test_what_is_not_the_entity_is_tried_again(content_type: str, body: str, reason: str) -> None:
    with pytest.raises(TryAgainError, match=reason):
        EntityRoute("Q64").read(12, Head(content_type), body)


def test_the_route_asks_for_the_dump_of_a_revision() -> None:
    route, text = EntityRoute("Q64"), document(12).text
    assert route.path(12) == "/wiki/Special:EntityData/Q64.ttl?flavor=dump&revision=12"
    assert route.read(12, Head("text/turtle; charset=UTF-8"), text) == text
    current = CurrentEntityRoute("Q64")
    assert current.path(12) == "/wiki/Special:EntityData/Q64.ttl?flavor=dump"
    assert current.read(12, Head("text/turtle"), document(14).text) == document(14).text
    with pytest.raises(TryAgainError, match="revision unknown"):
        current.read(12, Head("text/turtle"), BERLIN)
    assert route.refusal("<p>Can't show revision 12 of entity Q64.</p>") == "wikibase-entitydata-bad-revision"
    assert route.refusal("<p>No entity with ID Q64 was found.</p>") == "wikibase-entitydata-not-found"
    assert route.refusal("<p>Our servers are currently experiencing a technical problem</p>") is None
