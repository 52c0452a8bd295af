"""The RDF of the mock's entities against the published description of Wikibase's RDF dump format.

https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format, version 1.0.0, with Wikibase's own RDF builders where
the page is silent. The table has, for each kind of node, every predicate and the kinds of its objects. A predicate that
the mock writes and the table lacks fails, and so does one that the table has and no entity of the sample shows.
"""

from datetime import UTC, datetime

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from mockapi.wiki.catalog import CatalogPage, CatalogRevision, Located
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from mockapi.wiki.wikibase.vocabulary import prefixes

ROOMS = ("mockapi/wiki",)
DOMAIN = "www.wikidata.org"
PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "prov": "http://www.w3.org/ns/prov#",
    "cc": "http://creativecommons.org/ns#",
    "ontolex": "http://www.w3.org/ns/lemon/ontolex#",
    "dct": "http://purl.org/dc/terms/",
    "wikibase": "http://wikiba.se/ontology#",
    "data": "https://www.wikidata.org/wiki/Special:EntityData/",
    "wds": "http://www.wikidata.org/entity/statement/",
    "wd": "http://www.wikidata.org/entity/",
    "wdref": "http://www.wikidata.org/reference/",
    "wdv": "http://www.wikidata.org/value/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "wdtn": "http://www.wikidata.org/prop/direct-normalized/",
    "psv": "http://www.wikidata.org/prop/statement/value/",
    "psn": "http://www.wikidata.org/prop/statement/value-normalized/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "pqv": "http://www.wikidata.org/prop/qualifier/value/",
    "pqn": "http://www.wikidata.org/prop/qualifier/value-normalized/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "prv": "http://www.wikidata.org/prop/reference/value/",
    "prn": "http://www.wikidata.org/prop/reference/value-normalized/",
    "pr": "http://www.wikidata.org/prop/reference/",
    "wdno": "http://www.wikidata.org/prop/novalue/",
    "p": "http://www.wikidata.org/prop/",
}
SIMPLE = {"iri", "wd", "text", "text@", "xsd:dateTime", "xsd:decimal", "geo:wktLiteral"}
LABELS = {"rdfs:label": {"text@"}, "skos:prefLabel": {"text@"}, "schema:name": {"text@"}}
TERMS = LABELS | {"schema:description": {"text@"}, "skos:altLabel": {"text@"}}
TRUTHY = {"wdt:": SIMPLE | {"blank"}, "wdtn:": {"iri"}, "p:": {"wds"}}
DOCUMENT = {
    "rdf:type": {"schema:Dataset"},
    "schema:about": {"wd"},
    "cc:license": {"iri"},
    "schema:softwareVersion": {"text"},
    "schema:version": {"xsd:integer"},
    "schema:dateModified": {"xsd:dateTime"},
}
SHAPES: dict[str, dict[str, set[str]]] = {
    "document": DOCUMENT
    | {f"wikibase:{count}": {"xsd:integer"} for count in ("statements", "sitelinks", "identifiers")},
    "item": {"rdf:type": {"wikibase:Item", "wdno"}, **TERMS, **TRUTHY},
    "property": {
        "rdf:type": {"wikibase:Property", "wdno"},
        **TERMS,
        **TRUTHY,
        "wikibase:propertyType": {"wikibase"},
        "wikibase:directClaim": {"wdt"},
        "wikibase:directClaimNormalized": {"wdtn"},
        "wikibase:claim": {"p"},
        "wikibase:statementProperty": {"ps"},
        "wikibase:statementValue": {"psv"},
        "wikibase:statementValueNormalized": {"psn"},
        "wikibase:qualifier": {"pq"},
        "wikibase:qualifierValue": {"pqv"},
        "wikibase:qualifierValueNormalized": {"pqn"},
        "wikibase:reference": {"pr"},
        "wikibase:referenceValue": {"prv"},
        "wikibase:referenceValueNormalized": {"prn"},
        "wikibase:novalue": {"wdno"},
    },
    "lexeme": {
        "rdf:type": {"wikibase:Lexeme", "ontolex:LexicalEntry", "wdno"},
        **TRUTHY,
        "rdfs:label": {"text@"},
        "wikibase:lemma": {"text@"},
        "dct:language": {"wd"},
        "wikibase:lexicalCategory": {"wd"},
        "ontolex:lexicalForm": {"wd"},
        "ontolex:sense": {"wd"},
    },
    "form": {
        "rdf:type": {"wikibase:Form", "ontolex:Form", "wdno"},
        **TRUTHY,
        "rdfs:label": {"text@"},
        "ontolex:representation": {"text@"},
        "wikibase:grammaticalFeature": {"wd"},
    },
    "sense": {
        "rdf:type": {"wikibase:Sense", "ontolex:LexicalSense", "wdno"},
        **TRUTHY,
        "rdfs:label": {"text@"},
        "skos:definition": {"text@"},
    },
    "redirect": {"owl:sameAs": {"wd"}},
    "statement": {
        "rdf:type": {"wikibase:Statement", "wikibase:BestRank", "wdno"},
        "wikibase:rank": {"wikibase:PreferredRank", "wikibase:NormalRank", "wikibase:DeprecatedRank"},
        "ps:": SIMPLE | {"blank"},
        "psv:": {"wdv"},
        "psn:": {"wdv", "iri"},
        "pq:": SIMPLE,
        "pqv:": {"wdv"},
        "pqn:": {"wdv", "iri"},
        "prov:wasDerivedFrom": {"wdref"},
    },
    "reference": {
        "rdf:type": {"wikibase:Reference"},
        "pr:": {"wd", "iri", "xsd:dateTime"},
        "prv:": {"wdv"},
    },
    "time": {
        "rdf:type": {"wikibase:TimeValue"},
        "wikibase:timeValue": {"xsd:dateTime"},
        "wikibase:timePrecision": {"xsd:integer"},
        "wikibase:timeTimezone": {"xsd:integer"},
        "wikibase:timeCalendarModel": {"wd"},
    },
    "quantity": {
        "rdf:type": {"wikibase:QuantityValue"},
        "wikibase:quantityAmount": {"xsd:decimal"},
        "wikibase:quantityUpperBound": {"xsd:decimal"},
        "wikibase:quantityLowerBound": {"xsd:decimal"},
        "wikibase:quantityUnit": {"wd"},
        "wikibase:quantityNormalized": {"wdv"},
    },
    "coordinates": {
        "rdf:type": {"wikibase:GlobecoordinateValue"},
        "wikibase:geoLatitude": {"xsd:double"},
        "wikibase:geoLongitude": {"xsd:double"},
        "wikibase:geoPrecision": {"xsd:double"},
        "wikibase:geoGlobe": {"wd"},
    },
    "sitelink": {
        "rdf:type": {"schema:Article"},
        "schema:about": {"wd"},
        "schema:inLanguage": {"text"},
        "schema:isPartOf": {"iri"},
        "schema:name": {"text@"},
        "wikibase:badge": {"wd"},
    },
    "wiki": {"wikibase:wikiGroup": {"text"}},
    "predicate": {"rdf:type": {"owl:ObjectProperty", "owl:DatatypeProperty"}},
    "novalue": {"rdf:type": {"owl:Class"}, "owl:complementOf": {"blank"}},
    "restriction": {
        "rdf:type": {"owl:Restriction"},
        "owl:onProperty": {"wdt"},
        "owl:someValuesFrom": {"owl:Thing"},
    },
}
OPTIONAL = {
    *("wdno", "blank", "wikibase:badge", "skos:altLabel", "wdtn:", "p:", "wdt:", "psv:", "psn:", "pq:", "pqv:", "pqn:"),
    *("psn", "prv:", "prov:wasDerivedFrom", "wikibase:quantityUpperBound", "wikibase:quantityLowerBound", "ps:"),
    *("wikibase:sitelinks", "wikibase:identifiers", "wikibase:statements"),
    *(name for name in SHAPES["property"] if name.endswith("Normalized")),
}
"""What not each node of its kind has."""

