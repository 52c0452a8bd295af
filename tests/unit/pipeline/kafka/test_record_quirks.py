"""Records are read whatever their producers wrote: each in its own batch of Kafka's format."""

from collections.abc import Iterator
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

from pipeline.kafka.record_quirks import LATEST_MS, HeaderName, accept_any_header_name, record_time_ms

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
