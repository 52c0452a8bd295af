"""A patch as one SPARQL 1.1 Update request, which also writes the next offset into the store.

    delete by query the cleared entities: statements of them and of their forms and senses, those, sitelinks, the rest
    delete by query badges: all of the pages that are linked, and those that an entity has released
    DELETE/INSERT   triples
    DELETE/INSERT   the position of the topic's partition: the two offsets, and the id of the request that wrote them

With an expected position each operation is conditional: it changes something only where the store has that position. So
a request that is executed late, or twice, or while another process writes, changes nothing. The offset alone would not
do, as it stays where it is while a prefix is open. The answer does not say whether the position matched.

The operations of a request are executed in their order (SPARQL 1.1 Update, section 3). Whether all of them are one
transaction is the target's promise, not the standard's. Without it the position changes by itself, behind all others,
and once before that, between deletes by query and inserts: such a delete that is executed late must not meet what its
own request inserted. Literals are compared as the target compares them.

References and values stay, as other entities may link them; so do a property's definitions (`prop/…`), as other
entities' triples name them. A sitelink that another entity has too loses nothing but its `schema:about`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.apply.accumulate import Patch
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.triples import Triple, serialize_triples, split_terms
from pipeline.rdf.vocabulary import ONTOLEX_LEXICAL_FORM, ONTOLEX_SENSE, SCHEMA_ABOUT, SCHEMA_VERSION, WIKIBASE_BADGE

NEXT_OFFSET = "<urn:enrichment:next-offset>"
LAST_REQUEST = "<urn:enrichment:last-request>"
APPLIED_OFFSET = "<urn:enrichment:applied-offset>"
TOPIC_ID = "<urn:enrichment:topic-id>"
_XSD_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
_SUB_ENTITY = f"({ONTOLEX_LEXICAL_FORM}|{ONTOLEX_SENSE})"


@dataclass(frozen=True, slots=True)
class StorePosition:
    """Up to where a partition of a mutation topic is in the store. A restart reads from `next_offset`; every mutation
    that ends before `applied_offset` is in the store, which is None where an earlier version wrote the position.
    `request` is the id of the request that wrote it, without quotes and backslashes; None where none has one. What ends
    before `torn_until` may be in the store by a part. `stored` are its triples where they are others, as requests at
    the same moment have left them.
    """

    topic: str
    partition: int
    next_offset: int
    request: str | None = None
    applied_offset: int | None = None
    torn_until: int = 0
    stored: tuple[Triple, ...] = ()

    @property
    def node(self) -> str:
        """The subject of its triples."""
        return position_node(self.topic, self.partition)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """What a store has that is there."""
        requests = [] if self.request is None else [self.request]
        applied = [] if self.applied_offset is None else [self.applied_offset]
        return self.stored or position_triples(self.topic, self.partition, [self.next_offset], requests, applied)


def position_node(topic: str, partition: int) -> str:
    """The subject of a position's triples; a topic's name has no characters that an IRI must not have."""
    return f"<urn:enrichment:mutations:{topic}:{partition}>"


def position_triples(
    topic: str, partition: int, next_offsets: Iterable[int], requests: Iterable[str], applied_offsets: Iterable[int]
) -> tuple[Triple, ...]:
    """What a store has of a partition with these offsets and ids."""
    node = position_node(topic, partition)
    offsets = (f'{node} {NEXT_OFFSET} "{offset}"^^{_XSD_INTEGER} .' for offset in next_offsets)
    applied = (f'{node} {APPLIED_OFFSET} "{offset}"^^{_XSD_INTEGER} .' for offset in applied_offsets)
    return (*offsets, *applied, *(f'{node} {LAST_REQUEST} "{request}" .' for request in requests))


def position_query(topic: str, partition: int, *, graph: str | None = None) -> str:
    """A SELECT for the position in a store: `?offset`, `?applied` and `?request`; no row where the store has none."""
    node = position_node(topic, partition)
    optional = " ".join(
        f"OPTIONAL {{ {node} {predicate} {name} }}"
        for predicate, name in ((APPLIED_OFFSET, "?applied"), (LAST_REQUEST, "?request"))
    )
    pattern = f"{node} {NEXT_OFFSET} ?offset {optional}"
    return f"SELECT ?offset ?applied ?request WHERE {{ {_in_graph(pattern, graph)} }}"


def topic_id_query(topic: str, partition: int, *, graph: str | None = None) -> str:
    """A SELECT for Kafka's id of the topic in a store, `?id`; no row where the store has none."""
    return f"SELECT ?id WHERE {{ {_in_graph(f'{position_node(topic, partition)} {TOPIC_ID} ?id', graph)} }}"


