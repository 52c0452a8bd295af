"""Which headers a record has of its source, and how large it is."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder

from pipeline.records.record import Headers, Position
from pipeline.records.size import serialized_size, varint_size

HEADERS = st.lists(st.tuples(st.text(max_size=80), st.binary(max_size=80)), max_size=70).map(tuple)


@pytest.mark.parametrize(
    ("value", "size"),
    [(0, 1), (63, 1), (64, 2), (8191, 2), (8192, 3), (2**20 - 1, 3), (2**20, 4), (2**27 - 1, 4), (2**27, 5)],
)
def test_a_length_takes_one_more_byte_exactly_at_the_boundaries(value: int, size: int) -> None:
    assert varint_size(value) == size


def test_the_real_producers_figure_for_a_value_of_23048294_bytes() -> None:
    # Printed by Kafka's own producer: "The message is 23048382 bytes when serialized".
    assert serialized_size(None, bytes(23_048_294), ()) == 23_048_382


@pytest.mark.parametrize("length", [2**20, 2**20 + 1, 20 * 2**20])
def test_without_key_and_headers_a_large_value_takes_88_bytes_more(length: int) -> None:
    assert serialized_size(None, bytes(length), ()) == length + 88


@given(key=st.none() | st.binary(max_size=200), value=st.binary(max_size=300), headers=HEADERS)
@example(key=None, value=b"", headers=())
@example(key=b"", value=b"v", headers=())
@example(key=bytes(63), value=bytes(64), headers=(("qüelle", bytes(63)),))
@example(key=bytes(64), value=bytes(63), headers=(("q😀elle", bytes(64)),))
@example(key=bytes(8191), value=bytes(8192), headers=(("a", b""),) * 63)
@example(key=bytes(8192), value=bytes(8191), headers=(("a", b""),) * 64)
def test_another_implementation_of_the_same_formula_agrees(key: bytes | None, value: bytes, headers: Headers) -> None:
    expected = DefaultRecordBatchBuilder.estimate_size_in_bytes(key, value, list(headers))
    assert serialized_size(key, value, headers) == expected


PARTITIONS, OFFSETS = st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)


def test_the_headers_name_the_source_in_fixed_widths() -> None:
    assert Position("a.b", 3, 41).headers() == (
        ("source-topic", b"a.b"),
        ("source-partition", b"0000000003"),
        ("source-offset", b"0000000000000000041"),
    )


@given(partition=PARTITIONS, offset=OFFSETS)
def test_a_records_size_does_not_depend_on_how_far_the_topic_has_come(partition: int, offset: int) -> None:
    headers = Position("a.b", partition, offset).headers()
    assert serialized_size(None, b"", headers) == serialized_size(None, b"", Position("a.b", 0, 0).headers())
    assert (int(headers[1][1]), int(headers[2][1])) == (partition, offset)


@given(st.lists(st.builds(Position, st.sampled_from(["a", "a/1", "1"]), PARTITIONS, OFFSETS), unique=True))
def test_positions_are_told_apart_by_their_text(positions: list[Position]) -> None:
    # Kafka's topic names have no slash.
    texts = {str(position) for position in positions if "/" not in position.topic}
    assert len(texts) == sum("/" not in position.topic for position in positions)
