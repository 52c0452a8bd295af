"""The publisher against a fake producer and a fake clock, and the manifest of what was published."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, MessageSizeTooLargeError

from devkit.errors import InvalidFileError, StackError, UsageError, WaitTimeoutError
from devkit.traffic.manifest import Manifest, ManifestEntry
from devkit.traffic.publish import Acknowledgement, Producer, Publisher, partition_index
from devkit.traffic.records import Expected, PageRef, SourceRecord, Traffic

DEADLINE_S = 10
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ENTRIES = st.builds(
    ManifestEntry,
    topic=TEXT,
    partition=st.integers(0, 100),
    offset=st.integers(0, 2**53),
    expected=st.builds(
        Expected,
        fate=st.sampled_from(["output", "error", "filtered"]),
        reason=st.none() | TEXT,
        event_id=st.none() | TEXT,
        page=st.none() | st.builds(PageRef, wiki=TEXT, page_id=st.integers(0, 2**53), title=TEXT),
        latest_revision=st.none() | st.integers(1, 2**53),
        parent_revision=st.none() | st.integers(1, 2**53),
    ),
)
LINE = '{"topic":"source","partition":0,"offset":3,"expected":{"fate":"filtered","reason":"canary"}}'


@dataclass
class Time:
    """A clock and a stop signal in one; it can stop itself at a moment."""

    now: float = 100.0
    stop_at: float = float("inf")
    waits: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def is_set(self) -> bool:
        return self.now >= self.stop_at

    def wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        self.now = min(self.now + timeout, max(self.now, self.stop_at))
        return self.is_set()


@dataclass(frozen=True)
class Landed:
    partition: int
    offset: int


@dataclass
class Answer:
    """Answered from the start, or only when somebody insists."""

    landed: Landed | None
    failure: Exception | None = None
    is_done: bool = True

    def get(self, timeout: float | None = None) -> Landed:
        if self.failure is not None:
            raise self.failure
        assert self.landed is not None
        return self.landed


@dataclass
class FakeProducer:
    time: Time = field(default_factory=Time)
    partitions: set[int] = field(default_factory=lambda: {0, 1, 2})
    failing: dict[int, Exception] = field(default_factory=dict)
    refusing: dict[int, Exception] = field(default_factory=dict)
    answers_at_once: bool = True
    sent: list[tuple[float, str, bytes, bytes, int]] = field(default_factory=list)
    timestamps: list[int | None] = field(default_factory=list)
    offsets: Counter[int] = field(default_factory=Counter)
    is_closed: bool = False
    at_send: Callable[[], None] = lambda: None

    def partitions_for(self, topic: str) -> Iterable[int]:
        return self.partitions

    def send(
        self, topic: str, *, key: bytes, value: bytes, partition: int, timestamp_ms: int | None
    ) -> Acknowledgement:
        self.at_send()
        n = len(self.sent)
        self.timestamps.append(timestamp_ms)
        if n in self.refusing:
            raise self.refusing[n]
        self.sent.append((self.time.now - 100.0, topic, key, value, partition))
        if n in self.failing:
            return Answer(None, self.failing[n])
        offset = self.offsets[partition]
        self.offsets[partition] += 1
        return Answer(Landed(partition, offset), is_done=self.answers_at_once)

    def close(self, timeout: float | None = None) -> None:
        self.is_closed = True


def _traffic(count: int) -> Traffic:
    return Traffic(
        tuple(
            SourceRecord(
                index=n,
                at=timedelta(seconds=n * 2),
                key=b'{"wiki_id":"enwiki","page_id":%d}' % (n % 4),
                value=b"value %d" % n,
                expected=Expected(fate="filtered", reason="canary", event_id=str(n)),
            )
            for n in range(count)
        ),
        (),
    )


def _publisher(traffic: Traffic, time: Time, connect: Callable[[], Producer]) -> Publisher:
    return Publisher(traffic, "source", connect, time.clock, time)


def _run(producer: FakeProducer, traffic: Traffic | None = None, **more: Any) -> Publisher:
    time = producer.time
    publisher = Publisher(traffic or _traffic(8), "source", lambda: producer, time.clock, time, **more)
    publisher.start()
    return publisher


def test_records_go_out_when_they_are_due() -> None:
    producer = FakeProducer()
    manifest = _run(producer).result(DEADLINE_S)
    assert [at for at, *_ in producer.sent] == pytest.approx([n * 2 for n in range(8)])
    assert [value for *_, value, _ in producer.sent] == [b"value %d" % n for n in range(8)]
    assert len(manifest.entries) == 8
    assert producer.is_closed


def test_what_is_sent_is_stamped_when_it_is_due_and_known_afterwards() -> None:
    producer = FakeProducer()

    def stamp(record: SourceRecord) -> SourceRecord:
        return replace(record, value=record.value + b" at %d" % (producer.time.now - 100))

    publisher = _run(producer, _traffic(3), stamp=stamp)
    publisher.result(DEADLINE_S)
    assert [value for *_, value, _ in producer.sent] == [b"value 0 at 0", b"value 1 at 2", b"value 2 at 4"]
    assert [record.value for record in publisher.sent()] == [value for *_, _key, value, _ in producer.sent]


def test_a_late_publisher_does_not_wait() -> None:
    producer = FakeProducer()

    def take_long() -> None:
        producer.time.now += 1000

    producer.at_send = take_long
    _run(producer).result(DEADLINE_S)
    assert producer.time.waits == []


@pytest.mark.parametrize("answers_at_once", [True, False])
def test_the_manifest_knows_where_each_record_landed(answers_at_once: bool) -> None:
    producer = FakeProducer(answers_at_once=answers_at_once)
    publisher = _run(producer)
    manifest = publisher.result(DEADLINE_S)
    assert [entry.expected.event_id for entry in manifest.entries] == [str(n) for n in range(8)]
    seen: Counter[int] = Counter()
    for entry, (_, topic, key, _, partition) in zip(manifest.entries, producer.sent, strict=True):
        assert (entry.topic, entry.partition, entry.offset) == (topic, partition, seen[partition])
        assert partition == partition_index(key, 3)
        seen[partition] += 1
    assert (publisher.done, publisher.error, publisher.published) == (True, None, 8)


def test_the_manifest_has_the_fate_that_the_job_gives_an_event() -> None:
    def fate(topic: str, value: bytes, expected: Expected) -> Expected:
        return expected.model_copy(update={"reason": f"{topic}, {value.decode()}, {expected.event_id}"})

    manifest = _run(FakeProducer(), _traffic(2), fate=fate).result(DEADLINE_S)
    reasons = [entry.expected.reason for entry in manifest.entries]
    assert reasons == ["source, value 0, 0", "source, value 1, 1"]


def test_partitions_that_are_added_get_their_records() -> None:
    """As Kafka's own clients have it: by the number of partitions when a record is sent."""
    producer = FakeProducer()
    counts: list[int] = []

    def grow() -> None:
        counts.append(len(producer.partitions))
        if len(counts) == 4:
            producer.partitions = set(range(12))

    producer.at_send = grow
    _run(producer).result(DEADLINE_S)
    assert counts == [3] * 4 + [12] * 4
    expected = [partition_index(key, count) for (_, _, key, *_), count in zip(producer.sent, counts, strict=True)]
    assert [partition for *_, partition in producer.sent] == expected
    assert max(expected) > 2


