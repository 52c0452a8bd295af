"""What a diff of two revisions of a Wikibase entity costs, by its number of statements: processor time of each step.

`just bench -k test_rdf` runs it. A document has labels in five languages and sitelinks; each statement has a reference,
every other one a value and a qualifier. Between two revisions two statements and a label change.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.results import keep
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import munge
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Operation
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions
from pipeline.rdf.triples import Triple, parse_triples
from pipeline.records.record import Position

T = TypeVar("T")
STATEMENTS = (50, 500, 5_000)
ROUNDS = 5
_CHANGED = 2
ENTITY = "Q42"
NAMESPACES = ConceptNamespaces("http://www.wikidata.org")
_BASE = NAMESPACES.base
_LANGUAGES = ("en", "de", "fr", "ja", "ar")
_PREFIXES = f"""@prefix wd: <{_BASE}/entity/> .
@prefix wds: <{_BASE}/entity/statement/> .
@prefix wdref: <{_BASE}/reference/> .
@prefix wdv: <{_BASE}/value/> .
@prefix wdata: <{_BASE}/wiki/Special:EntityData/> .
@prefix p: <{_BASE}/prop/> .
@prefix ps: <{_BASE}/prop/statement/> .
@prefix psv: <{_BASE}/prop/statement/value/> .
@prefix pq: <{_BASE}/prop/qualifier/> .
@prefix pr: <{_BASE}/prop/reference/> .
@prefix wdt: <{_BASE}/prop/direct/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix schema: <http://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def document(statements: int, revision: int) -> str:
    """The Turtle of a revision, a function of both."""
    date = f'"2026-03-02T09:00:{revision:02}Z"^^xsd:dateTime'
    lines = [_PREFIXES, f"wdata:{ENTITY} schema:version {revision} ; schema:dateModified {date} ;"]
    lines.append(f"  wikibase:statements {statements} ; schema:about wd:{ENTITY} .")
    lines.append(f"wd:{ENTITY} a wikibase:Item .")
    for language in _LANGUAGES:
        label = f'"label {revision if language == "en" else 0}"@{language}'
        lines.append(f"wd:{ENTITY} rdfs:label {label} ; skos:prefLabel {label} ; schema:name {label} ;")
        lines.append(f'  schema:description "what it is, in {language}"@{language} .')
        page = f"<https://{language}.wikipedia.org/wiki/Page>"
        lines.append(f'{page} a schema:Article ; schema:about wd:{ENTITY} ; schema:inLanguage "{language}" .')
    lines.extend(_statement(number, revision if number < _CHANGED else 0) for number in range(statements))
    return "\n".join(lines)


def _statement(number: int, revision: int) -> str:
    property_id, node = number % 97 + 1, f"{ENTITY}-{number:08}-{revision:04}"
    text = f'"value {number} of revision {revision}"'
    lines = [
        f"wd:{ENTITY} p:P{property_id} wds:{node} ; wdt:P{property_id} {text} .",
        f"wds:{node} a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;",
        f"  ps:P{property_id} {text} ; prov:wasDerivedFrom wdref:{number % 1_000:040} .",
        f"wdref:{number % 1_000:040} a wikibase:Reference ; pr:P854 <https://example.org/{number % 1_000}> .",
    ]
    if number % 2:
        lines.append(f"wds:{node} psv:P{property_id} wdv:{number:038}{revision:02} ; pq:P580 {text} .")
        lines.append(f"wdv:{number:038}{revision:02} a wikibase:TimeValue ; wikibase:timePrecision 11 .")
    return "\n".join(lines)


def processor_ms(step: Callable[[], T]) -> tuple[float, T]:
    """The median of the rounds, and what the step gives."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        result = step()
        taken.append(1e3 * (time.process_time() - began))
    return statistics.median(taken), result


def measured(statements: int) -> dict[str, float]:
    texts = [document(statements, revision) for revision in (1, 2)]

    def parse() -> list[list[Triple]]:
        return [parse_triples(text, source="benchmark") for text in texts]

    parse_ms, parsed = processor_ms(parse)
    munge_ms, (before, after) = processor_ms(lambda: [munge(triples, ENTITY, NAMESPACES) for triples in parsed])
    diff_ms, diff = processor_ms(lambda: diff_revisions(before, after, NAMESPACES))
    write_ms, _ = processor_ms(lambda: written(diff))
    event_ms = parse_ms + munge_ms + diff_ms + write_ms
    return {
        "triples": len(parsed[1]),
        "kib": round(len(texts[1].encode()) / 1024),
        "changed": len(diff),
        "parse_two_ms": round(parse_ms, 2),
        "munge_two_ms": round(munge_ms, 2),
        "diff_ms": round(diff_ms, 2),
        "write_ms": round(write_ms, 2),
        "events_per_second": round(1e3 / event_ms, 1),
        "events_per_second_last_kept": round(1e3 / ((parse_ms + munge_ms) / 2 + diff_ms + write_ms), 1),
    }


def written(diff: TripleDiff) -> int:
    operation = Operation(ENTITY, "diff", 2, 1, "2026-03-02T09:00:02Z", 2, (Position("source", 0, 1),))
    return len(mutation_records(operation, diff, topic="mutation", domain="e.org", max_record_bytes=1_000_000))


def test_rdf(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    figures = benchmark.pedantic(lambda: {str(statements): measured(statements) for statements in STATEMENTS})
    keep("rdf", {"statements": figures}, packages=["pyoxigraph"])
    with capsys.disabled():
        columns = next(iter(figures.values()))
        sys.stdout.write("\nstatements" + "".join(f"{column:>29}" for column in columns))
        for statements, row in figures.items():
            sys.stdout.write(f"\n{statements:10}" + "".join(f"{row[column]:>29}" for column in columns))
        sys.stdout.write("\n")
