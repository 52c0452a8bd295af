"""An entity at a revision as RDF, in the shape of `flavor=dump`; a pure function of (seed, wiki, revision, source).

    data node ── entity ── terms ── statements ── sitelinks ── shared: references, values

The shape is that of https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal

from mockapi.draws import digest, uniform
from mockapi.wiki.catalog import Located
from mockapi.wiki.timestamps import iso
from mockapi.wiki.wikibase.drawn_value import datatype_of, has_formatter
from mockapi.wiki.wikibase.entity_id import entity_id_of
from mockapi.wiki.wikibase.entity_source import Sitelinks, read_source
from mockapi.wiki.wikibase.entity_terms import (
    describe_item,
    describe_lexeme,
    describe_sitelinks,
    draw_sitelinks,
    lexeme_parts,
)
from mockapi.wiki.wikibase.statements import Statement, StatementTriples, draw_statements
from mockapi.wiki.wikibase.vocabulary import TYPE, Triple, text, typed, write_ntriples, write_turtle

RdfForm = Literal["ttl", "nt"]

FORMAT_VERSION: Final = "1.0.0"

_LICENSE: Final = "<http://creativecommons.org/publicdomain/zero/1.0/>"
_CLASSES: Final = {"Q": "wikibase:Item", "P": "wikibase:Property", "L": "wikibase:Lexeme"}
_SIZES: Final = ((0.9, 50), (0.99, 500), (1.0, 5_000))
_SPREAD: Final = 0.2
_SMALL: Final = 12
_OF_A_PART: Final = 3
_BYTES_A_STATEMENT: Final = 450


@dataclass(frozen=True, slots=True)
class EntityRdf:
    """The RDF of a revision's entity in place of its HTML."""

    form: RdfForm
    size_bytes: None = None  # unknown until it is made

    def write(self, seed: int, located: Located) -> bytes:
        """The whole document. Raises ValueError for a source that is not that of an entity."""
        triples = describe_entity(seed, located)
        domain = located.page.domain
        return write_turtle(triples, domain) if self.form == "ttl" else write_ntriples(triples, domain)

    def estimate_bytes(self, seed: int, located: Located) -> int:
        """About how long it is."""
        return statement_count(seed, located) * _BYTES_A_STATEMENT


def sitelinks_of(seed: int, located: Located) -> Sitelinks:
    """The sitelinks of an item at a revision. Raises ValueError for a source that is not that of an entity."""
    entity, source = entity_id_of(located.page), read_source(located)
    keys = {item: _key(seed, located, item) for item in (entity, *source.merged)}
    return draw_sitelinks(keys, source) if entity[0] == "Q" else {}


def statement_count(seed: int, located: Located) -> int:
    """How many statements an entity has before edits add some: of items 90 % about 50, 9 % 500, 1 % 5,000.

    A property has 12; so has a lexeme, whose first form and first sense have 3 each besides.
    """
    entity = entity_id_of(located.page)
    if entity[0] != "Q":
        return _SMALL
    drawn = uniform(seed, "entity size", located.page.wiki, entity)
    most = next(size for share, size in _SIZES if drawn < share)
    return round(most * (1 + _SPREAD * (2 * uniform(seed, "entity spread", located.page.wiki, entity) - 1)))


