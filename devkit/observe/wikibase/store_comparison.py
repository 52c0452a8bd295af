"""Compares the entities in a triple store with the truth, within the store: each server has its own form of literals.

The truth of each entity is written into a named graph of its own, and what differs is asked for. These graphs are
removed afterwards. The triples about the position in a mutation topic do not count.

A triple that no truth has counts against the entity whose node it is about. About a node that entities may share it
counts against all whose truth has the node; where none has it, it is an orphan. Any other node differs by itself.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from devkit.observe.store_difference import EntityDifference, EntityTruth, StoreDifference
from devkit.observe.stored_triples import select
from devkit.observe.wikibase.entity_triples import BASE, Triple, may_be_unlinked
from devkit.observe.wikibase.store_loading import insertions
from devkit.stack.parts.triple_store import TripleStore

_TRUTH: Final = "urn:devkit:truth:"
_ENTITY: Final = f"<{BASE}/entity/"
_STATEMENT: Final = f"<{BASE}/entity/statement/"
_POSITION: Final = "<urn:enrichment:mutations:"
_ABOUT: Final = "<http://schema.org/about>"


def compare_store(store: TripleStore, truths: Sequence[EntityTruth], graph: str | None = None) -> StoreDifference:
    """`graph` is the IRI of the named graph that holds the entities; None for the default graph. Raises PartError."""
    stored = _in_graph("?s ?p ?o", graph)
    graphs = f'FILTER(STRSTARTS(STR(?g), "{_TRUTH}"))'
    try:
        for update in insertions(truths, lambda entity: f"{_TRUTH}{entity}"):
            store.change(update)
        missing = Counter(
            {
                row["g"].removeprefix(f"<{_TRUTH}").removesuffix(">"): int(row["count"].split('"')[1])
                for row in select(
                    store,
                    f"SELECT ?g (COUNT(*) AS ?count) {{ GRAPH ?g {{ ?s ?p ?o }} {graphs} "
                    f"FILTER NOT EXISTS {{ {stored} }} }} GROUP BY ?g",
                )
            }
        )
        extra = select(
            store, f"SELECT ?s ?p ?o {{ {stored} FILTER NOT EXISTS {{ GRAPH ?g {{ ?s ?p ?o }} {graphs} }} }}"
        )
    finally:
        store.change(";\n".join(f"CLEAR SILENT GRAPH <{_TRUTH}{truth.entity}>" for truth in truths))
    unexpected, orphans = _count_unexpected(extra, _entities_by_subject(truths))
    differing = tuple(
        EntityDifference(entity, missing[entity], unexpected[entity]) for entity in sorted(missing | unexpected)
    )
    return StoreDifference(len(truths), differing, orphans)


def _entities_by_subject(truths: Iterable[EntityTruth]) -> Mapping[str, Set[str]]:
    entities: dict[str, set[str]] = defaultdict(set)
    for truth in truths:
        for triple in truth.triples:
            entities[triple.subject].add(truth.entity)
    return entities


def _count_unexpected(
    rows: Iterable[Mapping[str, str]], entities_by_subject: Mapping[str, Set[str]]
) -> tuple[Counter[str], int]:
    """The triples of each entity, or of each node of no known kind, and the number of orphans."""
    counts, orphans = Counter[str](), 0
    for row in rows:
        triple = Triple(row["s"], row["p"], row["o"])
        if triple.subject.startswith(_POSITION):
            continue
        if owner := _owner(triple):
            counts[owner] += 1
        elif sharing := entities_by_subject.get(triple.subject):
            counts.update(sharing)
        elif may_be_unlinked(triple):
            orphans += 1
        else:
            counts[triple.subject] += 1
    return counts, orphans


def _owner(triple: Triple) -> str | None:
    """The entity whose triple it is; None where several may have it."""
    node = triple.object if triple.predicate == _ABOUT else triple.subject
    for prefix in (_STATEMENT, _ENTITY):
        if node.startswith(prefix):
            return node.removeprefix(prefix).rstrip(">").partition("-")[0]
    return None


def _in_graph(pattern: str, graph: str | None) -> str:
    return pattern if graph is None else f"GRAPH <{graph}> {{ {pattern} }}"