LEFT_OUT = {
    "types of values": {"Math", "MusicalNotation", "GeoShape", "TabularData", "WikibaseProperty", "WikibaseLexeme"}
    | {"WikibaseForm", "WikibaseSense", "EntitySchema"},
    "predicates": {"wikibase:hasViolationForConstraint"},
    "classes": {"wikibase:GeoAutoPrecision", "wikibase:Dump", "wikibase:Mediainfo"},
    "snaks": {"some value and no value in qualifiers and references", "normalized values in references"},
}
"""Of the description, what no entity of the mock has."""

Nodes = dict[str, list[tuple[str, dict[str, set[str]]]]]

KINDS = {"Q": (0, "", "item"), "P": (120, "Property:", "property"), "L": (146, "Lexeme:", "lexeme")}
SAMPLE = [*(f"Q{n}" for n in range(1, 60)), *(f"P{n}" for n in range(1, 33)), *(f"L{n}" for n in range(1, 30))]


def located(entity: str, text: str | None = None) -> Located:
    namespace_id, prefix, kind = KINDS[entity[0]]
    page_id = int(entity[1:])
    revision = CatalogRevision(
        rev_id=page_id * 4096 + 1, parent_id=0, timestamp=datetime(2026, 1, 1, tzinfo=UTC), text=text
    )
    page = CatalogPage(
        wiki="wikidatawiki",
        domain=DOMAIN,
        page_id=page_id,
        namespace_id=namespace_id,
        title=prefix + entity,
        revisions=(revision,),
        content_model=f"wikibase-{kind}",
    )
    return Located(page, revision)


