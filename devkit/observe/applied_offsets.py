"""Up to where the mutations of a topic have been applied to a triple store, where `python -m pipeline apply` keeps it.

It is a triple of the store, or under `apply.offset: kafka` the committed offset of a consumer group.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.group_offsets import GroupOffsets
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.triple_store import TripleStore

_PARTITION = 0
_TIMEOUT_S = 2.0
_NEXT_OFFSET = "urn:enrichment:next-offset"


class FollowerOffsets(Protocol):
    """How far a program has come that reads what another one writes. `part` is the part of the stack that says it."""

    @property
    def part(self) -> str:
        """As `stack.part` takes it."""

    def look(self) -> Offsets | None:
        """The next offset of each partition; None where none is kept, or not all is known. Raises StackError."""

    def close(self) -> None:
        """End the connections."""


@runtime_checkable
class AppliedOffsets(FollowerOffsets, Protocol):
    """The same of one that applies it to a triple store."""

    @property
    def graph(self) -> str | None:
        """IRI of the named graph that it writes to; None for the default graph."""


@dataclass(frozen=True)
class OffsetInStore:
    """See `AppliedOffsets`."""

    store: TripleStore
    topic: str
    graph: str | None = None
    part: ClassVar[str] = TRIPLE_STORE

    def look(self) -> Offsets | None:
        """Raises PartError where the store does not answer within two seconds."""
        pattern = f"<urn:enrichment:mutations:{self.topic}:{_PARTITION}> <{_NEXT_OFFSET}> ?offset"
        inside = pattern if self.graph is None else f"GRAPH <{self.graph}> {{ {pattern} }}"
        rows = self.store.select(f"SELECT ?offset {{ {inside} }}", timeout_s=_TIMEOUT_S)["results"]["bindings"]
        offsets = [int(row["offset"]["value"]) for row in rows]
        return {(self.topic, _PARTITION): min(offsets)} if offsets else None

    def close(self) -> None:
        """Nothing stays open."""


@dataclass(frozen=True)
class OffsetOfGroup:
    """See `AppliedOffsets`."""

    offsets: GroupOffsets
    topic: str
    graph: str | None = None
    part: ClassVar[str] = "kafka"

    def look(self) -> Offsets | None:
        """Raises StackError when the broker does not answer."""
        return self.offsets.of([self.topic]) or None

    def close(self) -> None:
        """Ends the connection."""
        self.offsets.close()
