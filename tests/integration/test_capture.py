"""A capture of a real topic: what is in its window is in the file, and the broker has no trace of the reader.

Set-up: the session's stack and a topic of two partitions with a record a second. Checked: the file, topics and groups.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from devkit.errors import UsageError
from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from devkit.traffic.capture.take import CaptureOrder, take_capture
from devkit.traffic.capture.topic_window import WindowStart
from tests.integration.flowing_records import flowing_records
from tests.unit.devkit.traffic.capture.captures import ReadCapture, read_capture

ROOMS = ("devkit/traffic",)
TOPIC = "capture.source"
BEGAN_MS = 1_790_000_000_000
BEGAN = datetime.fromtimestamp(BEGAN_MS / 1000, UTC)
RECORDS = 60


@pytest.fixture(scope="module")
def bootstrap(stack: tuple[Guardian, Stack]) -> str:
    """Sixty records in two partitions, one a second, the last of them none that could be parsed."""
    _, running = stack
    kafka = running.kafka.bootstrap
    recreate_topics(kafka, {TOPIC: (2, {})})
    with closing(KafkaProducer(bootstrap_servers=kafka)) as producer:
        for number in range(RECORDS):
            value = b'{"user": "Alice", "n": %d}' % number if number < RECORDS - 1 else None
            producer.send(
                TOPIC,
                partition=number % 2,
                key=b'{"wiki_id":"enwiki","page_id":%d}' % number,
                value=value,
                timestamp_ms=BEGAN_MS + number * 1000,
            )
        producer.flush()
    return kafka


def taken(bootstrap: str, out: Path, start: WindowStart, span: timedelta, most: int = 1000) -> ReadCapture:
    order = CaptureOrder(bootstrap, (TOPIC,), start, span, most, 1 << 30, keep_text=False)
    take_capture(order, out / "c.jsonl", stop=lambda: False)
    return read_capture(out / "c.jsonl")


def test_a_window_of_the_past_has_what_came_in_it(bootstrap: str, tmp_path: Path) -> None:
    found = taken(bootstrap, tmp_path, BEGAN + timedelta(seconds=10), timedelta(seconds=20))
    assert sorted(one.event["n"] for one in found.records) == list(range(10, 30))
    assert {one.event["user"] for one in found.records} != {"Alice"}
    assert found.header.source.topics == {TOPIC: 2}
    assert found.end.counts.by_partition == {f"{TOPIC}/0": 10, f"{TOPIC}/1": 10}
    for one in found.records:
        assert one.partition == one.event["n"] % 2
        assert one.offset == one.event["n"] // 2
        assert one.timestamp_ms == BEGAN_MS + one.event["n"] * 1000
        assert one.key == f'{{"wiki_id":"enwiki","page_id":{one.event["n"]}}}'


def test_from_the_earliest_on_it_has_all_that_the_topic_has(bootstrap: str, tmp_path: Path) -> None:
    found = taken(bootstrap, tmp_path, "earliest", timedelta(days=1))
    assert len(found.records) == RECORDS
    assert [one.unparsed.reason for one in found.records if one.unparsed] == ["the record has no value"]


def test_it_ends_at_the_number_of_events(bootstrap: str, tmp_path: Path) -> None:
    found = taken(bootstrap, tmp_path, "earliest", timedelta(days=1), most=7)
    assert (len(found.records), found.end.ended_by) == (7, "count")


@pytest.fixture
def flowing(bootstrap: str) -> Iterator[None]:
    """A record to the topic every 20 ms."""
    with flowing_records(bootstrap, TOPIC, b'{"n": %d}', first=RECORDS, every_s=0.02):
        yield


def test_from_now_on_it_has_what_comes_and_nothing_that_was_there(
    bootstrap: str, flowing: None, tmp_path: Path
) -> None:
    began_ms = time.time() * 1000
    found = taken(bootstrap, tmp_path, "latest", timedelta(minutes=5), most=20)
    assert len(found.records) == 20
    assert all(one.event["n"] >= RECORDS for one in found.records)
    # The first may have been published just before the look that began it.
    assert all(one.timestamp_ms > began_ms - 60_000 for one in found.records)


def test_the_broker_has_no_trace_of_it(bootstrap: str, tmp_path: Path) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        groups, topics = admin.list_groups(), set(admin.list_topics())
        taken(bootstrap, tmp_path, "earliest", timedelta(days=1))
        assert admin.list_groups() == groups
        order = CaptureOrder(bootstrap, ("capture.sourc",), "latest", timedelta(seconds=1), 1, 1 << 30, keep_text=False)
        with pytest.raises(UsageError, match=r"there is no topic capture\.sourc") as caught:
            take_capture(order, tmp_path / "none.jsonl", stop=lambda: False)
        assert caught.value.hint == f"did you mean '{TOPIC}'?"
        assert set(admin.list_topics()) == topics
    assert not (tmp_path / "none.jsonl").exists()
