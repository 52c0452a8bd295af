"""What the store knows of a mutation topic: triples, the next offset, and how far both are from what was expected."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.apply.accumulate import Patch
from pipeline.apply.patch import StorePosition, count_query, position_query, write_update
from pipeline.apply.sparql_target import UpdateTarget
from pipeline.errors import RefusedError
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.triples import Triple

PARTITION = 0
"""The one partition of a mutation topic."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """How a store differs from what a batch expects of it, in triples: `missing` ones of those to delete are not there,
    `unexpected` ones of those to add are. `probed` is the number of all that it was asked about.
    """

    probed: int = 0
    missing: int = 0
    unexpected: int = 0


class MutationStore:
    """Its methods raise what the target's do."""

    def __init__(
        self, target: UpdateTarget, namespaces: ConceptNamespaces, topic: str, *, graph: str | None = None
    ) -> None:
        self._target, self._namespaces, self._topic, self._graph = target, namespaces, topic, graph

    def next_offset(self) -> int | None:
        """The next offset in the store; None where it has none. Raises RefusedError where it has several, or no
        number.
        """
        rows = self._target.select(position_query(self._topic, PARTITION, graph=self._graph))
        offsets = sorted({row["offset"] for row in rows})
        if len(offsets) > 1 or not all(offset.isdecimal() for offset in offsets):
            raise RefusedError(
                f"the store has no single next offset of topic {self._topic}, but {', '.join(offsets)[:200]}",
                hint="something else has written to the store: load it again",
            )
        return int(offsets[0]) if offsets else None

    def write_offset(self, next_offset: int) -> None:
        """Set the next offset, and change no other triple."""
        self.apply(Patch(), next_offset)

    def apply(self, patch: Patch, next_offset: int | None) -> None:
        """Change the triples and, unless it is None, the next offset, in one request."""
        position = None if next_offset is None else StorePosition(self._topic, PARTITION, next_offset)
        text = write_update(patch, position, self._namespaces, graph=self._graph)
        if text:
            self._target.update(text)

    def measure_divergence(self, present: Sequence[Triple], absent: Sequence[Triple]) -> Divergence:
        """Asks for triples that should be there, and for others that should not."""
        return Divergence(
            len(present) + len(absent), len(present) - self._count(present) if present else 0, self._count(absent)
        )

    def _count(self, triples: Sequence[Triple]) -> int:
        if not triples:
            return 0
        (row,) = self._target.select(count_query(triples, graph=self._graph))
        return int(row["count"])
