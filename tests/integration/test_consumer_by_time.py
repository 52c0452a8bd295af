"""The reference consumer's reading of two topics from a real broker: by time, in parts, and again where more has come.

Set-up: an output topic of two partitions and an error topic of one, with values of 300 KiB, so that a partition is
several parts. Steps: all is read; more is written to the same partitions, twice, and read each time, as by `--follow`.
"""

import time
from collections.abc import Iterable
from contextlib import closing

from kafka import KafkaProducer

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.consumer.record_merge import PART_BYTES, Stretch, oldest_first
from pipeline.ops.source import SourceTopic, opened_topic

ROOMS = ("pipeline/consumer",)
OUT, ERROR = "by-time.out", "by-time.error"
VALUE = bytes(300 * 1024)
PLACES = ((OUT, 0), (OUT, 1), (ERROR, 0))


def test_two_topics_are_read_by_time_in_parts_and_again(stack: tuple[Guardian, Stack]) -> None:
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {OUT: (2, {}), ERROR: (1, {})})
    # Of today, as retention would take older ones.
    begin = time.time_ns() // 1_000_000 - 1000
    with opened_topic(bootstrap, OUT, fetch_bytes=PART_BYTES) as out, opened_topic(bootstrap, ERROR) as error:
        reached: dict[SourceTopic, dict[int, int]] = {out: {0: 0, 1: 0}, error: {0: 0}}
        for first, end in ((0, 120), (120, 126), (126, 132)):
            times = range(begin + first, begin + end)
            write(bootstrap, times)
            stretches = [Stretch(topic, since, topic.bounds().end) for topic, since in reached.items()]
            found = list(oldest_first(stretches))
            assert [record.timestamp_ms for _, record in found] == list(times)
            assert {(topic.topic, record.partition) for topic, record in found} == set(PLACES)
            reached = {stretch.topic: dict(stretch.end) for stretch in stretches}
    assert len(VALUE) * 120 / len(PLACES) > PART_BYTES


def write(bootstrap: str, times: Iterable[int]) -> None:
    """One record of each time, to the places in turn."""
    with closing(KafkaProducer(bootstrap_servers=bootstrap, acks="all")) as producer:
        for number, timestamp_ms in enumerate(times):
            topic, partition = PLACES[number % len(PLACES)]
            producer.send(topic, VALUE, partition=partition, timestamp_ms=timestamp_ms).get(30)
