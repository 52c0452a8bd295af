"""What the store knows of a mutation topic: triples, the next offset, and how far both are from what was expected."""

from collections.abc import Callable, Sequence
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


class StoreMovedError(Exception):
    """The store's next offset is another one than the process has written: the store was restored from a copy, or
    another process writes to it.
    """

    def __init__(self, offset: int | None) -> None:
        super().__init__(f"the store's next offset is {offset}")
        self.offset = offset


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

    def require_offset(self, expected: int) -> None:
        """Raises StoreMovedError where the store has another next offset."""
        offset = self.next_offset()
        if offset != expected:
            raise StoreMovedError(offset)

    def write_offset(self, next_offset: int) -> None:
        """Set the next offset, whatever it is, and change no other triple."""
        self._update(Patch(), next_offset, lambda: True)

    def apply(self, patch: Patch, *, before: int, after: int) -> None:
        """Change the triples and the next offset in one request. Where it has to be sent again, the store must have one
        of the two offsets; it is not sent where that is `after`. Raises StoreMovedError.
        """

        def is_needed() -> bool:
            offset = self.next_offset()
            if offset not in (before, after):
                raise StoreMovedError(offset)
            return offset == before

        self._update(patch, after, is_needed)

    def apply_triples(self, patch: Patch) -> None:
        """Change the triples and leave the next offset as it is."""
        self._update(patch, None, lambda: True)

    def _update(self, patch: Patch, next_offset: int | None, is_needed: Callable[[], bool]) -> None:
        position = None if next_offset is None else StorePosition(self._topic, PARTITION, next_offset)
        text = write_update(patch, position, self._namespaces, graph=self._graph)
        if text:
            self._target.update(text, is_needed)

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
