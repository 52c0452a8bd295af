"""Every partition has its answer, and records are read whatever their producers wrote."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaTimeoutError
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder
from kafka.structs import OffsetAndTimestamp, TopicPartition

from pipeline.kafka.partition_offsets import end_offsets, first_offsets, offsets_at
from pipeline.kafka.record_quirks import LATEST_MS, HeaderName, accept_any_header_name, record_time_ms

PLACES = [TopicPartition(topic, number) for topic in ("page_change", "page_links") for number in range(3)]
FIRST = {place: at for at, place in enumerate(PLACES)}
END = {place: 10 + at for at, place in enumerate(PLACES)}
NAMES = st.one_of(st.text(max_size=20).map(str.encode), st.binary(max_size=20))
RECORDS = st.lists(
    st.tuples(
        st.none() | st.binary(max_size=30),
        st.none() | st.binary(max_size=30),
        st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=10)), max_size=4),
    ),
    min_size=1,
    max_size=5,
)


@dataclass
class Gappy:
    """A kafka-python consumer: it asks for the partitions whose leader it `knows`; where it knows none of them, it
    waits, and learns of those that have one.
    """

    knows: set[TopicPartition]
    leaderless: frozenset[TopicPartition] = frozenset()
    times: Mapping[TopicPartition, int] = field(default_factory=dict)
    asked: list[list[TopicPartition]] = field(default_factory=list)

    def beginning_offsets(self, places: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]:
        told = self._told(places, timeout_ms)
        return {place: FIRST[told[place]] for place in places}

    def end_offsets(self, places: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]:
        told = self._told(places, timeout_ms)
        return {place: END[told[place]] for place in places}

    def offsets_for_times(
        self, times: dict[TopicPartition, int], timeout_ms: int
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        told = self._told(times, timeout_ms)
        return {
            place: OffsetAndTimestamp(7, self.times[place], -1)
            if place in told and self.times.get(place, -1) >= at_ms
            else None
            for place, at_ms in times.items()
        }

    def _told(self, places: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, TopicPartition]:
        assert timeout_ms > 0, "without one it may wait for ever"
        self.asked.append(list(places))
        if places and not self.knows & set(places):
            self.knows |= set(places) - self.leaderless
            if not self.knows & set(places):
                raise KafkaTimeoutError(f"Failed to get offsets by timestamps in {timeout_ms} ms")
        return {place: place for place in places if place in self.knows}


@given(knows=st.sets(st.sampled_from(PLACES)), places=st.sets(st.sampled_from(PLACES)))
def test_each_has_offsets_whatever_the_client_knows(knows: set[TopicPartition], places: set[TopicPartition]) -> None:
    assert first_offsets(Gappy(set(knows)), places, timeout_s=1) == {place: FIRST[place] for place in places}
    assert end_offsets(Gappy(set(knows)), places, timeout_s=1) == {place: END[place] for place in places}


@given(
    knows=st.sets(st.sampled_from(PLACES)),
    times=st.dictionaries(st.sampled_from(PLACES), st.integers(0, 99)),
    at_ms=st.dictionaries(st.sampled_from(PLACES), st.integers(0, 99)),
)
def test_no_record_of_a_time_is_no_word_for_a_leader_that_is_not_known(
    knows: set[TopicPartition], times: dict[TopicPartition, int], at_ms: dict[TopicPartition, int]
) -> None:
    found = offsets_at(Gappy(set(knows), times=times), at_ms, timeout_s=1)
    assert found == {
        place: OffsetAndTimestamp(7, times[place], -1) if times.get(place, -1) >= asked else None
        for place, asked in at_ms.items()
    }


def test_where_all_are_known_one_question_is_enough() -> None:
    consumer = Gappy(set(PLACES), times=dict.fromkeys(PLACES, 5))
    end_offsets(consumer, PLACES, timeout_s=1)
    offsets_at(consumer, dict.fromkeys(PLACES, 5), timeout_s=1)
    assert consumer.asked == [PLACES, PLACES]


def test_where_most_have_no_record_of_that_time_three_questions_are_enough() -> None:
    consumer = Gappy(set(PLACES))
    assert offsets_at(consumer, dict.fromkeys(PLACES, 5), timeout_s=1) == dict.fromkeys(PLACES)
    assert len(consumer.asked) == 3


def test_a_partition_without_a_leader_is_named() -> None:
    gone = PLACES[4]
    for ask in (first_offsets, end_offsets):
        with pytest.raises(KafkaTimeoutError, match="no answer about partition 1 of page_links for 3 s"):
            ask(Gappy(set(PLACES) - {gone}, frozenset({gone})), PLACES, timeout_s=3)
    with pytest.raises(KafkaTimeoutError, match="partition 1 of page_links"):
        offsets_at(Gappy(set(PLACES) - {gone}, frozenset({gone})), dict.fromkeys(PLACES, 0), timeout_s=3)


def read(buffer: bytes) -> Iterator[Any]:
    accept_any_header_name()
    for batch in MemoryRecords(buffer):
        assert batch.validate_crc()
        yield from batch


@given(records=RECORDS, compression=st.sampled_from([0, 1]))
def test_any_record_is_read_and_written_again_as_it_was(records: list[Any], compression: int) -> None:
    builder = MemoryRecordsBuilder(2, compression, 1 << 20)
    for key, value, headers in records:
        builder.append(5, key, value, [(HeaderName(name), content) for name, content in headers])
    builder.close()
    found = list(read(bytes(builder.buffer())))
    assert [(one.key, one.value) for one in found] == [(key, value) for key, value, _ in records]
    for one, (_, _, headers) in zip(found, records, strict=True):
        assert [(name.encode(), content) for name, content in one.headers] == headers
        assert [str(name) for name, _ in one.headers] == [name.decode(errors="replace") for name, _ in headers]


def test_a_name_that_is_no_utf_8_is_text_to_all_others() -> None:
    name = HeaderName(b"a\xff")
    assert (name, name.encode(), len(name)) == ("a\N{REPLACEMENT CHARACTER}", b"a\xff", 2)
    assert orjson.loads(orjson.dumps([name])) == [str(name)]
    assert pa.array([name], pa.string()).to_pylist() == [str(name)]
    assert {name: 1} == {str(name): 1}


SECONDS = 1_767_225_600  # read as milliseconds: in January 1970


@pytest.mark.parametrize(
    ("timestamp", "time_ms"),
    [
        # None is that of a broker whose format had none.
        *((timestamp, None) for timestamp in (None, -(2**63), -1, 0, LATEST_MS + 1, 2**63 - 1)),
        *((timestamp, None) for timestamp in (SECONDS * 10**6, SECONDS * 10**9)),
        *((timestamp, timestamp) for timestamp in (1, SECONDS, SECONDS * 1000, LATEST_MS)),
    ],
)
def test_a_timestamp_that_no_calendar_has_is_no_time(timestamp: int | None, time_ms: int | None) -> None:
    assert record_time_ms(timestamp) == time_ms
