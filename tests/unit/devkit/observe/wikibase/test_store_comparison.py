"""The kit's reading of what is kept of an entity, and what differs between a store and that."""

import re

import pytest

from devkit.observe.store_difference import EntityDifference, EntityTruth, StoreDifference
from devkit.observe.wikibase.entity_triples import BASE, Triple, entity_triples, is_shared
from devkit.observe.wikibase.store_comparison import compare_store
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import munge
from pipeline.rdf.revision_diff import is_shared as pipeline_shares
from pipeline.rdf.triples import parse_triples, split_terms
from tests.unit.devkit.observe.memory_store import MemoryStore
from tests.unit.mockapi.wiki.wikibase.conftest import entity_at

DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
POSITION = ("next-offset", "last-request", "topic-id")
GRAPH = "http://wiki/graph"
Q1, Q2 = f"<{BASE}/entity/Q1>", f"<{BASE}/entity/Q2>"
STATEMENT = f"<{BASE}/entity/statement/Q1-5D1A>"
REFERENCE = f"<{BASE}/reference/af>"
PAGE = "<https://en.wikipedia.org/wiki/One>"
LABEL = Triple(Q1, "<http://label>", '"one"@en')
OF_STATEMENT = Triple(STATEMENT, "<http://derivedFrom>", REFERENCE)
OF_REFERENCE = Triple(REFERENCE, "<http://url>", "<http://source>")
ABOUT = Triple(PAGE, "<http://schema.org/about>", Q1)
OF_PAGE = Triple(PAGE, "<http://schema.org/name>", '"One"@en')
OF_Q2 = Triple(Q2, "<http://label>", '"two"@en')
BADGE = "<http://wikiba.se/ontology#badge>"
FOREIGN = Triple("<http://evil/x>", "<http://evil/p>", '"1"')
UNLINKED = (
    Triple(f"<{BASE}/value/0c>", "<http://v>", '"1"'),
    Triple(f"<{BASE}/reference/0c>", "<http://v>", '"1"'),
    Triple(f"<{BASE}/prop/direct/P9>", "<http://v>", '"1"'),
    Triple(f"<{BASE}/.well-known/genid/0c>", "<http://v>", '"1"'),
    Triple("<https://de.wikipedia.org/>", "<http://wikiba.se/ontology#wikiGroup>", '"wikipedia"'),
    Triple("<https://de.wikipedia.org/wiki/X>", "<http://schema.org/name>", '"X"@de'),
    Triple("<https://de.wikipedia.org/wiki/X>", BADGE, Q2),
    Triple(
        "<https://de.wikipedia.org/wiki/X>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        "<http://schema.org/Article>",
    ),
)
ALL = (LABEL, OF_STATEMENT, OF_REFERENCE, ABOUT, OF_PAGE, OF_Q2)
TRUTH = (EntityTruth("Q1", frozenset(ALL[:5])), EntityTruth("Q2", frozenset({OF_Q2, OF_REFERENCE})))
PREFIXES = f"""
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix wd: <{BASE}/entity/> . @prefix s: <{BASE}/entity/statement/> .
@prefix ref: <{BASE}/reference/> . @prefix v: <{BASE}/value/> . @prefix p: <{BASE}/prop/> .
@prefix data: <https://www.wikidata.org/wiki/Special:EntityData/> . @prefix prov: <http://www.w3.org/ns/prov#> .
@prefix ontolex: <http://www.w3.org/ns/lemon/ontolex#> .
"""


def store_with(*triples: Triple, graph: str | None = None) -> MemoryStore:
    store = MemoryStore()
    text = " ".join(f"{' '.join(triple)} ." for triple in triples)
    store.change(f"INSERT DATA {{ {text if graph is None else f'GRAPH <{graph}> {{ {text} }}'} }}")
    return store


def without(*gone: Triple) -> tuple[Triple, ...]:
    return tuple(triple for triple in ALL if triple not in gone)


