from collections.abc import Sequence
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.deferral.fold import FencedError, ScatteredError, Winners, check_epoch, fold
from pipeline.deferral.wire import (
    EntryItem,
    EpochMarker,
    Item,
    NullRecord,
    Tombstone,
    command_done,
    command_record,
    epoch_marker,
    parse,
    to_record,
    tombstone,
)
from pipeline.records.record import Position, Record
from tests.unit.pipeline.deferral.making import entry, offsets

TOPIC = "d"


def put(offset: int, *, epoch: int = 1, batch: int | None = None, task: int | None = None, **changes: object) -> Record:
    return to_record(entry(offset, **changes), topic=TOPIC, epoch=epoch, batch=batch, task=task)


def gone(offset: int, *, epoch: int = 1) -> NullRecord:
    return tombstone(entry(offset).position, topic=TOPIC, epoch=epoch)


def marker(epoch: int) -> Record:
    return epoch_marker(epoch, topic=TOPIC, process=uuid4())


def log(*records: Record | NullRecord, partition: int = 0) -> list[Item | None]:
    """The records of a partition, as they are read."""
    return [
        parse(record.key, record.value, record.headers, partition=partition, offset=offset)
        for offset, record in enumerate(records)
    ]


@pytest.mark.parametrize(
    ("records", "revived"),
    [
        ([marker(2), put(1), put(1, attempt=4)], [4]),
        ([put(1), marker(2), put(1, attempt=4)], []),
        ([put(1), gone(1), marker(2), put(1, attempt=4)], []),
        ([marker(2), put(1), gone(1)], []),
        ([marker(2), gone(1), put(1, attempt=4)], [4]),
        ([marker(2), put(1), put(1, epoch=2)], []),
        ([marker(2), put(1), gone(1, epoch=2)], []),
    ],
    ids=["alone", "entry", "resolved", "void tombstone", "void tombstone first", "mended", "mended and resolved"],
)
def test_a_void_entry_without_a_valid_record_is_an_orphan(
    records: list[Record | NullRecord], revived: list[int]
) -> None:
    """It may be all that compaction left of the event. A tombstone is written only for an event that has left."""
    folded = fold(log(*records))
    assert [orphan.attempt for orphan in folded.orphans.values()] == revived
    assert folded.deferred == folded.entries | folded.orphans


def test_a_marker_counts_for_its_own_partition() -> None:
    items = [*log(marker(1), marker(2), partition=0), *log(marker(1), put(1), partition=1)]
    assert offsets(fold(items).entries) == [1]
    assert fold(items).epoch == 2
    assert fold(items).markers == {0: 2, 1: 1}


def test_only_the_batchs_own_records_are_written_by_it() -> None:
    folded = fold(log(put(1, batch=3), put(2, batch=4), put(3), put(4, batch=4), put(4, batch=None)))
    assert offsets(folded.written_by(4)) == [2]
    assert offsets(folded.written_by(3)) == [1]
    assert folded.written_by(5) == []


@pytest.mark.parametrize(
    ("records", "written", "voids"),
    [
        ([put(1, batch=4, task=7)], [1], []),
        ([put(1, batch=4, task=8)], [], [1]),
        ([put(1, batch=4, task=8, attempt=9), put(1, batch=4, task=7)], [1], []),
        ([put(1, batch=4, task=7), put(1, batch=4, task=8, attempt=9)], [1], [1]),
        ([put(1, batch=3, task=7)], [], [1]),
        ([gone(1), put(1, batch=3, task=7)], [], [1]),
        ([put(1, batch=4)], [], [1]),
    ],
    ids=["winner", "loser", "loser first", "winner first", "late", "late and resolved", "of nobody"],
)
def test_what_a_lost_attempt_wrote_is_void(
    records: list[Record | NullRecord], written: list[int], voids: list[int]
) -> None:
    """Spark took its executor for lost and ran the task again; batch 4 ended by attempt 7."""
    folded = fold(log(*records), winners=Winners(1, 4, {7}))
    assert [one.attempt for one in folded.written_by(4)] == [0] * len(written)
    assert (offsets(folded.written_by(4)), offsets(folded.voids)) == (written, voids)


