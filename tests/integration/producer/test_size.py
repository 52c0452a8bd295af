"""The size that the pipeline computes is where the real producer begins to refuse, to the byte.

Set-up: a topic that takes more than any record here, and two producers of the version that Spark's sink uses for each
record: one whose `max.request.size` is what `serialized_size` says, one with a byte less. Checked: the first has the
record acknowledged by the broker, the second refuses it and says the same figure.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.records.claim_check import Claim
from pipeline.records.record import Headers, Position
from pipeline.records.size import serialized_size
from tests.integration.producer.java_producer import JavaProducers, TooLargeError

ROOMS = ("pipeline/records",)
TOPIC, LOW = "sizes", "sizes-low"
MIB = 1024 * 1024
LOW_BYTES = 5000
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
# Where a length's prefix grows by a byte, and what lies about it.
LENGTHS = st.one_of(st.integers(0, 300), st.sampled_from([62, 63, 64, 65, 8190, 8191, 8192, 8193]))
CONTENTS = LENGTHS.flatmap(lambda length: st.sampled_from([bytes(length), b"\xff" * length, "é".encode() * length]))
NAMES = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(["ü" * 32, "😀" * 16, "n" * 64])
HEADERS = st.lists(st.tuples(NAMES, st.binary(max_size=70)), max_size=6).map(tuple)
REAL_HEADERS: Headers = (
    *Position("mediawiki.page_change.v1", 3, 12_345).headers(),
    *Claim("claim-checks", f"html-enrichment/ab/{'ab' * 32}", 23_048_294, "ab" * 32).headers(),
)


@pytest.fixture(scope="module")
def producers(stack: tuple[Guardian, Stack]) -> Iterator[JavaProducers]:
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {TOPIC: (1, {"max.message.bytes": str(32 * MIB)})})
    recreate_topics(bootstrap, {LOW: (1, {"max.message.bytes": str(LOW_BYTES)})})
    made = JavaProducers(bootstrap)
    yield made
    made.close()


def assert_boundary(
    producers: JavaProducers, key: bytes | None, value: bytes, headers: Headers, compression: str
) -> None:
    size = serialized_size(key, value, headers)
    common = {"compression.type": compression, "buffer.memory": 64 * MIB, "linger.ms": 0}
    with producers.producer({**common, "max.request.size": size}) as exact:
        exact.send(TOPIC, key, value, headers)
    with producers.producer({**common, "max.request.size": size - 1}) as short, pytest.raises(TooLargeError) as refusal:
        short.send(TOPIC, key, value, headers)
    message = f"The message is {size} bytes when serialized which is larger than {size - 1}"
    assert str(refusal.value).startswith(message)


@given(key=st.none() | CONTENTS, value=CONTENTS, headers=HEADERS, compression=st.sampled_from(COMPRESSIONS))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sample_of_records(
    producers: JavaProducers, key: bytes | None, value: bytes, headers: Headers, compression: str
) -> None:
    assert_boundary(producers, key, value, headers, compression)


@pytest.mark.slow
@given(key=st.none() | CONTENTS, value=CONTENTS, headers=HEADERS, compression=st.sampled_from(COMPRESSIONS))
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_many_records(
    producers: JavaProducers, key: bytes | None, value: bytes, headers: Headers, compression: str
) -> None:
    assert_boundary(producers, key, value, headers, compression)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("key", [None, b"", '{"page_id":1,"wiki":"ελ"}'.encode()], ids=["no key", "empty key", "key"])
def test_a_record_as_the_pipeline_writes_it(producers: JavaProducers, key: bytes | None, compression: str) -> None:
    assert_boundary(producers, key, 'Größe 大きさ 😀\x00\\"'.encode() * 20_000, REAL_HEADERS, compression)


@pytest.mark.parametrize("count", [63, 64], ids=str)
def test_where_the_number_of_headers_takes_another_byte(producers: JavaProducers, count: int) -> None:
    assert_boundary(producers, None, b"v", (("n", b"c"),) * count, "none")


def test_the_incidents_record(producers: JavaProducers) -> None:
    """23,048,294 bytes when serialized: a value that is shorter by the record's overhead of 88 bytes."""
    assert_boundary(producers, None, bytes(23_048_294 - 88), (), "none")


def test_what_a_producer_limited_like_its_topic_accepts_the_broker_takes(producers: JavaProducers) -> None:
    """The broker measures the batch as it is, of which the producer's figure is an upper bound."""
    value = bytes(LOW_BYTES - serialized_size(None, b"", REAL_HEADERS) - 1)
    assert serialized_size(None, value, REAL_HEADERS) == LOW_BYTES
    with producers.producer({"max.request.size": LOW_BYTES}) as alike:
        alike.send(LOW, None, value, REAL_HEADERS)
    with producers.producer({"max.request.size": LOW_BYTES + 100}) as higher, pytest.raises(TooLargeError):
        higher.send(LOW, None, value + bytes(100), REAL_HEADERS)


def test_a_buffer_smaller_than_the_record_refuses_it(producers: JavaProducers) -> None:
    """So `buffer.memory` bounds a record as well."""
    value = bytes(100_000)
    size = serialized_size(None, value, ())
    with producers.producer({"buffer.memory": size, "max.request.size": MIB}) as enough:
        enough.send(TOPIC, None, value, ())
    with (
        producers.producer({"buffer.memory": size - 1, "max.request.size": MIB}) as little,
        pytest.raises(TooLargeError, match=f"{size} bytes when serialized which is larger than the total memory"),
    ):
        little.send(TOPIC, None, value, ())
