"""Mutations made of Turtle, and a store in memory that patches are applied to."""

from collections.abc import Iterable

import pyoxigraph

from pipeline.apply.accumulate import MutationBatch
from pipeline.apply.patch import APPLIED_OFFSET, LAST_REQUEST, NEXT_OFFSET, TOPIC_ID, StorePosition, write_update
from pipeline.apply.reassemble import Mutation
from pipeline.rdf.operation import Op
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions, state_in_full
from pipeline.rdf.triples import Triple, split_terms
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

TOPIC = "rdf.mutation"
_POSITION = (NEXT_OFFSET, APPLIED_OFFSET, LAST_REQUEST, TOPIC_ID)


def mutation_of(entity: str, op: Op, diff: TripleDiff, *, next_offset: int = 1, rev: int = 1) -> Mutation:
    return Mutation(
        entity=entity,
        op=op,
        rev=rev,
        seq=next_offset,
        dt="2026-03-02T09:00:00Z",
        request_id=f"request {next_offset}",
        diff=diff,
        first_offset=next_offset - 1,
        next_offset=next_offset,
    )


def edit(entity: str, before: str, after: str, *, next_offset: int = 1) -> Mutation:
    """A diff of two revisions given as Turtle."""
    diff = diff_revisions(frozenset(triples_of(before)), frozenset(triples_of(after)), NAMESPACES)
    return mutation_of(entity, "diff", diff, next_offset=next_offset)


def delete(entity: str, *, next_offset: int = 1, rev: int = 1) -> Mutation:
    return mutation_of(entity, "delete", TripleDiff(), next_offset=next_offset, rev=rev)


def reconcile(entity: str, turtle: str, *, next_offset: int = 1) -> Mutation:
    return mutation_of(entity, "reconcile", state_in_full(triples_of(turtle)), next_offset=next_offset)


def import_of(entity: str, turtle: str, *, next_offset: int = 1) -> Mutation:
    diff = diff_revisions(frozenset(), frozenset(triples_of(turtle)), NAMESPACES)
    return mutation_of(entity, "import", diff, next_offset=next_offset)


def store_with(turtle: str) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.update(f"INSERT DATA {{ {' '.join(triples_of(turtle))} }}")
    return store


def apply_batch(store: pyoxigraph.Store, batch: MutationBatch) -> None:
    assert batch.next_offset is not None
    store.update(write_update(batch.patch(), StorePosition(TOPIC, 0, batch.next_offset), NAMESPACES))


def apply_all(store: pyoxigraph.Store, mutations: Iterable[Mutation], batch: MutationBatch) -> None:
    """In one batch, which is empty."""
    for mutation in mutations:
        batch.add(mutation)
    apply_batch(store, batch)


def triples_in(store: pyoxigraph.Store) -> set[Triple]:
    """Without the position."""
    text = store.dump(format=pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    assert text is not None
    return {line for line in text.decode().split("\n")[:-1] if split_terms(line)[1] not in _POSITION}