def test_while_no_batch_ends_none_may_write_entries() -> None:
    folded = fold(log(put(1, batch=4, task=7), put(2), gone(3)), winners=Winners(1))
    assert (offsets(folded.entries), offsets(folded.voids)) == ([2], [1])


def test_a_driver_that_starts_cannot_tell_who_lost() -> None:
    """Each of them says that the event was deferred; the worst of it is a repeat."""
    folded = fold(log(put(1, batch=4, task=7), put(1, batch=4, task=8, attempt=2), marker(2)))
    assert [one.attempt for one in folded.deferred.values()] == [2]


def test_commands_wait_until_they_are_carried_out() -> None:
    """Which a zombie cannot say."""
    position = Position("source", 0, 1)
    commands = [command_record("abc"[at], ("retry", "drop", "drop")[at], position, topic=TOPIC) for at in range(3)]
    dones = [command_done("a", topic=TOPIC, epoch=0), marker(2), command_done("c", topic=TOPIC, epoch=1)]
    folded = fold(log(*commands, *dones))
    assert [(command.id, command.action) for command in folded.commands] == [("b", "drop"), ("c", "drop")]


def test_a_position_in_two_partitions_is_an_error_that_names_both() -> None:
    with pytest.raises(ScatteredError, match="records of source/0/1 in its partitions 0 and 1"):
        fold([*log(put(1)), *log(gone(1), partition=1)])


def test_entries_come_in_the_order_in_which_they_were_first_deferred() -> None:
    """Behind a marker that was erased."""
    assert offsets(fold([None, *log(put(7), put(2), put(5), put(7, stuck=True))]).entries) == [7, 2, 5]


def test_a_driver_that_was_replaced_is_told() -> None:
    check_epoch(fold(log(marker(2))), own=2)
    with pytest.raises(FencedError, match="a driver of epoch 3 has started, and this one is of epoch 2") as caught:
        check_epoch(fold(log(marker(2), marker(3))), own=2)
    assert caught.value.exit_code == 2, "a restart would end the other, and so on for ever"


RECORDS = st.lists(
    st.one_of(
        st.builds(put, st.integers(0, 3), epoch=st.integers(0, 3), attempt=st.integers(0, 9)),
        st.builds(gone, st.integers(0, 3), epoch=st.integers(0, 3)),
        st.builds(marker, st.integers(1, 3)),
    ),
    max_size=25,
)


def valid(items: Sequence[Item | None]) -> list[EntryItem | Tombstone]:
    """The records behind which no newer marker stands before them."""
    found = []
    for number, item in enumerate(items):
        before = [other.epoch for other in items[:number] if isinstance(other, EpochMarker)]
        if isinstance(item, EntryItem | Tombstone) and item.epoch >= max(before, default=0):
            found.append(item)
    return found


def position_of(item: EntryItem | Tombstone) -> Position:
    return item.position if isinstance(item, Tombstone) else item.entry.position


@given(RECORDS)
def test_any_log_folds_as_its_valid_records_say(records: list[Record | NullRecord]) -> None:
    items = log(*records)
    last = {position_of(item): item for item in valid(items)}
    assert fold(items).entries == {p: item.entry for p, item in last.items() if isinstance(item, EntryItem)}


@given(records=RECORDS, cut=st.integers(0, 25))
@example(records=[marker(2), put(1), put(2, epoch=2)], cut=1)
def test_two_stretches_say_what_the_whole_does(records: list[Record | NullRecord], cut: int) -> None:
    items = log(*records)
    whole, first = fold(items), fold(items[:cut])
    second = fold(items[cut:], markers=first.markers)
    written_again = {position_of(item) for item in valid(items) if item.place.offset >= cut}
    before = {position: one for position, one in first.entries.items() if position not in written_again}
    assert before | second.entries == whole.entries
    assert (second.markers, second.epoch) == (whole.markers, whole.epoch)
    last = {position_of(item): item for item in items[cut:] if isinstance(item, EntryItem | Tombstone)}
    kept = {item.place for item in valid(items)}
    assert set(second.voids) == {position for position, item in last.items() if item.place not in kept}
