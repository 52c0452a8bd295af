"""A patch as one SPARQL 1.1 Update request, which also writes the next offset into the store.

    delete by query the cleared entities: statements of them and of their forms and senses, those, sitelinks, the rest
    DELETE DATA     triples
    INSERT DATA     triples
    DELETE/INSERT   the next offset of the topic's partition: one triple

The operations of a request are executed in their order (SPARQL 1.1 Update, section 3). Whether all of them are one
transaction is the target's promise, not the standard's. Literals are compared as the target compares them.

References and values stay, as other entities may link them; so do a property's definitions (`prop/…`), as other
entities' triples name them. A sitelink that another entity has too loses nothing but its `schema:about`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.apply.accumulate import Patch
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.triples import Triple, serialize_triples, split_terms
from pipeline.rdf.vocabulary import ONTOLEX_LEXICAL_FORM, ONTOLEX_SENSE, SCHEMA_ABOUT

NEXT_OFFSET = "<urn:enrichment:next-offset>"
_XSD_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
_SUB_ENTITY = f"({ONTOLEX_LEXICAL_FORM}|{ONTOLEX_SENSE})"


@dataclass(frozen=True, slots=True)
class StorePosition:
    """Up to where a partition of a mutation topic is in the store. `next_offset` is the first one that is not."""

    topic: str
    partition: int
    next_offset: int

    @property
    def node(self) -> str:
        """The subject of its triple."""
        return position_node(self.topic, self.partition)


def position_node(topic: str, partition: int) -> str:
    """The subject of the triple with the next offset; a topic's name has no characters that an IRI must not have."""
    return f"<urn:enrichment:mutations:{topic}:{partition}>"


def position_query(topic: str, partition: int, *, graph: str | None = None) -> str:
    """A SELECT for the next offset in a store, `?offset`; no row where the store has none."""
    pattern = f"{position_node(topic, partition)} {NEXT_OFFSET} ?offset"
    return f"SELECT ?offset WHERE {{ {_in_graph(pattern, graph)} }}"


def count_query(triples: Sequence[Triple], *, graph: str | None = None) -> str:
    """A SELECT for how many of the triples, which have no blank nodes, a store has: one row, `?count`."""
    rows = "\n".join(f"({' '.join(split_terms(triple))})" for triple in triples)
    pattern = _in_graph("?subject ?predicate ?object", graph)
    return f"SELECT (COUNT(*) AS ?count) WHERE {{\nVALUES (?subject ?predicate ?object) {{\n{rows}\n}}\n{pattern}\n}}"


def write_update(
    patch: Patch, position: StorePosition | None, namespaces: ConceptNamespaces, *, graph: str | None = None
) -> str:
    """The text of the request; empty where nothing is to be done. `graph` is the IRI of a named graph for triples and
    offset; None for the default one. Without a position the store's own stays as it is.
    """
    operations = _clear_entities([namespaces.entity_node(entity) for entity in patch.cleared], namespaces, graph)
    if patch.deleted:
        operations.append(_change_data("DELETE DATA", patch.deleted, graph))
    if patch.inserted:
        operations.append(_change_data("INSERT DATA", patch.inserted, graph))
    if position is not None:
        operations.append(_write_position(position, graph))
    return ";\n".join(operations) + "\n" if operations else ""


def _clear_entities(entities: Sequence[str], namespaces: ConceptNamespaces, graph: str | None) -> list[str]:
    if not entities:
        return []
    values = f"VALUES ?entity {{ {' '.join(entities)} }}"
    statement_prefix = namespaces.statement.removeprefix("<")
    return [
        _delete_where(
            "?node ?predicate ?object",
            f"""{values}
  ?entity {_SUB_ENTITY}? ?owner .
  ?owner ?link ?node .
  FILTER(isIRI(?node) && STRSTARTS(STR(?node), "{statement_prefix}"))
  ?node ?predicate ?object .""",
            graph,
        ),
        _delete_where(
            "?part ?predicate ?object",
            f"""{values}
  ?entity {_SUB_ENTITY} ?part .
  ?part ?predicate ?object .""",
            graph,
        ),
        _delete_where(
            "?page ?predicate ?object",
            f"""{values}
  ?page {SCHEMA_ABOUT} ?entity .
  ?page ?predicate ?object .
  FILTER NOT EXISTS {{ ?page {SCHEMA_ABOUT} ?other . FILTER(?other NOT IN ({", ".join(entities)})) }}""",
            graph,
        ),
        _delete_where(f"?page {SCHEMA_ABOUT} ?entity", f"{values}\n  ?page {SCHEMA_ABOUT} ?entity .", graph),
        _delete_where("?entity ?predicate ?object", f"{values}\n  ?entity ?predicate ?object .", graph),
    ]


def _delete_where(template: str, pattern: str, graph: str | None) -> str:
    return f"{_with_graph(graph)}DELETE {{ {template} }}\nWHERE {{\n  {pattern}\n}}"


def _change_data(operation: str, triples: Sequence[Triple], graph: str | None) -> str:
    return f"{operation} {{\n{_in_graph(serialize_triples(triples), graph)}}}"


def _write_position(position: StorePosition, graph: str | None) -> str:
    node = position.node
    offset = f'"{position.next_offset}"^^{_XSD_INTEGER}'
    return (
        f"{_with_graph(graph)}DELETE {{ {node} {NEXT_OFFSET} ?before }}\nINSERT {{ {node} {NEXT_OFFSET} {offset} }}\n"
        f"WHERE {{ OPTIONAL {{ {node} {NEXT_OFFSET} ?before }} }}"
    )


def _with_graph(graph: str | None) -> str:
    return "" if graph is None else f"WITH <{graph}>\n"


def _in_graph(text: str, graph: str | None) -> str:
    return text if graph is None else f"GRAPH <{graph}> {{\n{text}}}\n"
