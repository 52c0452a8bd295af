"""Captures of traffic that was generated, as they would be taken from a topic that it was published to."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from devkit.stack.topic_reader import TopicRecord
from devkit.traffic.capture.capture_file import CapturedRecord, CaptureEnd, CaptureHeader, CaptureSource
from devkit.traffic.capture.capture_reader import CaptureReader
from devkit.traffic.capture.capture_writer import CaptureWriter
from devkit.traffic.capture.replacement import Replacement
from devkit.traffic.capture.stand_ins import StandIns
from devkit.traffic.capture.take import captured
from devkit.traffic.publish import partition_index
from devkit.traffic.records import Traffic

BEGAN = datetime(2026, 11, 23, 3, tzinfo=UTC)
TOPIC = "eqiad.mediawiki.page_change.v1"


def capture_of(traffic: Traffic, path: Path, *, partitions: int = 1, keep_text: bool = False) -> Path:
    """As read partition by partition."""
    stand_ins = StandIns(b"of the test")
    replacement = Replacement(stand_ins)
    offsets: Counter[int] = Counter()
    records: list[TopicRecord] = []
    for record in traffic.records:
        partition = partition_index(record.key, partitions)
        at_ms = round((BEGAN.timestamp() + record.at.total_seconds()) * 1000)
        topic = record.topic or TOPIC
        records.append(TopicRecord(topic, partition, offsets[partition], at_ms, record.key, record.value))
        offsets[partition] += 1
    topics = {TOPIC: partitions} | {record.topic: partitions for record in records}
    source = {"kafka": "kafka1:9092", "topics": topics, "from": "latest", "began": BEGAN}
    with CaptureWriter(path, CaptureSource.model_validate(source), text_kept=keep_text) as writer:
        for read in sorted(records, key=lambda one: (one.topic, one.partition)):
            writer.add(captured(read, None if keep_text else replacement, stand_ins))
        writer.finish("time", replacement.fields)
    return path


@dataclass(frozen=True)
class ReadCapture:
    """All that a capture has, at once."""

    header: CaptureHeader
    records: tuple[CapturedRecord, ...]
    end: CaptureEnd


def read_capture(path: Path) -> ReadCapture:
    """As a reader of it finds it."""
    reader = CaptureReader(path)
    records = tuple(record for *_, record in reader.records())
    return ReadCapture(reader.header, records, reader.end)
