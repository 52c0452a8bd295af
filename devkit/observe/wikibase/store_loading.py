"""Writes the triples of entities into a triple store."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from devkit.observe.store_difference import EntityTruth
from devkit.stack.parts.triple_store import TripleStore

_REQUEST_TRIPLES: Final = 10_000


def load_store(store: TripleStore, truths: Iterable[EntityTruth], graph: str | None = None) -> None:
    """All of them into the named graph of this IRI; None for the default graph. Raises PartError."""
    for update in insertions(truths, lambda _entity: graph):
        store.change(update)


def insertions(truths: Iterable[EntityTruth], graph_of: Callable[[str], str | None]) -> Iterator[str]:
    """Updates of about 10,000 triples each. `graph_of` gives the IRI of an entity's named graph."""
    blocks: list[str] = []
    count = 0
    for truth in truths:
        lines, graph = "\n".join(f"{' '.join(triple)} ." for triple in truth.triples), graph_of(truth.entity)
        blocks.append(lines if graph is None else f"GRAPH <{graph}> {{\n{lines}\n}}")
        count += len(truth.triples)
        if count >= _REQUEST_TRIPLES:
            yield f"INSERT DATA {{ {' '.join(blocks)} }}"
            blocks, count = [], 0
    if count:
        yield f"INSERT DATA {{ {' '.join(blocks)} }}"
