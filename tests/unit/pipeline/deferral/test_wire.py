import contextlib
from dataclasses import fields, replace
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.deferral.entry import Entry, Kind
from pipeline.deferral.lane import WAITS
from pipeline.deferral.wire import (
    MAX_REASON_BYTES,
    TOO_LARGE,
    Command,
    CommandDone,
    EntryItem,
    EpochMarker,
    Item,
    NullRecord,
    Place,
    Tombstone,
    UnreadableRecordError,
    bounded_record,
    command_done,
    command_record,
    entry_in,
    epoch_marker,
    key_of,
    parse,
    position_of,
    to_record,
    tombstone,
)
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from tests.unit.pipeline.deferral.making import ENTRIES, POSITIONS, entry

PLACE = Place(2, 17)
POSITIONS_OF_TWO = (Position("a", 0, 17), Position("a", 0, 19))
EPOCHS = st.integers(0, 10**9)
IDS = st.text(st.characters(exclude_characters="/", exclude_categories=("Cs",)), min_size=1, max_size=20)


def read_back(record: Record | NullRecord) -> Item | None:
    return parse(record.key, record.value, record.headers, partition=2, offset=17)


@given(made=ENTRIES, epoch=EPOCHS, batch=st.none() | EPOCHS)
@example(made=replace(entry(7), position=Position("epoch", 3, 7)), epoch=1, batch=None)
def test_an_entry_comes_back_as_it_was_with_the_sources_bytes_untouched(
    made: Entry, epoch: int, batch: int | None
) -> None:
    record = to_record(made, topic="d", epoch=epoch, batch=batch)
    assert read_back(record) == EntryItem(PLACE, epoch, made, batch)
    assert record.value == (made.value or b"")


def entry_after(made: Entry) -> Entry:
    """As it is read of the record that was written of it."""
    item = read_back(to_record(made, topic="d", epoch=1))
    assert isinstance(item, EntryItem)
    return item.entry


def test_a_source_record_without_a_value_is_no_tombstone() -> None:
    assert to_record(entry(1, value=None), topic="d", epoch=1).value is not None
    assert entry_after(entry(1, value=None)).value is None


@pytest.mark.parametrize("reason", ["x" * 5000, "é" * 5000, "a" + "😀" * 5000])
def test_a_reason_is_cut_to_whole_characters(reason: str) -> None:
    cut = entry_after(entry(1, reason=reason)).reason
    assert reason.startswith(cut)
    assert MAX_REASON_BYTES - 4 < len(cut.encode()) <= MAX_REASON_BYTES


def test_a_reason_that_is_no_text_can_be_written_all_the_same() -> None:
    assert entry_after(entry(1, reason="half \ud83d")).reason == "half ?"


@given(position=POSITIONS, epoch=EPOCHS)
def test_a_tombstone_names_position_and_epoch(position: Position, epoch: int) -> None:
    record = tombstone(position, topic="d", epoch=epoch)
    assert record.value is None
    assert read_back(record) == Tombstone(PLACE, epoch, position)


@given(epoch=EPOCHS, processes=st.lists(st.uuids(), unique=True, max_size=3))
def test_a_marker_names_its_epoch_and_has_a_key_of_its_process(epoch: int, processes: list[UUID]) -> None:
    markers = [epoch_marker(epoch, topic="d", process=process) for process in processes]
    assert [read_back(marker) for marker in markers] == [EpochMarker(PLACE, epoch)] * len(processes)
    assert len({marker.key for marker in markers}) == len(processes)


@given(command_id=IDS, position=POSITIONS, action=st.sampled_from(["retry", "drop"]))
def test_a_command_comes_back_as_it_was(command_id: str, position: Position, action: Any) -> None:
    record = command_record(command_id, action, position, topic="d")
    assert read_back(record) == Command(PLACE, command_id, action, position)
    done = command_done(command_id, topic="d", epoch=4)
    assert done.key == record.key
    assert read_back(done) == CommandDone(PLACE, 4, command_id)


@pytest.mark.parametrize("command_id", ["", "a/b"])
def test_a_command_needs_an_id_without_slash(command_id: str) -> None:
    with pytest.raises(ValueError, match="empty or has a slash"):
        command_record(command_id, "retry", Position("t", 0, 0), topic="d")


