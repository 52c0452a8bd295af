"""Reading the topics, with a consumer in memory; a real one is in the integration tests."""

import re
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaTimeoutError, OffsetOutOfRangeError

from pipeline.aligned import kafka_log as module
from pipeline.aligned.kafka_log import ANSWER_S, KafkaLog
from pipeline.errors import PipelineError
from pipeline.ops.checkpoint_commands import checkpoint
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row

TOPIC = "mediawiki.page_change.v1"
A, B, C = (SourcePartition(TOPIC, number) for number in range(3))
ROWS = [Row(0, offset, 1000 + offset * 10) for offset in range(6)] + [Row(1, 3, 1025), Row(1, 4, 1035)]


class Consumer(FakeConsumer):
    """Counts how often all topics are asked for; new partitions are known only then."""

    asked = 0
    closed = False

    def topics(self) -> set[str]:
        self.asked += 1
        return {self.topic}

    def close(self, *, autocommit: bool) -> None:
        self.closed = not autocommit


def log_of(consumer: FakeConsumer, clock: Any = lambda: 0.0) -> KafkaLog:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "KafkaConsumer", lambda **_: consumer)
        return KafkaLog("broker:9092", "test", fetch_bytes=1024, clock=clock)


def read(log: KafkaLog, starts: dict[SourcePartition, int], stops: dict[SourcePartition, int]) -> list[tuple[int, int]]:
    return sorted((one.partition, record.offset) for one, records in log.read(starts, stops) for record in records)


def test_where_partitions_begin_and_end() -> None:
    consumer = Consumer(ROWS, partitions=3, first={0: 2, 1: 3})
    now = iter([0.0, 5.0, 9.0, 10.0, 10.0])
    log = log_of(consumer, lambda: next(now))
    for _ in range(4):
        assert log.bounds([TOPIC]) == {A: (2, 6), B: (3, 5), C: (0, 0)}
    assert consumer.asked == 2, "new partitions are looked for every ten seconds"
    with pytest.raises(PipelineError, match=r"^there is no topic other at broker:9092"):
        log_of(Consumer(ROWS)).bounds(["other"])


def test_the_client_that_asks_keeps_what_it_knows_of_all_topics() -> None:
    consumer = Consumer(ROWS, partitions=2)
    log_of(consumer).bounds([TOPIC])
    assert {place.partition for place in consumer._at} == {0, 1}


def test_the_first_record_of_a_time_or_later() -> None:
    log = log_of(Consumer(ROWS, partitions=3))

    def offsets(at_ms: dict[SourcePartition, int]) -> dict[SourcePartition, int | None]:
        return {one: None if first is None else first.offset for one, first in log.first_at(at_ms).items()}

    assert offsets({A: 1031, B: 1031, C: 0}) == {A: 4, B: 4, C: None}
    assert offsets({A: -5}) == {A: 0}, "Kafka takes no time before 1970"
    assert offsets({A: 2**63, B: 0}) == {A: None, B: 3}, "nor one beyond its numbers"


@given(
    held=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), unique=True),
    starts=st.tuples(*[st.integers(0, 31)] * 3),
    stops=st.tuples(*[st.integers(0, 31)] * 3),
)
def test_exactly_the_ranges_are_read_also_around_gaps(
    held: list[tuple[int, int]], starts: tuple[int, ...], stops: tuple[int, ...]
) -> None:
    rows = [Row(partition, offset, 0) for partition, offset in sorted(held)]
    log = log_of(Consumer(rows, partitions=3, ends=dict.fromkeys(range(3), 31)))
    places = [A, B, C]
    found = read(log, dict(zip(places, starts, strict=True)), dict(zip(places, stops, strict=True)))
    assert found == [(one, offset) for one, offset in sorted(held) if starts[one] <= offset < stops[one]]
    assert read(log, dict.fromkeys(places, 0), dict.fromkeys(places, 31)) == sorted(held), (
        "and again, from another place"
    )


def test_a_partition_is_read_no_further_than_is_enough() -> None:
    consumer = Consumer(ROWS, partitions=2)
    found = log_of(consumer).read({A: 0, B: 0}, {A: 6, B: 5}, enough=lambda one, _record: one == B)
    offsets = sorted((one.partition, row.offset) for one, rows in found for row in rows)
    assert offsets == [*((0, offset) for offset in range(6)), (1, 3)]
    assert {place.partition for place in consumer._at} == {0}, "of what is done nothing more is fetched"


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (OffsetOutOfRangeError("a"), "offsets that the job has not read are gone"),
        (KafkaTimeoutError("a"), "the brokers at broker:9092 do not hand over their records"),
    ],
)
def test_what_goes_wrong_names_the_brokers(failure: Exception, message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        read(log_of(Consumer(ROWS, failure=failure)), {A: 0}, {A: 6})


def test_the_command_that_the_hint_names_is_there() -> None:
    with pytest.raises(PipelineError) as gone:
        read(log_of(Consumer(ROWS, failure=OffsetOutOfRangeError("a"))), {A: 0}, {A: 6})
    (named,) = re.findall("`checkpoint (.+)`", str(gone.value.hint))
    assert named in checkpoint.commands


def test_no_wait_is_for_ever() -> None:
    clock = map(float, count(step=25))
    with pytest.raises(PipelineError, match=rf"sent no record for {ANSWER_S:g} s"):
        read(log_of(Consumer(ROWS, mute=True), lambda: next(clock)), {A: 0}, {A: 6})


def test_it_commits_nothing_when_it_is_closed() -> None:
    consumer = Consumer(ROWS)
    log = log_of(consumer)
    log.first_at({A: 0})
    log.close()
    assert consumer.closed