def test_a_record_has_its_own_topic_and_time_and_it_is_known_when_each_was_sent() -> None:
    producer = FakeProducer()
    made = _traffic(3)
    first, second, third = made.records
    own = replace(second, topic="links", timestamp_ms=1772442000150)
    wall = {"wall_ms": lambda: round(1000 * (producer.time.now - 100))}
    publisher = _run(producer, replace(made, records=(first, own, third)), **wall)
    manifest = publisher.result(DEADLINE_S)
    assert [topic for _, topic, *_ in producer.sent] == ["source", "links", "source"]
    assert [entry.topic for entry in manifest.entries] == ["source", "links", "source"]
    assert producer.timestamps == [None, 1772442000150, None]
    assert publisher.sent_ms() == (0, 2000, 4000)


def test_a_stop_ends_it_early_and_keeps_what_is_out() -> None:
    producer = FakeProducer(Time(stop_at=105.0))
    manifest = _run(producer).result(DEADLINE_S)
    assert [entry.expected.event_id for entry in manifest.entries] == ["0", "1", "2"]
    assert len(producer.sent) == 3
    assert producer.is_closed


def test_a_record_the_broker_refuses_ends_it_and_is_named() -> None:
    producer = FakeProducer(failing={2: MessageSizeTooLargeError("the message is 9 bytes")})
    publisher = _run(producer)
    with pytest.raises(StackError, match=r"record 2 \(7 bytes\) to source failed: .*the message is 9 bytes") as caught:
        publisher.result(DEADLINE_S)
    assert isinstance(caught.value.__cause__, MessageSizeTooLargeError)
    assert publisher.error is caught.value
    assert (publisher.done, publisher.published, len(producer.sent)) == (True, 2, 3)
    assert [entry.expected.event_id for entry in publisher.manifest().entries] == ["0", "1"]
    assert producer.is_closed