def write_topic_id(topic_id: str, position: StorePosition, *, graph: str | None = None) -> str:
    """The text of a request that writes the id where the store has the position, in the place of any other."""
    old = f"{position.node} {TOPIC_ID} ?id ."
    pattern = f"{_is_at(position)}OPTIONAL {{ {old} }}\n"
    return _change_where([old], [f'{position.node} {TOPIC_ID} "{topic_id}" .'], pattern, graph) + "\n"


def count_query(triples: Sequence[Triple], *, graph: str | None = None) -> str:
    """A SELECT for how many of the triples, which have no blank nodes, a store has: one row, `?count`."""
    rows = "\n".join(f"({' '.join(split_terms(triple))})" for triple in triples)
    pattern = _in_graph("?subject ?predicate ?object", graph)
    return f"SELECT (COUNT(*) AS ?count) WHERE {{\nVALUES (?subject ?predicate ?object) {{\n{rows}\n}}\n{pattern}\n}}"


def version_query(entities: Sequence[str], *, graph: str | None = None) -> str:
    """A SELECT for those of the entities, which are terms, that a store has triples of: `?entity` and, where it has a
    revision, `?version`.
    """
    pattern = f"""VALUES ?entity {{ {" ".join(entities)} }}
FILTER EXISTS {{ ?entity ?predicate ?object }}
OPTIONAL {{ ?entity {SCHEMA_VERSION} ?version }}
"""
    return f"SELECT ?entity ?version WHERE {{\n{_in_graph(pattern, graph)}}}"


def entity_query(prefix: str = "", *, graph: str | None = None) -> str:
    """A SELECT for an entity that a store has, `?entity`, whose IRI begins so; no row where it has none."""
    pattern = _in_graph(f"?entity {SCHEMA_VERSION} ?version", graph)
    return f'SELECT ?entity WHERE {{ {pattern} FILTER(STRSTARTS(STR(?entity), "{prefix}")) }} LIMIT 1'


def write_update(
    patch: Patch,
    position: StorePosition | None,
    namespaces: ConceptNamespaces,
    *,
    graph: str | None = None,
    expected: StorePosition | None = None,
    atomic: bool = True,
) -> str:
    """The text of the request; empty where nothing is to be done. `graph` is the IRI of a named graph for triples and
    offset; None for the default one. Without a position the store's own stays as it is, without an expected one it may
    be any. `atomic` says whether the target executes a request as one transaction.
    """
    guard = "" if expected is None else _is_at(expected)
    operations = _clear_entities([namespaces.entity_node(entity) for entity in patch.cleared], guard, namespaces, graph)
    operations += _clear_badges(patch, guard, namespaces, graph)
    deleted, inserted = patch.deleted, patch.inserted
    if position is not None and expected is not None:
        if atomic:
            deleted, inserted = (*deleted, *expected.triples), (*inserted, *position.triples)
        elif operations:
            cleared = replace(expected, request=f"{position.request}:cleared")
            operations.append(_change_where(expected.triples, cleared.triples, guard, graph))
            expected, guard = cleared, _is_at(cleared)
    if deleted or inserted:
        operations.append(_change_where(deleted, inserted, guard, graph))
    if position is not None and expected is None:
        operations.append(_write_position(position, "", graph))
    elif position is not None and expected is not None and not atomic:
        operations.append(_change_where(expected.triples, position.triples, guard, graph))
    return ";\n".join(operations) + "\n" if operations else ""


