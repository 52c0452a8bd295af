"""The state that the ledger's topic describes: its fold, a partition at a time, in the order of offsets.

A driver that starts writes its epoch's marker to every partition and then folds. Behind the marker, records of an older
epoch are void: their process was given up. Such a record still hides the one before it from Kafka's compaction, so a
driver that meets it writes the ledger's state of that key again (`voids`). If none did within the topic's
`min.compaction.lag.ms`, it may be all that remains of the event, and a driver that starts revives it (`orphans`).

Records of a task attempt by which its batch did not end are void too (`Winners`): an executor that Spark takes for lost
may write on. Only the driver of that batch can tell, and writes over them. To the next driver they count like any
other; the worst of it is a repeat.

A fold may go on where another ended (`markers`), as after each batch. A driver that finds a marker newer than its own
epoch was given up, and must not commit (`check_epoch`): its records may be void, and the batch would lose them.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import ClassVar, Final

from pipeline.deferral.entry import Entry
from pipeline.deferral.wire import Command, CommandDone, EntryItem, EpochMarker, Item, Tombstone
from pipeline.errors import PipelineError
from pipeline.records.record import Position

TWO_PROCESSES: Final = "two processes run the same job: this one has ended, and must not start beside the other"


class FencedError(PipelineError):
    """Another driver of this job has started since; this one must end without committing, and not come back: it would
    end the other.
    """

    exit_code: ClassVar[int] = 2


class ScatteredError(PipelineError):
    """One position is in two partitions, between which there is no order. A restart would only fail the same way."""

    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Winners:
    """The attempts of tasks by which the driver's last `batch` ended, of those that wrote since the last read.

    Spark runs a task again when it loses the executor, whatever `spark.task.maxFailures` says. `batch` is None when no
    batch has ended since.
    """

    epoch: int
    batch: int | None = None
    tasks: Set[int] = frozenset()

    def beat(self, item: Item) -> bool:
        """Whether the record is of an attempt that has lost. All that a winner wrote is read when its batch ends."""
        if not isinstance(item, EntryItem) or item.batch is None or item.epoch != self.epoch:
            return False
        return item.batch != self.batch or item.task not in self.tasks


@dataclass(frozen=True, slots=True)
class Folded:
    """What some stretch of the topic says. `entries` come in the order in which they were first deferred.

    `epoch` is the highest that was seen, 0 when there was none; `markers` the highest of each partition, to go on from.
    `voids` are the positions whose last record is void, `lost` those at which one is of an attempt that has lost;
    `orphans` are the entries that it has of those of which there is no valid record. (A tombstone is written only for
    what was emitted.) `commands` are those not yet carried out, in order.
    """

    entries: dict[Position, Entry]
    epoch: int
    voids: list[Position]
    lost: Set[Position]
    orphans: dict[Position, Entry]
    commands: tuple[Command, ...]
    markers: dict[int, int]
    _batches: dict[Position, int | None]

    @property
    def deferred(self) -> dict[Position, Entry]:
        """The deferred entries, when all records of the topic were folded."""
        return self.entries | self.orphans

    def written_by(self, batch: int) -> list[Entry]:
        """The entries that the main lane's `batch` wrote, for step 4; the driver has applied all others itself."""
        return [entry for position, entry in self.entries.items() if self._batches[position] == batch]


def fold(
    items: Iterable[Item | None], *, markers: Mapping[int, int] | None = None, winners: Winners | None = None
) -> Folded:
    """Fold records, each partition's in the order of its offsets; `markers` are those of the stretch before. Without
    `winners` all attempts count.

    Raises ScatteredError when the records of one position stand in two partitions.
    """
    entries: dict[Position, Entry] = {}
    batches: dict[Position, int | None] = {}
    voids: dict[Position, None] = {}
    lost: set[Position] = set()
    orphans: dict[Position, Entry] = {}
    stated: set[Position] = set()
    commands: dict[str, Command] = {}
    seen_markers = dict(markers or {})
    partitions: dict[Position, int] = {}
    for item in items:
        match item:
            case EpochMarker(place, epoch):
                seen_markers[place.partition] = max(epoch, seen_markers.get(place.partition, 0))
            case Command():
                commands[item.id] = item
            case CommandDone(place, epoch, done):
                if epoch >= seen_markers.get(place.partition, 0):
                    commands.pop(done, None)
            case EntryItem(place, epoch) | Tombstone(place, epoch):
                position = item.entry.position if isinstance(item, EntryItem) else item.position
                if partitions.setdefault(position, place.partition) != place.partition:
                    raise _scattered(position, partitions[position], place.partition)
                given_up = epoch < seen_markers.get(place.partition, 0)
                if given_up or (winners is not None and winners.beat(item)):
                    voids[position] = None
                    if not given_up:
                        lost.add(position)
                    orphans.pop(position, None)
                    if isinstance(item, EntryItem) and position not in stated:
                        orphans[position] = item.entry
                    continue
                stated.add(position)
                voids.pop(position, None)
                orphans.pop(position, None)
                if isinstance(item, EntryItem):
                    entries[position], batches[position] = item.entry, item.batch
                else:
                    entries.pop(position, None)
                    batches.pop(position, None)
    highest = max(seen_markers.values(), default=0)
    return Folded(entries, highest, list(voids), lost, orphans, tuple(commands.values()), seen_markers, batches)


def check_epoch(folded: Folded, *, own: int) -> None:
    """Raise FencedError when a driver of a later epoch has started."""
    if folded.epoch > own:
        raise FencedError(
            f"a driver of epoch {folded.epoch} has started, and this one is of epoch {own}",
            hint=TWO_PROCESSES,
        )


def _scattered(position: Position, partition: int, other_partition: int) -> ScatteredError:
    return ScatteredError(
        f"the deferral topic has records of {position} in its partitions {partition} and {other_partition}",
        hint="was it given more partitions? Then `python -m pipeline deferred move NEW_TOPIC` moves what is deferred "
        "into a new topic, and loses nothing; else all who write to it must choose partitions like Kafka's producer",
    )
