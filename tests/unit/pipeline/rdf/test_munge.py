import pytest

from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import MAX_LITERAL_CHARACTERS, ConceptBaseError, IncompleteEntityError, munge
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of, version_of

# Of entity, document and what of it is kept; version and date come to both.
RULES = {
    "common types are dropped, others kept": ("Q1", "wd:Q1 a wikibase:Item, wdno:P2 .", "wd:Q1 a wdno:P2 ."),
    "texts that repeat a label are dropped": (
        "Q1",
        """wd:Q1 rdfs:label "a"@en ; skos:prefLabel "a"@en ; schema:name "a"@en ; skos:altLabel "b"@en ;
           schema:description "c"@en .""",
        'wd:Q1 rdfs:label "a"@en ; skos:altLabel "b"@en ; schema:description "c"@en .',
    ),
    "labels and types of a lexeme, its forms and senses are dropped": (
        "L1",
        """wd:L1 a wikibase:Lexeme, ontolex:LexicalEntry ; rdfs:label "a"@en ; wikibase:lemma "a"@en ;
             ontolex:lexicalForm wd:L1-F1 ; ontolex:sense wd:L1-S1 .
           wd:L1-F1 a wikibase:Form ; rdfs:label "a"@en ; ontolex:representation "a"@en ; p:P1 wds:L1-F1-a .
           wds:L1-F1-a ps:P1 "in a form" .
           wd:L1-S1 a wikibase:Sense ; rdfs:label "a"@en ; skos:definition "a"@en .""",
        """wd:L1 a ontolex:LexicalEntry ; wikibase:lemma "a"@en .
           wd:L1 ontolex:lexicalForm wd:L1-F1 ; ontolex:sense wd:L1-S1 .
           wd:L1-F1 ontolex:representation "a"@en ; p:P1 wds:L1-F1-a .
           wds:L1-F1-a ps:P1 "in a form" .
           wd:L1-S1 skos:definition "a"@en .""",
    ),
    "other entities are dropped": (
        "Q1",
        'wd:Q1 wdt:P1 wd:Q2 . wd:Q2 rdfs:label "b"@en . wd:L1-F1 ontolex:representation "a"@en .',
        "wd:Q1 wdt:P1 wd:Q2 .",
    ),
    "of the document's node all of wikibase moves to the entity, the rest goes": (
        "Q1",
        """wdata:Q1 a schema:Dataset ; schema:about wd:Q1 ; wikibase:statements 3 ; wikibase:sitelinks 1 ;
             schema:softwareVersion "1.0.0" .""",
        "wd:Q1 wikibase:statements 3 ; wikibase:sitelinks 1 .",
    ),
    "statements are kept when linked, without their type": (
        "Q1",
        """wds:Q1-a a wikibase:Statement, wikibase:BestRank ; ps:P1 "kept" .
           wd:Q1 p:P1 wds:Q1-a .
           wds:Q1-b a wikibase:Statement, wikibase:BestRank ; ps:P1 "not linked" .
           wds:Q1-c ps:P1 "linked by another entity" . wd:Q2 p:P1 wds:Q1-c .
           wds:Q1-d ps:P1 "linked by no claim" . wd:Q1 schema:about wds:Q1-d .""",
        """wd:Q1 p:P1 wds:Q1-a ; schema:about wds:Q1-d .
           wds:Q1-a a wikibase:BestRank ; ps:P1 "kept" .""",
    ),
    "references are kept when linked, without their type": (
        "Q1",
        """wd:Q1 p:P1 wds:Q1-a . wds:Q1-a prov:wasDerivedFrom wdref:1 .
           wdref:1 a wikibase:Reference ; pr:P2 <http://e.org/> .
           wdref:2 a wikibase:Reference ; pr:P2 <http://e.org/2> .""",
        """wd:Q1 p:P1 wds:Q1-a . wds:Q1-a prov:wasDerivedFrom wdref:1 .
           wdref:1 pr:P2 <http://e.org/> .""",
    ),
    "values are kept when linked by statement, qualifier or reference, and so are normalized ones": (
        "Q1",
        """wd:Q1 p:P1 wds:Q1-a . wds:Q1-a psv:P1 wdv:1 ; pqv:P2 wdv:2 ; prov:wasDerivedFrom wdref:1 .
           wdref:1 prv:P3 wdv:3 .
           wdv:1 a wikibase:QuantityValue ; wikibase:quantityAmount 1 ; wikibase:quantityNormalized wdv:4 .
           wdv:2 a wikibase:TimeValue . wdv:3 a wikibase:TimeValue . wdv:4 wikibase:quantityNormalized wdv:4 .
           wdv:5 a wikibase:TimeValue .""",
        """wd:Q1 p:P1 wds:Q1-a . wds:Q1-a psv:P1 wdv:1 ; pqv:P2 wdv:2 ; prov:wasDerivedFrom wdref:1 .
           wdref:1 prv:P3 wdv:3 .
           wdv:1 a wikibase:QuantityValue ; wikibase:quantityAmount 1 ; wikibase:quantityNormalized wdv:4 .
           wdv:2 a wikibase:TimeValue . wdv:3 a wikibase:TimeValue . wdv:4 wikibase:quantityNormalized wdv:4 .""",
    ),
    "sitelinks and wiki groups are kept whole": (
        "Q1",
        """<https://en.e.org/wiki/A> schema:about wd:Q1 ; schema:inLanguage "en" ; a schema:Article .
           <https://en.e.org/> wikibase:wikiGroup "wikipedia" ; schema:name "unknown" .""",
        """<https://en.e.org/wiki/A> schema:about wd:Q1 ; schema:inLanguage "en" ; a schema:Article .
           <https://en.e.org/> wikibase:wikiGroup "wikipedia" .""",
    ),
    "definitions of a property are kept": (
        "P1",
        """wd:P1 a wikibase:Property ; wikibase:claim p:P1 ; wikibase:novalue wdno:P1 .
           p:P1 a owl:ObjectProperty ; rdfs:label "unknown" .
           wdno:P1 a owl:Class ; owl:complementOf _:b1 . _:b1 a owl:Restriction ; owl:onProperty wdt:P1 .""",
        """wd:P1 a wikibase:Property ; wikibase:claim p:P1 ; wikibase:novalue wdno:P1 .
           p:P1 a owl:ObjectProperty .
           wdno:P1 a owl:Class ; owl:complementOf <http://wiki.example/.well-known/genid/b1> .
           <http://wiki.example/.well-known/genid/b1> a owl:Restriction ; owl:onProperty wdt:P1 .""",
    ),
    "blank nodes become skolem IRIs": (
        "Q1",
        "wd:Q1 wdt:P1 _:8f3 .",
        "wd:Q1 wdt:P1 <http://wiki.example/.well-known/genid/8f3> .",
    ),
    "long literals are cut": (
        "Q1",
        f'wd:Q1 wdt:P1 "{"é" * (MAX_LITERAL_CHARACTERS + 1)}" ; wdt:P2 "{"é" * MAX_LITERAL_CHARACTERS}"@en .',
        f'wd:Q1 wdt:P1 "{"é" * MAX_LITERAL_CHARACTERS}" ; wdt:P2 "{"é" * MAX_LITERAL_CHARACTERS}"@en .',
    ),
    "unknown subjects are dropped": (
        "Q1",
        'wikibase:Dump a schema:Dataset ; schema:dateModified "2026"^^xsd:gYear . <http://e.org/> schema:name "a" .',
        "",
    ),
}


