import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder

from pipeline.records.record import Headers
from pipeline.records.size import serialized_size, varint_size

HEADERS = st.lists(st.tuples(st.text(max_size=80), st.binary(max_size=80)), max_size=70).map(tuple)
KEYS = st.none() | st.binary(max_size=200)
VALUES = st.binary(max_size=300)


def written_varint(value: int) -> bytes:
    """A zig-zag varint as it goes over the wire, seven bits a byte."""
    rest, out = value << 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


@pytest.mark.parametrize(
    ("value", "size"),
    [(0, 1), (63, 1), (64, 2), (8191, 2), (8192, 3), (2**20 - 1, 3), (2**20, 4), (2**27 - 1, 4), (2**27, 5)],
)
def test_a_length_takes_one_more_byte_exactly_at_the_boundaries(value: int, size: int) -> None:
    assert varint_size(value) == size


@given(st.integers(0, 2**31 - 1))
def test_a_length_takes_what_it_takes_on_the_wire(value: int) -> None:
    assert varint_size(value) == len(written_varint(value))


def test_the_real_producers_figure_for_a_value_of_23048294_bytes() -> None:
    # Printed by Kafka's own producer: "The message is 23048382 bytes when serialized".
    assert serialized_size(None, bytes(23_048_294), ()) == 23_048_382


@pytest.mark.parametrize("length", [2**20, 2**20 + 1, 20 * 2**20])
def test_without_key_and_headers_a_large_value_takes_88_bytes_more(length: int) -> None:
    assert serialized_size(None, bytes(length), ()) == length + 88


def test_the_least_record() -> None:
    assert serialized_size(None, b"", ()) == 61 + 21 + 1 + 1 + 1


def test_an_empty_key_costs_what_no_key_does() -> None:
    assert serialized_size(b"", b"v", ()) == serialized_size(None, b"v", ())


@pytest.mark.parametrize(("length", "cost"), [(63, 63), (64, 65), (8191, 8192), (8192, 8194)])
def test_a_key_costs_its_bytes_and_their_length_prefix(length: int, cost: int) -> None:
    assert serialized_size(bytes(length), b"", ()) - serialized_size(b"", b"", ()) == cost


def test_a_header_name_counts_in_utf8_bytes() -> None:
    plain = serialized_size(None, b"", (("quelle", b""),))
    assert serialized_size(None, b"", (("qüelle", b""),)) == plain + 1
    assert serialized_size(None, b"", (("q😀elle", b""),)) == plain + 3


@given(key=KEYS, value=VALUES, headers=HEADERS)
def test_another_implementation_of_the_same_formula_agrees(key: bytes | None, value: bytes, headers: Headers) -> None:
    expected = DefaultRecordBatchBuilder.estimate_size_in_bytes(key, value, list(headers))
    assert serialized_size(key, value, headers) == expected


@given(key=KEYS, value=VALUES, headers=HEADERS, more=st.binary(min_size=1, max_size=200))
def test_more_is_never_less(key: bytes | None, value: bytes, headers: Headers, more: bytes) -> None:
    size = serialized_size(key, value, headers)
    assert serialized_size(key, value + more, headers) >= size + len(more)
    assert serialized_size((key or b"") + more, value, headers) >= size + len(more)


@given(key=KEYS, value=VALUES, headers=HEADERS, name=st.text(max_size=80), content=st.binary(max_size=80))
def test_a_further_header_costs_its_two_fields_and_at_most_a_longer_count(
    key: bytes | None, value: bytes, headers: Headers, name: str, content: bytes
) -> None:
    fields = sum(len(written_varint(len(part)) + part) for part in (name.encode(), content))
    grown = serialized_size(key, value, (*headers, (name, content))) - serialized_size(key, value, headers)
    assert grown == fields + (1 if len(headers) == 63 else 0)
