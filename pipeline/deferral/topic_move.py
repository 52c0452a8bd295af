"""A ledger that moves into a new topic: the way out of one whose topic was given more partitions.

A producer chooses a record's partition by key and number of partitions, so records of one position may then stand in
two, between which there is no order (`ScatteredError`). What they say can be told all the same, as each has its epoch:

    in one partition         the last record counts, as in a fold; a void one only where there is no other at all
    between two partitions   that of the later epoch; of one epoch a tombstone, which no driver takes back

In doubt an event stays deferred: that it may be emitted twice is no loss. The old topic keeps what it has, behind a
marker of a new epoch, which ends a job that still runs on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import uuid4

from pipeline.deferral.entry import Entry
from pipeline.deferral.topic import LedgerTopic, items_of
from pipeline.deferral.wire import (
    Command,
    CommandDone,
    EntryItem,
    EpochMarker,
    Item,
    Tombstone,
    command_record,
    epoch_marker,
    to_record,
)
from pipeline.errors import RefusedError
from pipeline.records.record import Position

_NO_DRIVER = 0
"""The epoch of what is moved, in a topic of which no driver has begun one."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The content of a ledger, whatever the partition of its records: the deferred events, and the commands not yet
    carried out. `epoch` is the highest that was seen.
    """

    entries: tuple[Entry, ...]
    commands: tuple[Command, ...]
    epoch: int


@dataclass(slots=True)
class _Stated:
    """For one position, the last valid and the last void record of each partition."""

    valid: dict[int, EntryItem | Tombstone] = field(default_factory=dict)
    void: dict[int, EntryItem | Tombstone] = field(default_factory=dict)

    def entry(self) -> Entry | None:
        latest = max((self.valid or self.void).values(), key=_rank)
        return latest.entry if isinstance(latest, EntryItem) else None


def gather(items: Iterable[Item | None]) -> Gathered:
    """Collects all records, each partition's in the order of its offsets."""
    markers: dict[int, int] = {}
    stated: dict[Position, _Stated] = {}
    commands: dict[str, Command] = {}
    done_ids: set[str] = set()
    for item in items:
        match item:
            case EpochMarker(place, epoch):
                markers[place.partition] = max(epoch, markers.get(place.partition, 0))
            case Command():
                commands[item.id] = item
            case CommandDone(place, epoch, command_id):
                if epoch >= markers.get(place.partition, 0):
                    done_ids.add(command_id)
            case EntryItem(place, epoch) | Tombstone(place, epoch):
                position = item.entry.position if isinstance(item, EntryItem) else item.position
                states = stated.setdefault(position, _Stated())
                is_void = epoch < markers.get(place.partition, 0)
                (states.void if is_void else states.valid)[place.partition] = item
    entries = (states.entry() for states in stated.values())
    return Gathered(
        tuple(entry for entry in entries if entry is not None),
        tuple(command for command in commands.values() if command.id not in done_ids),
        max(markers.values(), default=0),
    )


def move(old: LedgerTopic, new: LedgerTopic) -> Gathered:
    """Copy all that is deferred from one topic into another; what was copied. Both are open, at their beginning.

    Raises RefusedError when the other holds anything already, PipelineError. When it fails, the old topic still has
    all.
    """
    if any(True for _ in new.read()):
        raise RefusedError(f"topic {new.topic} is not empty", hint="name a topic that is not there")
    items = list(items_of(old.read(from_beginning=True)))
    marker = epoch_marker(gather(items).epoch + 1, topic=old.topic, process=uuid4())
    old.write([marker], partitions=old.partitions())
    items += items_of(old.read())
    contents = gather(items)
    new.write([to_record(entry, topic=new.topic, epoch=_NO_DRIVER) for entry in contents.entries])
    new.write(
        [command_record(command.id, command.action, command.position, topic=new.topic) for command in contents.commands]
    )
    return contents


def _rank(item: EntryItem | Tombstone) -> tuple[int, bool, int, bool]:
    """The highest of several partitions' counts. Of two entries of one epoch, that which has come further."""
    if isinstance(item, Tombstone):
        return item.epoch, True, 0, False
    return item.epoch, False, item.entry.attempt, item.entry.dropped