@given(st.lists(POSITIONS, unique=True))
def test_each_position_has_a_key_of_its_own_and_it_leads_back(positions: list[Position]) -> None:
    assert len({key_of(position) for position in positions}) == len(positions)
    assert [position_of(key_of(position)) for position in positions] == positions


@given(st.lists(st.builds(Position, st.just("t"), st.just(0), st.integers(0, 2**63 - 1))))
def test_keys_of_a_partition_sort_like_its_offsets(positions: list[Position]) -> None:
    assert sorted(positions, key=key_of) == sorted(positions, key=lambda position: position.offset)


def test_an_erased_marker_says_nothing() -> None:
    assert parse(b"epoch/3", None, (), partition=0, offset=0) is None


GOOD = to_record(entry(5), topic="d", epoch=1)


def without(name: str) -> tuple[tuple[str, bytes], ...]:
    return tuple((other, content) for other, content in GOOD.headers if other != name)


@pytest.mark.parametrize(
    ("key", "value", "headers", "complaint"),
    [
        (None, b"", (), "it has no key"),
        (b"t/0/5", b"", (), r"key b't/0/5' is no position, epoch or command"),
        (b"t/00/0000000000000000005", b"", (), "is no position"),
        (b"t/0/0000000000000000005/x", b"", (), "is no position"),
        (b"/0/0000000000000000005", b"", (), "is no position"),
        (b"epoch/-1", b"", (), "is no position"),
        (b"epoch/1/2", b"", (), "is no position"),
        ("t/0/000000000000000000\N{ARABIC-INDIC DIGIT FIVE}".encode(), b"", (), "is no position"),
        (b"\xff/0/0000000000000000005", b"", GOOD.headers, "decode byte 0xff"),
        (GOOD.key, b"", without("epoch"), "header epoch is missing"),
        (GOOD.key, b"", without("kind"), "header kind is missing"),
        (GOOD.key, None, (), "header epoch is missing"),
        (GOOD.key, b"", (*without("kind"), ("kind", b"lost")), "header kind is 'lost', not stuck or waiting"),
        (GOOD.key, b"", (*without("attempt"), ("attempt", b"1_0")), "header attempt is b'1_0', no whole number"),
        (GOOD.key, b"", (*without("attempt"), ("attempt", None)), "header attempt is b'', no whole number"),
        (GOOD.key, b"", (*GOOD.headers, ("kind", b"stuck")), "header kind stands twice"),
        (GOOD.key, b"", (*without("reason"), ("reason", b"\xff")), "decode byte 0xff"),
        (GOOD.key, b"", (*GOOD.headers, ("counted", b"[17]")), r"header counted is b'\[17\]', no offsets by topic"),
        (GOOD.key, b"", (*GOOD.headers, ("counted", b'{"t":{"0":[-1]}}')), "header counted is .*, no offsets by topic"),
        (b"command/1", b"", (("action", b"burn"), ("position", GOOD.key)), "'burn', not retry or drop"),
        (b"command/1", b"", (("action", b"drop"),), "header position is missing"),
        (b"command/1", b"", (("action", b"drop"), ("position", b"here")), "b'here' is no position"),
        (b"command/1", None, (), "header epoch is missing"),
    ],
)
def test_what_nobody_here_wrote_is_an_error_that_names_its_place(
    key: bytes | None, value: bytes | None, headers: Any, complaint: str
) -> None:
    with pytest.raises(UnreadableRecordError, match=complaint) as raised:
        parse(key, value, headers, partition=3, offset=41)
    assert "record 41 in partition 3 of the deferral topic" in str(raised.value)
    assert raised.value.hint


@given(key=st.binary(max_size=40), value=st.none() | st.binary(max_size=5), names=st.lists(st.text(max_size=5)))
def test_any_bytes_are_read_or_refused_with_that_error(key: bytes, value: bytes | None, names: list[str]) -> None:
    with contextlib.suppress(UnreadableRecordError):
        parse(key, value, [(name, b"x") for name in names], partition=0, offset=0)


def size(record: Record) -> int:
    return serialized_size(record.key, record.value, record.headers)


