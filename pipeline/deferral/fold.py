"""The state that the ledger's topic describes: its fold, a partition at a time, in the order of offsets.

A driver that starts writes its epoch's marker to every partition and then folds. What an older epoch wrote behind the
marker is void: it comes from a process that was given up, and no process may act on it. It does hide the record before
it from Kafka's compaction, though, so a driver that meets a void record writes the ledger's state of that key again
(`voids`), and has to meet it within the topic's `min.compaction.lag.ms`.

A fold may go on where another ended (`markers`), as it does after each batch. A driver that then finds a marker newer
than its own epoch has been given up itself, and must not commit (`check_epoch`): its records may have been void, and
committing the batch would lose them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.deferral.entry import Entry
from pipeline.deferral.wire import Command, CommandDone, EntryItem, EpochMarker, Item, Tombstone
from pipeline.errors import PipelineError
from pipeline.records.record import Position


class FencedError(PipelineError):
    """Another driver of this job has started since; this one must end without committing."""


class ScatteredError(PipelineError):
    """A position stands in two partitions, between which there is no order."""


@dataclass(frozen=True, slots=True)
class Folded:
    """What some stretch of the topic says. `entries` come in the order in which they were first deferred.

    `epoch` is the highest that was seen, 0 when there was none; `markers` the highest of each partition, to go on
    from. `voids` are the positions whose last record is void. `commands` are those not yet carried out, in order.
    """

    entries: dict[Position, Entry]
    epoch: int
    voids: list[Position]
    commands: tuple[Command, ...]
    markers: dict[int, int]
    _batches: dict[Position, int | None]

    def written_by(self, batch: int) -> list[Entry]:
        """The entries that the main lane's `batch` wrote, for step 4; all others have been applied by their writers."""
        return [entry for position, entry in self.entries.items() if self._batches[position] == batch]


def fold(items: Iterable[Item | None], *, markers: Mapping[int, int] | None = None) -> Folded:
    """Fold records, each partition's in the order of its offsets; `markers` are those of the stretch before.

    Raises ScatteredError when the records of one position stand in two partitions.
    """
    entries: dict[Position, Entry] = {}
    batches: dict[Position, int | None] = {}
    voids: dict[Position, None] = {}
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
                if epoch < seen_markers.get(place.partition, 0):
                    voids[position] = None
                    continue
                voids.pop(position, None)
                if isinstance(item, EntryItem):
                    entries[position], batches[position] = item.entry, item.batch
                else:
                    entries.pop(position, None)
                    batches.pop(position, None)
    highest = max(seen_markers.values(), default=0)
    return Folded(entries, highest, list(voids), tuple(commands.values()), seen_markers, batches)


def check_epoch(folded: Folded, *, own: int) -> None:
    """Raise FencedError when a driver of a later epoch has started."""
    if folded.epoch > own:
        raise FencedError(
            f"a driver of epoch {folded.epoch} has started, and this one is of epoch {own}",
            hint="two processes run the same job; end one of them",
        )


def _scattered(position: Position, one: int, other: int) -> ScatteredError:
    return ScatteredError(
        f"the deferral topic has records of {position} in its partitions {one} and {other}",
        hint="its partitions may not be added to, and all who write to it must choose partitions like Kafka's producer",
    )