def read(entity: str, text: str | None = None) -> set[Triple]:
    return {quad.triple for quad in parse(EntityRdf("ttl").write(7, located(entity, text)), format=RdfFormat.TURTLE)}


@pytest.fixture(scope="module")
def nodes() -> Nodes:
    """Of each kind of node, the subjects with their predicates and the kinds of their objects."""
    by_kind: Nodes = {}
    graphs = [*map(read, SAMPLE), read("Q9999", '{"entity": "Q9999", "redirect": "Q1"}')]
    for graph in graphs:
        said: dict[str, dict[str, set[str]]] = {}
        for triple in graph:
            predicates = said.setdefault(str(triple.subject), {})
            predicates.setdefault(predicate(triple.predicate.value), set()).add(kind_of_object(triple))
        for subject, predicates in said.items():
            by_kind.setdefault(kind_of_subject(subject, predicates), []).append((subject, predicates))
    return by_kind


def short(iri: str) -> tuple[str, str]:
    name = max(
        (name for name in PREFIXES if iri.startswith(PREFIXES[name])), key=lambda name: len(PREFIXES[name]), default=""
    )
    return name, iri[len(PREFIXES.get(name, "")) :]


def predicate(iri: str) -> str:
    name, local = short(iri)
    return (
        f"{name}:"
        if name in {"p", "wdt", "wdtn", "ps", "psv", "psn", "pq", "pqv", "pqn", "pr", "prv", "prn"}
        else f"{name}:{local}"
    )


def kind_of_object(triple: Triple) -> str:
    value = triple.object
    if isinstance(value, BlankNode):
        return "blank"
    if isinstance(value, Literal):
        name, local = short(value.datatype.value)
        return "text@" if value.language else "text" if local == "string" else f"{name}:{local}"
    assert isinstance(value, NamedNode)
    name, local = short(value.value)
    is_class = name in {"schema", "owl", "ontolex"} or (
        name == "wikibase" and "propertyType" not in triple.predicate.value
    )
    return f"{name}:{local}" if is_class else name or "iri"


def kind_of_subject(subject: str, predicates: dict[str, set[str]]) -> str:
    types = predicates.get("rdf:type", set())
    by_type = {
        "wikibase:TimeValue": "time",
        "wikibase:QuantityValue": "quantity",
        "wikibase:GlobecoordinateValue": "coordinates",
    }
    by_type |= {
        f"wikibase:{name}": name.lower()
        for name in ("Item", "Property", "Lexeme", "Form", "Sense", "Statement", "Reference")
    }
    by_type |= {
        "schema:Dataset": "document",
        "schema:Article": "sitelink",
        "owl:Class": "novalue",
        "owl:Restriction": "restriction",
    }
    known = [by_type[name] for name in types if name in by_type]
    if known:
        (kind,) = known
        return kind
    if "owl:sameAs" in predicates:
        return "redirect"
    return "wiki" if "wikibase:wikiGroup" in predicates else "predicate"


def test_prefixes_are_those_of_the_description() -> None:
    assert prefixes(DOMAIN) == PREFIXES


@pytest.mark.parametrize("kind", SHAPES)
def test_a_node_has_the_predicates_of_the_description(nodes: Nodes, kind: str) -> None:
    shape = SHAPES[kind]
    for subject, predicates in nodes[kind]:
        unknown = {name: kinds - shape.get(name, set()) for name, kinds in predicates.items()}
        assert {name: kinds for name, kinds in unknown.items() if kinds} == {}, subject
        assert shape.keys() - predicates.keys() <= OPTIONAL, subject


@pytest.mark.parametrize("kind", SHAPES)
def test_every_predicate_of_the_description_is_there(nodes: Nodes, kind: str) -> None:
    shown = {name for _, predicates in nodes[kind] for name in predicates}
    assert shown == SHAPES[kind].keys()


def test_there_are_no_other_kinds_of_nodes(nodes: Nodes) -> None:
    assert nodes.keys() == SHAPES.keys()


def test_what_is_left_out_is_not_there(nodes: Nodes) -> None:
    types = {
        triple.object.value.removeprefix(PREFIXES["wikibase"])
        for number in range(1, 33)
        for triple in read(f"P{number}")
        if triple.predicate.value == PREFIXES["wikibase"] + "propertyType"
    }
    assert types.isdisjoint(LEFT_OUT["types of values"])
    assert len(types) == 9
    assert all("blank" not in predicates.get("pq:", set()) for _, predicates in nodes["statement"])