def describe_entity(seed: int, located: Located) -> Iterator[Triple]:
    """The triples of a revision. Raises ValueError for a source that is not that of an entity."""
    entity = entity_id_of(located.page)
    source = read_source(located)
    if source.redirect is not None:
        yield f"wd:{entity}", "owl:sameAs", f"wd:{source.redirect}"
        yield from _describe_document(entity, located)
        return
    key, edits = _key(seed, located, entity), located.revision.number
    statements = draw_statements(key, entity, statement_count(seed, located), edits)
    parts = [part for ids in lexeme_parts(key, entity) for part in ids[:1]] if entity[0] == "L" else []
    for part in parts:
        statements += draw_statements(digest(key.hex(), part), part, _OF_A_PART, edits)
    links = sitelinks_of(seed, located)
    yield from _describe_document(entity, located)
    yield from _page_properties(entity, statements, len(links))
    yield f"wd:{entity}", TYPE, _CLASSES[entity[0]]
    if entity[0] == "L":
        yield from describe_lexeme(key, entity, source)
    else:
        yield from describe_item(key, entity, edits, source)
    if entity[0] == "P":
        yield from _define_property(int(entity[1:]))
    described = StatementTriples(seed)
    yield from described.describe(statements)
    yield from describe_sitelinks(entity, links)
    yield from chain.from_iterable(described.shared.values())


def _key(seed: int, located: Located, entity: str) -> bytes:
    return digest(seed, "entity", located.page.wiki, entity)


def _describe_document(entity: str, located: Located) -> Iterator[Triple]:
    node = f"data:{entity}"
    yield node, TYPE, "schema:Dataset"
    yield node, "schema:about", f"wd:{entity}"
    yield node, "cc:license", _LICENSE
    yield node, "schema:softwareVersion", text(FORMAT_VERSION)
    yield node, "schema:version", typed(located.revision.rev_id, "integer")
    yield node, "schema:dateModified", typed(iso(located.revision.timestamp), "dateTime")


def _page_properties(entity: str, statements: list[Statement], links: int) -> Iterator[Triple]:
    node = f"data:{entity}"
    yield node, "wikibase:statements", typed(len(statements), "integer")
    if entity[0] == "Q":
        identifiers = sum(statement.is_identifier for statement in statements)
        yield node, "wikibase:sitelinks", typed(links, "integer")
        yield node, "wikibase:identifiers", typed(identifiers, "integer")


_PREDICATES: Final = {
    "claim": "p",
    "directClaim": "wdt",
    "statementProperty": "ps",
    "statementValue": "psv",
    "qualifier": "pq",
    "qualifierValue": "pqv",
    "reference": "pr",
    "referenceValue": "prv",
    "novalue": "wdno",
}
_NORMALIZED: Final = {
    "directClaimNormalized": "wdtn",
    "statementValueNormalized": "psn",
    "qualifierValueNormalized": "pqn",
    "referenceValueNormalized": "prn",
}
_SIMPLE: Final = ("wdt", "ps", "pq", "pr")
_TO_OBJECTS: Final = frozenset({"WikibaseItem", "Url", "CommonsMedia"})


def _define_property(number: int) -> Iterator[Triple]:
    """Its type, its predicates with their kinds, and the class of statements that it has no value."""
    subject, own, datatype = f"wd:P{number}", f"P{number}", datatype_of(number)
    normalized = datatype == "Quantity" or has_formatter(number)
    yield subject, "wikibase:propertyType", f"wikibase:{datatype}"
    predicates = {**_PREDICATES, **(_NORMALIZED if normalized else {})}
    for name, prefix in predicates.items():
        yield subject, f"wikibase:{name}", f"{prefix}:{own}"
    simple = "owl:ObjectProperty" if datatype in _TO_OBJECTS else "owl:DatatypeProperty"
    for prefix in predicates.values():
        if prefix == "wdtn":
            kind = "owl:DatatypeProperty" if datatype == "Quantity" else "owl:ObjectProperty"
        elif prefix == "wdno":
            kind = "owl:Class"
        else:
            kind = simple if prefix in _SIMPLE else "owl:ObjectProperty"
        yield f"{prefix}:{own}", TYPE, kind
    restriction = f"_:{digest('complement', own).hex()}"
    yield f"wdno:{own}", "owl:complementOf", restriction
    yield restriction, TYPE, "owl:Restriction"
    yield restriction, "owl:onProperty", f"wdt:{own}"
    yield restriction, "owl:someValuesFrom", "owl:Thing"
