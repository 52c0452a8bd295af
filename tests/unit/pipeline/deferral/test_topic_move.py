"""A ledger whose topic was given more partitions moves into a new topic, and no event is lost."""

import random
from collections import Counter
from collections.abc import Sequence
from uuid import uuid4

import pytest

from pipeline.deferral import topic_move
from pipeline.deferral.fold import ScatteredError, fold
from pipeline.deferral.topic_move import Gathered, gather, move
from pipeline.deferral.wire import (
    EpochMarker,
    Item,
    NullRecord,
    command_done,
    command_record,
    epoch_marker,
    to_record,
    tombstone,
)
from pipeline.errors import PipelineError, RefusedError
from pipeline.records.record import Record
from tests.unit.pipeline.deferral.drain import Drain
from tests.unit.pipeline.deferral.growing import Gather, grown, items_in, move_all
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.deferral.memory_topic import Log, MemoryTopic
from tests.unit.pipeline.deferral.play import Odds, Play
from tests.unit.pipeline.deferral.walk import Walker, wander
from tests.unit.pipeline.deferral.world import D_PARTITIONS, Violation

OLD, NEW = "d", "d2"
POSITION = entry(1).position


def put(epoch: int = 1, **changes: object) -> Record:
    return to_record(entry(1, **changes), topic=OLD, epoch=epoch)


def gone(epoch: int = 1) -> NullRecord:
    return tombstone(POSITION, topic=OLD, epoch=epoch)


def marker(epoch: int) -> Record:
    return epoch_marker(epoch, topic=OLD, process=uuid4())


def a_log(*partitions: Sequence[Record | NullRecord]) -> Log:
    log = Log(partition_count=len(partitions))
    for number, records in enumerate(partitions):
        log.append(records, number)
    return log


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        pytest.param(([put()], []), [entry(1)], id="in one partition"),
        pytest.param(([put(), gone()], []), [], id="resolved there"),
        pytest.param(([put(1)], [gone(1)]), [], id="resolved in the new one"),
        pytest.param(([gone(1)], [put(1)]), [], id="resolved by who did not know of the new one"),
        pytest.param(([put(1)], [gone(2)]), [], id="resolved by a later driver"),
        pytest.param(([gone(1)], [put(2)]), [entry(1)], id="deferred again by a later driver"),
        pytest.param(([put(2)], [gone(1)]), [entry(1)], id="and by one that did not know of the new one"),
        pytest.param(([put(1)], [put(2, stuck=True)]), [entry(1, stuck=True)], id="rewritten later"),
        pytest.param(([put(1, attempt=2)], [put(1, attempt=1)]), [entry(1, attempt=2)], id="tried more often"),
        pytest.param(([put(1, dropped=True)], [put(1)]), [entry(1, dropped=True)], id="dropped by an operator"),
        pytest.param(([put(1), marker(2)], [marker(2), gone(1)]), [entry(1)], id="void beside a valid one"),
        pytest.param(([marker(2), put(1)], []), [entry(1)], id="void and all there is"),
        pytest.param(([marker(2), put(1), gone(1)], []), [], id="void, and resolved"),
    ],
)
def test_what_records_say_in_several_partitions(
    partitions: Sequence[Sequence[Record | NullRecord]], expected: list[object]
) -> None:
    log = a_log(*partitions)
    assert list(gather(log.items()).entries) == expected
    assert gather(reversed_partitions(log)).entries == gather(log.items()).entries


def reversed_partitions(log: Log) -> list[Item | None]:
    """In which order partitions are read is not known."""
    items = log.items()
    return sorted(items, key=lambda item: -item.place.partition if item else 0)


def test_the_new_topic_has_all_and_the_old_one_ends_who_is_at_work_on_it() -> None:
    command = command_record("c1", "drop", POSITION, topic=OLD)
    carried_out = [command_record("c2", "retry", POSITION, topic=OLD), command_done("c2", topic=OLD, epoch=3)]
    others = [to_record(entry(2, stuck=True), topic=OLD, epoch=3), command]
    log = a_log([marker(3), put(3), *carried_out], [gone(2), *others])
    with pytest.raises(ScatteredError) as scattered:
        fold(log.items())
    assert "deferred move NEW_TOPIC" in str(scattered.value.hint)
    old, new = MemoryTopic(log, topic=OLD), MemoryTopic(topic=NEW)
    found = move(old.as_topic(), new.as_topic())
    assert {one.position.offset for one in found.entries} == {1, 2}
    folded = new.log.folded()
    assert folded.entries == {one.position: one for one in (entry(1), entry(2, stuck=True))}
    assert [one.id for one in folded.commands] == ["c1"]
    assert folded.epoch == 0
    markers = [item for item in log.items() if isinstance(item, EpochMarker) and item.epoch == 4]
    assert [item.place.partition for item in markers] == [0, 1]


