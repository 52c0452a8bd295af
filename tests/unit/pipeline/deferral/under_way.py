"""What a driver of the model has under way: a batch and slow rounds, with what their tasks have sent."""

from dataclasses import dataclass, field

from pipeline.deferral.entry import Entry
from pipeline.deferral.ledger import Round, Snapshot
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.world import Event, Write


@dataclass
class Batch:
    """From the moment Spark has written its offsets; `snapshot` is there once the ledger was asked."""

    number: int
    rows: list[Event]
    snapshot: Snapshot | None = None
    task: int = 0
    writes: list[Write] = field(default_factory=list)
    settled: bool = False
    # The wikis that its tasks found to be down, and the tries of its events there before.
    found: set[str] = field(default_factory=set)
    tries: dict[Position, int] = field(default_factory=dict)

    def positions(self) -> set[Position]:
        reserved = [entry.position for entry in self.snapshot.reserved] if self.snapshot else []
        return {event.position for event in self.rows} | set(reserved)


@dataclass(eq=False)
class Working:
    """A slow round under way, with what it does to its entries; `writes` are what it emits, and the tombstones that
    follow. `last` is what the driver writes at its end.
    """

    taken: Round
    rewritten: list[Entry] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    tombstones: dict[Position, Write] = field(default_factory=dict)
    # How many outages were known before it.
    outages: int = 0
    last: list[Write] | None = None

    @property
    def resolved(self) -> list[Position]:
        return list(self.tombstones)