@pytest.mark.parametrize(("entity", "document", "kept"), RULES.values(), ids=RULES)
def test_a_rule_of_munging(entity: str, document: str, kept: str) -> None:
    triples = triples_of(version_of(entity, node="wdata") + document)
    munged = munge(triples, entity, NAMESPACES)
    assert munged == set(triples_of(version_of(entity) + kept))
    assert munge(sorted(munged), entity, NAMESPACES) == munged, "munging again changes nothing"
    assert munge(reversed(triples), entity, NAMESPACES) == munged, "the order of a document does not matter"


def test_the_node_of_a_document_may_have_https() -> None:
    node = "<https://wiki.example/wiki/Special:EntityData/Q1>"
    triples = triples_of(f'{node} schema:version 1 ; schema:dateModified "2026-03-02T09:00:00Z"^^xsd:dateTime .')
    assert munge(triples, "Q1", NAMESPACES) == set(triples_of(version_of("Q1")))


def test_a_redirect_needs_no_version() -> None:
    triples = triples_of("wd:Q1 owl:sameAs wd:Q2 .")
    assert munge(triples, "Q1", NAMESPACES) == set(triples)


@pytest.mark.parametrize(
    ("document", "missing"),
    [
        ("", "schema.org/version> or <http://schema.org/dateModified"),
        ("wdata:Q1 schema:version 1 .", "dateModified"),
        (version_of("Q2"), "schema.org/version> or <http://schema.org/dateModified"),
    ],
)
def test_a_document_without_version_and_date_is_refused(document: str, missing: str) -> None:
    with pytest.raises(IncompleteEntityError, match=f"the document of Q1 does not say <http://.*{missing}>"):
        munge(triples_of(document), "Q1", NAMESPACES)


@pytest.mark.parametrize("base", ["https://wiki.example", "http://www.wiki.example", "http://wiki.example:80"])
def test_a_document_of_another_concept_base_is_refused_with_both(base: str) -> None:
    triples = triples_of(version_of("Q1", node="wdata") + 'wdata:Q1 schema:about wd:Q1 . wd:Q1 rdfs:label "a"@en .')
    told = f"^Q1 is below http://wiki.example in its document; rdf.concept_base is {base}$"
    with pytest.raises(ConceptBaseError, match=told):
        munge(triples, "Q1", ConceptNamespaces(base))


@pytest.mark.parametrize(
    ("document", "node"),
    [
        ("wd:Q1 p:P1 wds:Q1-a .", "Q1-a"),
        ("wd:Q1 p:P1 wds:Q1-a . wds:Q1-a prov:wasDerivedFrom wdref:1 .", "reference/1"),
        ("wd:Q1 p:P1 wds:Q1-a . wds:Q1-a psv:P1 wdv:1 .", "value/1"),
        ("wd:Q1 p:P1 wds:Q1-a . wds:Q1-a psv:P1 wdv:1 . wdv:1 wikibase:quantityNormalized wdv:2 .", "value/2"),
    ],
    ids=["behind the entity", "behind a statement", "before a value", "before a normalized value"],
)
def test_a_document_that_was_cut_off_at_the_end_of_a_node_is_refused(document: str, node: str) -> None:
    with pytest.raises(IncompleteEntityError, match=f"the document links <http://.*{node}> and says nothing of it"):
        munge(triples_of(version_of("Q1") + document), "Q1", NAMESPACES)