def test_what_comes_while_the_marker_is_written_is_moved_too() -> None:
    log, new = a_log([marker(1)], []), MemoryTopic(topic=NEW)
    old = MemoryTopic(log, topic=OLD, on_write=lambda: log.append([put()], 1))
    assert move(old.as_topic(), new.as_topic()).entries == (entry(1),)
    assert POSITION in new.log.folded().entries


@pytest.mark.parametrize(
    ("new", "error", "message"),
    [
        (MemoryTopic(a_log([marker(1)]), topic=NEW), RefusedError, "topic d2 is not empty"),
        (MemoryTopic(topic=NEW, broken="no leader"), PipelineError, "no leader"),
    ],
    ids=["holds something", "cannot be written"],
)
def test_a_new_topic_that_will_not_do_costs_nothing(new: MemoryTopic, error: type[PipelineError], message: str) -> None:
    old = MemoryTopic(a_log([put()]), topic=OLD)
    with pytest.raises(error, match=message):
        move(old.as_topic(), new.as_topic())
    assert new.writes == []
    assert POSITION in old.log.folded().entries


def wandered(seed: int, *, compacts: bool) -> tuple[Play, Walker]:
    """A play in the middle of things."""
    walker = Walker(seed)
    play = Play(walker, odds=Odds.drawn(walker, split_brain=seed % 3 == 0))
    if not compacts:
        play.world.compact = lambda _upto: None  # type: ignore[method-assign]
    wander(play, walker, 60)
    return play, walker


@pytest.mark.parametrize("compacts", [True, False])
def test_in_one_partition_it_is_the_fold(compacts: bool) -> None:
    for seed in range(100):
        world = wandered(seed, compacts=compacts)[0].world
        folded = world.folded()
        found = gather(world.read({}))
        assert {one.position: one for one in found.entries} == folded.deferred, seed
        assert {one.id for one in found.commands} == {one.id for one in folded.commands}, seed


@pytest.mark.parametrize("compacts", [True, False])
def test_a_ledger_that_was_scattered_goes_on_in_a_new_topic(compacts: bool) -> None:
    """All properties of the protocol hold; what is not deferred any more has left, and nothing of these comes again."""
    happened: Counter[str] = Counter()
    for seed in range(100):
        happened.update(scatter_and_go_on(seed, gather, compacts=compacts))
    assert happened["scattered"] > 20
    assert happened["deferred"] > 100
    assert not happened["deferred again"]


def scatter_and_go_on(seed: int, gather: Gather, *, compacts: bool) -> Counter[str]:
    """Raises Violation."""
    play, walker = wandered(seed, compacts=compacts)
    world = play.world
    before, scattered = world.folded().deferred.keys(), grown(world, random.Random(seed))
    happened: Counter[str] = Counter()
    try:
        fold(items_in(scattered))
    except ScatteredError:
        happened["scattered"] += 1
    found = {entry.position for entry in move_all(play, gather, scattered).entries}
    assert all(world.times[position] for position in before - found)
    happened["deferred"] += len(found)
    happened["deferred again"] += len(found - before)
    for position in found - before:
        world.again[position] += 1
    wander(play, walker, 20)
    Drain(play).run()
    return happened


def test_what_is_gathered_from_the_old_partitions_alone_is_noticed() -> None:
    def of_the_old(items: Sequence[Item | None]) -> Gathered:
        return gather(item for item in items if item and item.place.partition in D_PARTITIONS)

    def go_on_with_all() -> None:
        for seed in range(100):
            scatter_and_go_on(seed, of_the_old, compacts=False)

    with pytest.raises(Violation, match="P2"):
        go_on_with_all()


def test_the_order_of_epochs_keeps_events_from_coming_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_move, "_rank", lambda item: -item.epoch)
    happened: Counter[str] = Counter()
    for seed in range(100):
        happened.update(scatter_and_go_on(seed, gather, compacts=False))
    assert happened["deferred again"] > 10
