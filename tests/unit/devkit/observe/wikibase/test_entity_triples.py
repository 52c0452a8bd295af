"""The kit's reading of what is kept of an entity: each rule by an example, and as the pipeline has it of drawn ones."""

import re

import pytest

from devkit.observe.wikibase.entity_triples import BASE, Triple, entity_triples, is_shared
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import munge
from pipeline.rdf.revision_diff import is_shared as pipeline_shares
from pipeline.rdf.triples import parse_triples, split_terms
from tests.unit.mockapi.wiki.wikibase.conftest import entity_at

PREFIXES = f"""
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix wd: <{BASE}/entity/> . @prefix s: <{BASE}/entity/statement/> .
@prefix ref: <{BASE}/reference/> . @prefix v: <{BASE}/value/> . @prefix p: <{BASE}/prop/> .
@prefix data: <https://www.wikidata.org/wiki/Special:EntityData/> . @prefix prov: <http://www.w3.org/ns/prov#> .
@prefix ontolex: <http://www.w3.org/ns/lemon/ontolex#> .
"""


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