STORES: dict[str, tuple[tuple[Triple, ...], dict[str, tuple[int, int]]]] = {
    # What is stored, and of each entity that differs what is missing and what is too much.
    "the same": (ALL, {}),
    "one triple is missing": (without(LABEL), {"Q1": (1, 0)}),
    "a shared triple is missing to all that have it": (without(OF_REFERENCE), {"Q1": (1, 0), "Q2": (1, 0)}),
    "a statement has too much": ((*ALL, Triple(STATEMENT, "<http://rank>", "<http://best>")), {"Q1": (0, 1)}),
    "a sitelink is another entity's": (
        (*without(ABOUT), Triple(PAGE, ABOUT.predicate, Q2)),
        {"Q1": (1, 0), "Q2": (0, 1)},
    ),
    "a form of a lexeme that no event names": (
        (*ALL, Triple(f"<{BASE}/entity/L7-F1>", "<http://label>", '"x"')),
        {"L7": (0, 1)},
    ),
    "shared nodes that nothing links are orphans": ((*ALL, *UNLINKED), {}),
    "a shared node has too much for all that link it": (
        (*ALL, OF_REFERENCE._replace(object="<http://other>"), OF_REFERENCE._replace(object='"http://source"')),
        {"Q1": (0, 2), "Q2": (0, 2)},
    ),
    "a sitelink has too much": ((*ALL, Triple(PAGE, BADGE, Q2)), {"Q1": (0, 1)}),
    "a node of no known kind differs by itself": (
        (*ALL, FOREIGN, FOREIGN._replace(object='"2"')),
        {FOREIGN.subject: (0, 2)},
    ),
    "the position in the topic does not count": (
        (*ALL, *(Triple("<urn:enrichment:mutations:t:0>", f"<urn:enrichment:{name}>", '"7"') for name in POSITION)),
        {},
    ),
}


@pytest.mark.parametrize(("stored", "differing"), STORES.values(), ids=STORES)
@pytest.mark.parametrize("graph", [None, GRAPH])
def test_what_differs_is_counted_by_entity(
    stored: tuple[Triple, ...], differing: dict[str, tuple[int, int]], graph: str | None
) -> None:
    store = store_with(*stored, graph=graph)
    before = {*store.data}
    differences = tuple(EntityDifference(entity, *counts) for entity, counts in differing.items())
    orphans = len({*stored} & {*UNLINKED})
    assert compare_store(store, TRUTH, graph) == StoreDifference(2, differences, orphans)
    assert {*store.data} == before, "the truth was left in the store"


def test_a_deleted_entity_must_have_nothing() -> None:
    deleted = (EntityTruth("Q1", frozenset()), TRUTH[1])
    found = compare_store(store_with(LABEL, ABOUT, OF_Q2, OF_REFERENCE), deleted)
    assert found == StoreDifference(2, (EntityDifference("Q1", 0, 2),), 0)


def test_literals_are_compared_as_the_store_reads_them() -> None:
    written, stored = (Triple(Q1, "<http://height>", f'"{text}"^^<{DECIMAL}>') for text in ("+1.50", "1.5"))
    assert compare_store(store_with(stored), [EntityTruth("Q1", frozenset({written}))]).differing == ()


def test_a_truth_of_many_requests() -> None:
    triples = frozenset(Triple(Q1, "<http://p>", f'"{number}"') for number in range(25_000))
    truth = [EntityTruth("Q1", triples), EntityTruth("Q2", triples), EntityTruth("Q3", frozenset({OF_Q2}))]
    store = store_with(OF_Q2)
    assert compare_store(store, truth).differing == (
        EntityDifference("Q1", 25_000, 0),
        EntityDifference("Q2", 25_000, 0),
    )


