"""The model's ledger topic gets twice as many partitions; and what is deferred moves into a new topic."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline.deferral.topic_move import Gathered
from pipeline.deferral.wire import EpochMarker, Item, command_record, to_record
from tests.unit.pipeline.deferral.play import Play
from tests.unit.pipeline.deferral.world import D_PARTITIONS, D, Stored, World

Scattered = dict[int, list[Stored]]
Gather = Callable[[Sequence[Item | None]], Gathered]
# A producer that is told of the partitions late writes to the old one for some minutes.
_STALE = 0.3
_MOVED_KEYS = 0.6


def grown(world: World, chance: random.Random) -> Scattered:
    """What the topic would hold if each partition had been given another at some time: of some keys the records that
    came after that are in the new one, but for those of producers who did not know of it yet. Within a partition the
    order stays.
    """
    found: Scattered = {}
    for number, records in world.stored.items():
        other = number + len(D_PARTITIONS)
        found[number], found[other] = [], []
        since = chance.randrange(len(records) + 1)
        moved: dict[bytes, bool] = {}
        for place, record in enumerate(records):
            is_fresh = place >= since and chance.random() >= _STALE
            if isinstance(record.item, EpochMarker):
                into = [number, other] if is_fresh else [number]
            else:
                goes = moved.setdefault(record.key, chance.random() < _MOVED_KEYS)
                into = [other] if goes and is_fresh else [number]
            for one in into:
                found[one].append(replace(record, partition=one, offset=len(found[one])))
    return found


def items_in(scattered: Scattered) -> list[Item | None]:
    """As a driver reads them, one partition after the other."""
    return [record.item for records in scattered.values() for record in records]


def move_all(play: Play, gather: Gather, scattered: Scattered) -> Gathered:
    """The job is stopped, and goes on with another topic, which has what was gathered from the scattered one.

    What is still on its way to the old topic is not read any more; what would have followed it is not sent.
    """
    world = play.world
    for driver in play.drivers:
        driver.die()
    for write in world.flight:
        write.then = None
    world.flight = [write for write in world.flight if write.kind == "emission"]
    found = gather(items_in(scattered))
    world.stored = {number: [] for number in D_PARTITIONS}
    world.ends = dict.fromkeys(D_PARTITIONS, 0)
    records = [to_record(entry, topic=D, epoch=0) for entry in found.entries]
    records += [command_record(one.id, one.action, one.position, topic=D) for one in found.commands]
    # In one step: between two of them events that are committed would be nowhere.
    for record in records:
        partition = world.to_ledger(record).payload[1]
        assert isinstance(partition, int)
        assert record.key is not None
        stored = Stored(partition, world.ends[partition], record.key, record.value, record.headers)
        world.stored[partition].append(stored)
        world.ends[partition] += 1
    world.check_committed()
    return found
