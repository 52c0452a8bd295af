"""From a capture to the traffic of a scenario: the same for the same file, at any time and on any machine.

    capture ── pacing ──> order and times ── ids that the mock knows ──> values, keys, partitions ── fate ──> records
                                          └── all pages with all their revisions, for the mock

A value has the length that it had in production wherever its ids leave room for that: what is missing is filled with
spaces behind the JSON.
"""

from collections.abc import Mapping
from datetime import timedelta

import orjson

from devkit.traffic.capture.capture_file import CapturedRecord
from devkit.traffic.capture.capture_index import CaptureIndex
from devkit.traffic.capture.capture_reader import CaptureReader, records_at
from devkit.traffic.capture.id_map import IdMap, page_of, whole
from devkit.traffic.capture.playback import Playback
from devkit.traffic.fate import fate_of_value
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.page_change import kafka_key
from devkit.traffic.records import SourceRecord, Traffic


def play_capture(playback: Playback, wikis: Mapping[str, str], length: timedelta) -> Traffic:
    """All its records, within `length`, on `wikis` with their domains. Raises UsageError, InvalidFileError.

    The file is read twice, as ids depend on all events: so their parsed form is never held, only what is published.
    """
    reader, index = CaptureReader(playback.path), CaptureIndex()
    for _, line, record in reader.records():
        index.add(line, record)
    index.arrivals.sort()
    ids = IdMap(index.pages, wikis)
    moments = index.arrivals.scaled(length, even=playback.even)
    first_topic = next(iter(reader.header.source.topics))
    captured = records_at(playback.path, index.arrivals.lines)
    records = tuple(
        _played(number, at, record, ids, first_topic)
        for number, (at, record) in enumerate(zip(moments, captured, strict=True))
    )
    return Traffic(records, ids.pages())


def _played(index: int, at: timedelta, record: CapturedRecord, ids: IdMap, first_topic: str) -> SourceRecord:
    value = _value(record, ids)
    return SourceRecord(
        index=index,
        at=at,
        key=_key(record, ids),
        value=value,
        expected=fate_of_value(value),
        topic=None if record.topic == first_topic else record.topic,
        partition=record.partition,
    )


def _value(record: CapturedRecord, ids: IdMap) -> bytes:
    if record.unparsed is not None:
        # Begins an object that does not end.
        return b"{".ljust(record.bytes, b".") if record.bytes else b""
    event = record.event
    return json_bytes(ids.mapped(event) if page_of(event) is not None else event).ljust(record.bytes)


def _key(record: CapturedRecord, ids: IdMap) -> bytes:
    """A page's events have its key, so that they stay together; others have what was captured."""
    place = page_of(record.event) or _page_of_key(record.key)
    if place is not None and (played := ids.place_of(*place)) is not None:
        return kafka_key(*played)
    return (record.key or "").encode()


def _page_of_key(key: str | None) -> tuple[str, int] | None:
    try:
        fields = orjson.loads(key or "")
    except orjson.JSONDecodeError:
        return None
    wiki, page_id = (fields.get("wiki_id"), whole(fields.get("page_id"))) if isinstance(fields, dict) else (None, None)
    return (wiki, page_id) if isinstance(wiki, str) and page_id is not None else None
