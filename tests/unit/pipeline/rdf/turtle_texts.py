"""Turtle with the prefixes of the RDF dump format, and what every document of an entity has."""

from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.triples import Triple, parse_triples

NAMESPACES = ConceptNamespaces("http://wiki.example")
_BELOW_BASE = {
    "wd": "entity/",
    "wds": "entity/statement/",
    "wdref": "reference/",
    "wdv": "value/",
    "wdno": "prop/novalue/",
    "wdt": "prop/direct/",
    "p": "prop/",
    "ps": "prop/statement/",
    "psv": "prop/statement/value/",
    "pq": "prop/qualifier/",
    "pqv": "prop/qualifier/value/",
    "pr": "prop/reference/",
    "prv": "prop/reference/value/",
    "wdata": "wiki/Special:EntityData/",
}
_OTHERS = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "prov": "http://www.w3.org/ns/prov#",
    "ontolex": "http://www.w3.org/ns/lemon/ontolex#",
    "wikibase": "http://wikiba.se/ontology#",
}
PREFIXES = "".join(
    f"@prefix {prefix}: <{iri}> .\n"
    for prefix, iri in ({name: f"{NAMESPACES.base}/{path}" for name, path in _BELOW_BASE.items()} | _OTHERS).items()
)


def triples_of(turtle: str) -> list[Triple]:
    """Of Turtle without its prefixes."""
    return parse_triples(PREFIXES + turtle, source="test")


def version_of(entity: str, rev: int = 1, *, node: str = "wd") -> str:
    """Version and date on the entity, or with `node="wdata"` on its document."""
    return f'{node}:{entity} schema:version {rev} ; schema:dateModified "2026-03-02T09:00:00Z"^^xsd:dateTime .\n'
