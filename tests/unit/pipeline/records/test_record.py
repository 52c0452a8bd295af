"""Which headers a record has of its source and passes on, its event's id, and how large it is."""

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder

from pipeline.records.claim_check import Claim
from pipeline.records.event_id import event_id_headers, event_id_in, event_id_of, stated_id
from pipeline.records.passed_headers import is_own, passed_on
from pipeline.records.record import Headers, Position
from pipeline.records.size import serialized_size, varint_size

HEADERS = st.lists(st.tuples(st.text(max_size=80), st.binary(max_size=80)), max_size=70).map(tuple)
ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"


NO_OBJECTS = (None, b"", b"null", b"7", b'"meta"', b"[]", b'[{"meta": {"id": "%s"}}]', b"{}")
ELSEWHERE = (b'{"id": "%s"}', b'{"meta": "%s"}', b'{"meta": {}}', b'{"meta": {"id": {"id": "%s"}}}')
NO_TEXTS = (b"null", b"5", b"true", b'["%s"]')
NO_UUIDS = (b"", b" %s", b"%s\\n", b"{%s}", b"urn:uuid:%s", b"\xef\xbc\x95d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a")
NO_CHARACTERS = (b"a" * 10_000_000, b"\\ud800", b"\xff")
NO_JSON = (b'"}, "comment": "\xff"}', b'"}', b'"}} more', b'"}, "x": ' + b"[" * 9_999)
NAMES = ("traceparent", "tracestate", "baggage")
FOUND = st.lists(
    st.tuples(st.sampled_from([*NAMES, "other", "source-offset"]), st.none() | st.binary(max_size=30)), max_size=8
)


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


@pytest.mark.parametrize(
    ("value", "event_id"),
    [
        (b'{"meta": {"id": "%s"}}', ID),
        (b' {"x": 1, "meta": {"dt": "x", "id": "%s"}} \n', ID),
        (b'{"meta": {"id": "other"}, "meta": {"id": "%s"}}', ID),
        (b'{"meta": {"id": "%s", "id": "other"}}', None),
        *((value, None) for value in (*NO_OBJECTS, *ELSEWHERE)),
        *((b'{"meta": {"id": ' + value + b"}}", None) for value in NO_TEXTS),
        *((b'{"meta": {"id": "' + value + b'"}}', None) for value in (*NO_UUIDS, *NO_CHARACTERS)),
        *((b'{"meta": {"id": "%s' + rest, None) for rest in NO_JSON),
    ],
    ids=lambda value: ascii(value)[:50],
)
def test_the_id_of_an_event(value: bytes | None, event_id: str | None) -> None:
    assert event_id_of(value and value.replace(b"%s", ID.encode())) == event_id


@given(
    st.recursive(
        st.none() | st.text() | st.just(ID), lambda part: st.dictionaries(st.sampled_from(["meta", "id"]), part)
    )
)
def test_it_is_the_same_of_an_event_that_was_read(document: object) -> None:
    try:
        value = orjson.dumps(document)
    except orjson.JSONEncodeError:
        return
    event_id = event_id_in(document)
    assert event_id == event_id_of(value)
    assert event_id in (None, ID)
    assert event_id_headers(event_id) in ((), (("source-event-id", ID.encode()),))


@pytest.mark.parametrize(
    ("value", "stated"),
    [(b'{"meta": {"id": "any"}}', "any"), (b'{"meta": {"id": 5}}', None), (b"{", None), (None, None)],
)
def test_what_stands_in_its_place(value: bytes | None, stated: str | None) -> None:
    assert stated_id(value) == stated


@given(FOUND, st.lists(st.sampled_from(NAMES), unique=True), st.integers(0, 120))
def test_what_is_allowed_and_fits_goes_on(
    found: list[tuple[str, bytes | None]], names: list[str], max_bytes: int
) -> None:
    passed = passed_on(found, names, max_bytes)
    last = dict(found)
    assert [name for name, _ in passed] == [name for name in names if name in dict(passed)]
    assert all(last[name] == value for name, value in passed)
    size = sum(len(name) + len(value) for name, value in passed)
    assert size <= max_bytes
    for name in set(names) - set(dict(passed)):
        value = last.get(name)
        before = sum(len(one) + len(of) for one, of in passed if names.index(one) < names.index(name))
        assert value is None or before + len(name) + len(value) > max_bytes, "it would have fitted"


def test_the_last_of_a_name_counts() -> None:
    found = [("traceparent", b"1"), ("tracestate", b"2"), ("traceparent", b"3"), ("tracestate", None)]
    assert passed_on(found, NAMES, 100) == (("traceparent", b"3"),)


def test_every_header_that_the_pipeline_writes_is_its_own() -> None:
    written = Position("a", 0, 1).headers() + Claim("b", "k", 1, "0" * 64).headers() + event_id_headers("an id")
    assert all(is_own(name) for name, _ in written)
    assert not any(is_own(name) for name in (*NAMES, "source", "source-topics", "x-source-topic"))
