"""When an event says that it was received: `meta.dt`, from which a job counts how old the event is.

By default that is the traffic's own calendar, so that equal specs give equal bytes. A job that looks at an event's age
(`fetch.not_found_grace`) sees none but old events then, so traffic may be stamped when it is published instead. The
stamp has a fixed width: sizes stay as they are. Times of pages and revisions stay, too.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import orjson

from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.moments import EPOCH, RECEIVED_AFTER, to_milliseconds, to_seconds
from devkit.traffic.records import SourceRecord

_WITH_MILLISECONDS = len("2026-03-02T09:00:00.150Z")

Stamp = Callable[[SourceRecord], SourceRecord]


def as_generated(record: SourceRecord) -> SourceRecord:
    """The record with the time of the traffic's own calendar."""
    return record


def received_now(record: SourceRecord, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> SourceRecord:
    """The record as received at `now`, or as much before as it is published late; a broken message that has no such
    time stays as it is.
    """
    if record.received is not None:
        return replace(record, value=_stamped(record.value, record.received, now()))
    before = to_milliseconds(EPOCH + record.at - record.delay + RECEIVED_AFTER).encode()
    return replace(record, value=record.value.replace(before, to_milliseconds(now() - record.delay).encode()))


def _stamped(value: bytes, before: str, now: datetime) -> bytes:
    """The event with another `meta.dt` as long as the one before; one that is written otherwise stays."""
    stamped = to_milliseconds(now) if len(before) == _WITH_MILLISECONDS else to_seconds(now)
    if len(stamped) != len(before):
        return value
    event = orjson.loads(value)
    event["meta"]["dt"] = stamped
    return json_bytes(event).ljust(len(value))
