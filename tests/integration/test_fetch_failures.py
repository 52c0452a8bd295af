"""What ends without output in rdf-resolve, with real parts: failed fetches in a topic of their own, the rest as errors.

Set-up: operations on entities, of which some are no JSON or not valid, one entity is not there, and one has an answer
that is no Turtle. Checked: each event's fate, in which topic it ended, every record against its schema, and the counts
of the kit's audit. A concept base that is not the wiki's is no fate of an event: it ends the job.
"""

import json
from collections.abc import Callable
from typing import Any

from devkit.observe.audit.arrivals import Arrival, read_topic
from pipeline.schemas import error_validator, fetch_failure_validator
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/jobs", "pipeline/rdf", "pipeline/records")
FAILURES = "fetch-failures.of-their-own"
TRAFFIC: dict[str, Any] = {
    "generator": "wikibase_change",
    "seed": 5,
    "rate": "400/s",
    "for": "100ms",
    "population": 6,
    "wikis": {"wikidatawiki": "www.wikidata.org"},
    "mix": {"not_json": 0.05, "not_schema": 0.05, "delete": 0.1},
    "pages": {"Q42": {"edits": 2, "error": "revision_not_found"}, "Q64": {"edits": 2, "error": "fetch_failed"}},
}
RULES: list[dict[str, Any]] = [
    {"name": "gone", "when": {"entity": "Q42"}, "do": {"missing": True}},
    {"name": "down", "when": {"entity": "Q64"}, "do": {"status": 503}},
]
SETTINGS: dict[str, Any] = {
    "job": "rdf-resolve",
    "sink": {"fetch_failure_topic": FAILURES},
    "mediawiki": {"wikis": {"wikidatawiki": "www.wikidata.org"}},
    "fetch": {"total_requests": 2, "not_found_grace": "0s"},
    "deferral": {"slow_lane": {"attempts": 2, "backoff": "100ms"}},
    "breaker": {"policy": "none"},
}


def test_a_failed_fetch_and_a_broken_operation_end_in_two_topics(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    bench.await_drained(bench.start())
    bench.end()
    failures = {offset_of(record): json.loads(record.value) for record in read_topic(bench.bootstrap, FAILURES)}
    errors = {offset_of(record): json.loads(record.value) for record in bench.errors()}
    for failure in failures.values():
        fetch_failure_validator().validate(failure)
    for error in errors.values():
        error_validator().validate(error)
    expected = {entry.offset: entry.expected for entry in bench._publisher.manifest().entries}
    reasons = {offset: fate.reason for offset, fate in expected.items() if fate.fate == "error"}
    of_fetches = {"revision_not_found", "fetch_failed"}
    assert {offset: failure["exception_type"] for offset, failure in failures.items()} == {
        offset: reason for offset, reason in reasons.items() if reason in of_fetches
    }
    assert {offset: error["error_type"] for offset, error in errors.items()} == {
        offset: reason for offset, reason in reasons.items() if reason not in of_fetches
    }
    assert {(failure["item"], failure["fetch_error_type"]) for failure in failures.values()} == {
        ("Q42", "ENTITY_NOT_FOUND"),
        ("Q64", "UNKNOWN"),
    }
    assert {error["error_type"] for error in errors.values()} == {"malformed_json", "schema_violation"}
    audit = bench.assert_clean(restarted=False)
    assert audit.errors == len(reasons) == len(failures) + len(errors)


def test_another_concept_base_ends_the_job_and_both_are_named(make_bench: Callable[..., Bench]) -> None:
    rdf = {"concept_base": "https://www.wikidata.org"}
    bench = make_bench(traffic={**TRAFFIC, "mix": {}, "pages": {}}, rules=[], settings=SETTINGS | {"rdf": rdf})
    bench.publish(wait=True)
    run = bench.start()
    assert run.await_end() == 2
    (failed,) = run.logged("failed")
    assert "is below http://www.wikidata.org in its document; rdf.concept_base is https://www.wikidata.org" in str(
        failed
    )
    assert "hint: set rdf.concept_base, and apply.concept_base" in run.standard_error()
    assert bench.outputs() == []


def offset_of(record: Arrival) -> int:
    assert record.source is not None
    return record.source[-1]
