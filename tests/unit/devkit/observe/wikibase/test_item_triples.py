"""The kit's reading of what is kept of an item: each rule by an example, and as the pipeline has it of drawn items."""

import re

import pytest

from devkit.observe.wikibase.item_triples import BASE, Triple, is_shared, item_triples
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import munge
from pipeline.rdf.triples import parse_triples, split_terms
from tests.unit.mockapi.wiki.wikibase.conftest import entity_at

PREFIXES = f"""
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix wd: <{BASE}/entity/> . @prefix s: <{BASE}/entity/statement/> .
@prefix ref: <{BASE}/reference/> . @prefix v: <{BASE}/value/> . @prefix p: <{BASE}/prop/> .
@prefix data: <https://www.wikidata.org/wiki/Special:EntityData/> . @prefix prov: <http://www.w3.org/ns/prov#> .
"""


def kept(turtle: str) -> set[str]:
    """Each triple with its terms cut to what comes last in their IRIs."""
    triples = item_triples((PREFIXES + turtle).encode(), "Q1")
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
        (
            "wd:Q1 p:P1 s:1 . s:1 a wikibase:Statement, wikibase:BestRank .",
            {"Q1 P1 1", "1 type BestRank"},
        ),
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
def test_what_is_kept(turtle: str, expected: set[str]) -> None:
    assert kept(turtle) == expected


@pytest.mark.parametrize("item", ["Q1", "Q2", "Q42"])
@pytest.mark.parametrize("revision", [1, 3])
def test_the_pipeline_keeps_the_same_of_drawn_items(item: str, revision: int) -> None:
    document = EntityRdf("ttl").write(9, entity_at(item, revision))
    munged = munge(parse_triples(document, source=item), item, ConceptNamespaces(BASE))
    assert item_triples(document, item) == {Triple(*split_terms(line)) for line in munged}


def test_shared_are_references_values_and_groups() -> None:
    triples = item_triples(EntityRdf("ttl").write(9, entity_at("Q42")), "Q42")
    shared = [triple.subject for triple in triples if is_shared(triple)]
    below_base = {node.removeprefix(f"<{BASE}/").split("/")[0] for node in shared if node.startswith(f"<{BASE}/")}
    assert below_base == {"reference", "value"}
    assert len(shared) < len(triples)