def kept(turtle: str, entity: str) -> set[str]:
    """Each triple with its terms cut to what comes last in their IRIs."""
    triples = entity_triples((PREFIXES + turtle).encode(), entity)
    return {" ".join(re.sub(r"<[^>]*?([^/#>]*)/?>", r"\1", term) for term in triple) for triple in triples}


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        ('wd:Q1 rdfs:label "a" ; skos:prefLabel "a" ; schema:name "a" .', {'Q1 label "a"'}),
        ("wd:Q1 a wikibase:Item ; owl:sameAs wd:Q2 .", {"Q1 sameAs Q2"}),
        (
            'data:Q1 a schema:Dataset ; schema:about wd:Q1 ; schema:version "5" ; wikibase:sitelinks "2" ;'
            'schema:license "x" .',
            {'Q1 version "5"', 'Q1 sitelinks "2"'},
        ),
        ('wd:Q2 rdfs:label "other" .', set[str]()),
        ("wd:Q1 p:P1 s:1 . s:1 a wikibase:Statement, wikibase:BestRank .", {"Q1 P1 1", "1 type BestRank"}),
        (
            'wd:Q1 p:P1 s:1 . s:1 prov:wasDerivedFrom ref:2 . ref:2 p:P2 v:3 . v:3 p:P3 "x" . ref:4 p:P2 "alone" .',
            {"Q1 P1 1", "1 wasDerivedFrom 2", "2 P2 3", '3 P3 "x"'},
        ),
        (
            "<http://w/A> a schema:Article ; schema:about wd:Q1 ; schema:isPartOf <http://w/> ."
            '<http://w/> wikibase:wikiGroup "g" . <http://w/B> a schema:Article ; schema:about wd:Q2 .',
            {"A type Article", "A about Q1", "A isPartOf w", 'w wikiGroup "g"'},
        ),
        ("wd:Q1 p:P1 _:x .", {"Q1 P1 x"}),
        (f'wd:Q1 rdfs:label "{"x" * 40_000}"@en .', {f'Q1 label "{"x" * 32_767}"@en'}),
    ],
    ids=["labels", "redirect", "document", "others", "statement", "linked", "sitelinks", "blank", "long"],
)
def test_what_is_kept_of_an_item(turtle: str, expected: set[str]) -> None:
    assert kept(turtle, "Q1") == expected


@pytest.mark.parametrize(
    ("entity", "turtle", "expected"),
    [
        ("P1", 'wd:P1 a wikibase:Property ; rdfs:label "a" .', {"P1 type Property", 'P1 label "a"'}),
        ("P1", "wd:P1 wikibase:claim p:P1 . p:P1 a owl:Class . p:P2 a owl:Class .", {"P1 claim P1", "P1 type Class"}),
        (
            "P1",
            "wd:P1 wikibase:novalue p:P1 . p:P1 owl:complementOf _:x . _:x owl:onProperty p:P2 .",
            {"P1 novalue P1", "P1 complementOf x", "x onProperty P2"},
        ),
        ("L1", 'wd:L1 a wikibase:Lexeme ; rdfs:label "a" ; wikibase:lemma "a" .', {'L1 lemma "a"'}),
        (
            "L1",
            'wd:L1 ontolex:sense wd:L1-S1 . wd:L1-S1 a wikibase:Sense ; rdfs:label "a" ; skos:definition "a" .'
            "wd:L1-S1 p:P1 s:1 . s:1 wikibase:rank wikibase:NormalRank .",
            {"L1 sense L1-S1", 'L1-S1 definition "a"', "L1-S1 P1 1", "1 rank NormalRank"},
        ),
        ("L1", 'wd:L2-F1 ontolex:representation "a" .', set[str]()),
    ],
    ids=["property", "predicate", "no value", "lexeme", "sense", "another's form"],
)
def test_what_is_kept_of_another_entity(entity: str, turtle: str, expected: set[str]) -> None:
    assert kept(turtle, entity) == expected


@pytest.mark.parametrize("revision", [1, 3])
@pytest.mark.parametrize(
    ("entity", "source"),
    [
        *((entity, None) for entity in ("Q1", "Q2", "Q42", "P2", "P5", "P31", "L1", "L7")),
        ("Q9", '{"redirect": "Q2"}'),
        ("L9", '{"redirect": "L2"}'),
        ("Q2", '{"merged": ["Q5", "Q64"]}'),
    ],
)
def test_the_pipeline_keeps_the_same_of_drawn_entities(entity: str, source: str | None, revision: int) -> None:
    document = EntityRdf("ttl").write(9, entity_at(entity, revision, source))
    namespaces = ConceptNamespaces(BASE)
    munged = munge(parse_triples(document, source=entity), entity, namespaces)
    triples = {Triple(*split_terms(line)): line for line in munged}
    assert entity_triples(document, entity) == triples.keys()
    shared = {triple for triple, line in triples.items() if pipeline_shares(line, namespaces)}
    assert set(filter(is_shared, triples)) == shared


def test_shared_are_references_values_and_groups() -> None:
    triples = entity_triples(EntityRdf("ttl").write(9, entity_at("Q42")), "Q42")
    shared = [triple.subject for triple in triples if is_shared(triple)]
    below_base = {node.removeprefix(f"<{BASE}/").split("/")[0] for node in shared if node.startswith(f"<{BASE}/")}
    assert below_base == {"reference", "value"}
    assert len(shared) < len(triples)