REFUSED = r"record 1 \(7 bytes\) to source failed: KafkaTimeoutError: .*no memory"


@pytest.mark.parametrize(
    ("broken", "error", "message"),
    [
        ({"refusing": {1: KafkaTimeoutError("no memory")}}, StackError, REFUSED),
        ({"partitions": set()}, StackError, "topic source has no partitions"),
        ({"refusing": {0: ZeroDivisionError("a defect")}}, ZeroDivisionError, "^a defect$"),
    ],
    ids=["a record that the producer refuses", "a topic without partitions", "a defect is raised as it is"],
)
def test_what_ends_it_is_named(broken: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        _run(FakeProducer(**broken)).result(DEADLINE_S)


def test_no_broker_is_a_stack_error_that_names_the_topic() -> None:
    def connect() -> Producer:
        raise KafkaConnectionError

    publisher = _publisher(_traffic(1), Time(), connect)
    publisher.start()
    with pytest.raises(StackError, match="publishing traffic to source failed: KafkaConnectionError"):
        publisher.result(DEADLINE_S)


def test_a_result_that_does_not_come_is_a_wait_with_a_name() -> None:
    time = Time()
    publisher = _publisher(_traffic(1), time, lambda: FakeProducer(time))
    with pytest.raises(WaitTimeoutError, match="traffic into source, 0 of 1 records are out"):
        publisher.result(0)
    assert not publisher.done


@pytest.mark.parametrize(
    ("key", "count", "partition"),
    [
        (b"21", 1000, (-973932308 & 0x7FFFFFFF) % 1000),
        (b"foobar", 1000, (-790332482 & 0x7FFFFFFF) % 1000),
        (b"a", 1, 0),
    ],
)
def test_keys_are_placed_as_kafkas_own_client_places_them(key: bytes, count: int, partition: int) -> None:
    """Hashes from the test of the Java client, `UtilsTest.testMurmur2`."""
    assert partition_index(key, count) == partition


@given(entries=st.lists(ENTRIES, max_size=5))
def test_a_manifest_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, entries: list[ManifestEntry]
) -> None:
    path = tmp_path_factory.mktemp("manifest") / "manifest.jsonl"
    Manifest(tuple(entries)).write(path)
    assert Manifest.read(path) == Manifest(tuple(entries))


def test_a_line_is_compact_json(tmp_path: Path) -> None:
    path = tmp_path / "manifest.jsonl"
    entry = ManifestEntry(topic="source", partition=0, offset=3, expected=Expected(fate="filtered", reason="canary"))
    Manifest((entry,)).write(path)
    assert path.read_text(encoding="utf-8") == LINE + "\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "(top): invalid JSON"),
        (LINE.replace('"offset":3', '"offset":-3'), "offset: must be greater than or equal to 0 (got -3)"),
        (LINE.replace("filtered", "lost"), "expected.fate: must be 'output', 'error' or 'filtered' (got 'lost')"),
        (LINE.replace('"partition":0,', ""), "partition: is missing"),
    ],
)
def test_a_damaged_manifest_names_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "manifest.jsonl"
    path.write_text(f"{LINE}\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        Manifest.read(path)
    assert str(caught.value).startswith(f"{path}:2:1: {problem}")


def test_a_missing_manifest_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no manifest"):
        Manifest.read(tmp_path / "manifest.jsonl")