def write_first_position(position: StorePosition, *, graph: str | None = None) -> str:
    """The text of a request that writes the position where the store has no next offset."""
    return _write_position(position, f"FILTER NOT EXISTS {{ {position.node} {NEXT_OFFSET} ?any }}\n", graph) + "\n"


def _is_at(position: StorePosition) -> str:
    """A pattern with one solution where the store has the position, and none elsewhere."""
    pattern = serialize_triples(position.triples)
    if position.request is None and not position.stored:
        pattern += f"FILTER NOT EXISTS {{ {position.node} {LAST_REQUEST} ?any }}\n"
    return pattern


def _clear_entities(entities: Sequence[str], guard: str, namespaces: ConceptNamespaces, graph: str | None) -> list[str]:
    if not entities:
        return []
    values = f"{guard}VALUES ?entity {{ {' '.join(entities)} }}"
    statement_prefix = namespaces.statement.removeprefix("<")
    deletes = [
        (
            "?node ?predicate ?object .",
            f"""?entity {_SUB_ENTITY}? ?owner .
?owner ?link ?node .
FILTER(isIRI(?node) && STRSTARTS(STR(?node), "{statement_prefix}"))
?node ?predicate ?object .""",
        ),
        ("?part ?predicate ?object .", f"?entity {_SUB_ENTITY} ?part .\n?part ?predicate ?object ."),
        (
            "?page ?predicate ?object .",
            f"""?page {SCHEMA_ABOUT} ?entity .
?page ?predicate ?object .
FILTER NOT EXISTS {{ ?page {SCHEMA_ABOUT} ?other . FILTER(?other NOT IN ({", ".join(entities)})) }}""",
        ),
        (f"?page {SCHEMA_ABOUT} ?entity .", f"?page {SCHEMA_ABOUT} ?entity ."),
        ("?entity ?predicate ?object .", "?entity ?predicate ?object ."),
    ]
    return [_change_where([deleted], [], f"{values}\n{pattern}\n", graph) for deleted, pattern in deletes]


def _clear_badges(patch: Patch, guard: str, namespaces: ConceptNamespaces, graph: str | None) -> list[str]:
    badge = f"?page {WIKIBASE_BADGE} ?badge ."
    operations = []
    if patch.pages:
        pattern = f"{guard}VALUES ?page {{ {' '.join(patch.pages)} }}\n{badge}\n"
        operations.append(_change_where([badge], [], pattern, graph))
    if patch.released:
        terms = ((split_terms(triple), namespaces.entity_node(entity)) for triple, entity in patch.released)
        rows = "\n".join(f"({page} {value} {node})" for (page, _, value), node in terms)
        pattern = f"""{guard}VALUES (?page ?badge ?entity) {{
{rows}
}}
{badge}
FILTER NOT EXISTS {{ ?page {SCHEMA_ABOUT} ?other . FILTER(?other != ?entity) }}
"""
        operations.append(_change_where([badge], [], pattern, graph))
    return operations


def _write_position(position: StorePosition, guard: str, graph: str | None) -> str:
    names = ((NEXT_OFFSET, "?offset"), (APPLIED_OFFSET, "?applied"), (LAST_REQUEST, "?request"))
    old = [f"{position.node} {predicate} {name} ." for predicate, name in names]
    pattern = "".join(f"OPTIONAL {{ {triple} }}\n" for triple in old)
    return _change_where(old, position.triples, guard + pattern, graph)


def _change_where(deleted: Sequence[str], inserted: Sequence[str], pattern: str, graph: str | None) -> str:
    """An operation. `deleted` and `inserted` are triples, which may have variables of the pattern; not both are empty,
    and the pattern ends with its line, or is empty.
    """
    with_graph = "" if graph is None else f"WITH <{graph}>\n"
    templates = "".join(
        f"{word} {{\n{serialize_triples(triples)}}}\n"
        for word, triples in (("DELETE", deleted), ("INSERT", inserted))
        if triples
    )
    return f"{with_graph}{templates}WHERE {{\n{pattern}}}"


def _in_graph(text: str, graph: str | None) -> str:
    return text if graph is None else f"GRAPH <{graph}> {{\n{text}}}\n"