@given(value=st.integers(0, 300), slack=st.integers(-50, 50))
def test_an_entry_is_written_whole_exactly_when_it_fits(value: int, slack: int) -> None:
    made = entry(1, value=bytes(value))
    whole = to_record(made, topic="d", epoch=1, batch=7)
    limit = size(whole) + slack
    record = bounded_record(made, topic="d", epoch=1, batch=7, limit_bytes=limit)
    if slack >= 0:
        assert record == whole
    else:
        given_up = replace(made, value=None, dropped=True, reason=TOO_LARGE, cause="too_large")
        assert read_back(record) == EntryItem(PLACE, 1, given_up, 7)


@given(reason=st.text(max_size=2000), wiki_id=st.none() | st.text(max_size=40), attempt=st.integers(1, 99))
def test_an_entry_that_was_deferred_is_not_too_large_by_what_is_said_of_its_tries(
    reason: str, wiki_id: str | None, attempt: int
) -> None:
    held = entry(1, value=bytes(300), reason=WAITS)
    first = to_record(held, topic="d", epoch=7, batch=3, task=5)
    again = replace(held, kind="stuck", attempt=attempt, not_before_ms=1774000000000, reason=reason, wiki_id=wiki_id)
    record = bounded_record(again, topic="d", epoch=7, limit_bytes=size(first))
    assert size(record) <= size(first)
    found = entry_in(record)
    assert (found.value, found.dropped, found.attempt) == (held.value, False, attempt)
    assert found.reason in ("", entry_in(to_record(again, topic="d", epoch=7)).reason)


def test_the_events_that_an_entry_stands_for_are_offsets_by_topic_and_partition() -> None:
    counted = tuple(Position(*one) for one in (("a", 0, 17), ("a", 0, 19), ("a", 2, 3), ("b", 0, 1)))
    headers = dict(to_record(entry(19, counted=counted), topic="d", epoch=1).headers)
    assert headers["counted"] == b'{"a":{"0":[17,19],"2":[3]},"b":{"0":[1]}}'
    assert "counted" not in dict(GOOD.headers), "as an earlier version wrote it"


def test_a_version_that_knows_no_entries_of_several_events_refuses_them() -> None:
    """It would pass over the header that names them, and the others would be lost."""
    kinds = [
        dict(to_record(entry(19, kind=kind, counted=counted), topic="d", epoch=1).headers)["kind"]
        for kind in get_args(Kind)
        for counted in (None, POSITIONS_OF_TWO[1:], POSITIONS_OF_TWO)
    ]
    assert kinds == [b"stuck", b"stuck", b"stuck_of_several", b"waiting", b"waiting", b"waiting_of_several"]


def test_the_headers_of_an_entry_are_these() -> None:
    """An earlier version passes over one that is new: see what it loses by that, and whether it has to be a kind."""
    everything = Entry(
        position=Position("a", 0, 19),
        key=b"k",
        value=None,
        appended_us=1,
        kind="stuck",
        attempt=1,
        not_before_ms=2,
        reason="x",
        dropped=True,
        cause="too_large",
        wiki_id="enwiki",
        headers=(("h", b"v"),),
        counted=POSITIONS_OF_TWO,
    )
    assert {field.name for field in fields(Entry) if getattr(everything, field.name) is None} == {"value"}
    record = to_record(everything, topic="d", epoch=1, batch=1, task=1)
    known = "epoch kind attempt not-before-ms appended-us reason source-key null-value dropped cause wiki counted"
    assert [name for name, _ in record.headers] == [*known.split(), "source-header/h", "batch", "task"]
    assert read_back(record) == EntryItem(PLACE, 1, everything, 1, 1)


@given(number=st.integers(0, 300), value=st.sampled_from([0, 10**6]), reason=st.sampled_from([0, 10**5]))
def test_an_entry_that_stands_for_too_many_is_given_up_as_any_that_is_too_large(
    number: int, value: int, reason: int
) -> None:
    counted = tuple(Position("a", 0, offset) for offset in range(number))
    made = entry(1, counted=counted, value=bytes(value), reason="x" * reason)
    record = bounded_record(made, topic="d", epoch=1, limit_bytes=1000)
    assert size(record) <= 1000
    found = entry_in(record)
    assert found.dropped == (found.value is None)
    assert found.counted == (None if found.dropped else made.counted)
    assert found.dropped or found == replace(made, reason=found.reason)
