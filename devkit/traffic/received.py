"""The time from which a job counts how old an event is: `meta.dt` of an event, `dt` of an operation.

By default that is the traffic's own calendar, so that equal specs give equal bytes. A job that looks at an event's age
(`fetch.not_found_grace`) sees none but old events then, so traffic may be stamped when it is published instead. The
stamp has a fixed width: sizes stay as they are. Times of pages and revisions stay, too.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from devkit.errors import StackError
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.records import SourceRecord

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_BROKEN = ("malformed_json", "schema_violation")

Stamp = Callable[[SourceRecord], SourceRecord]


def as_generated(record: SourceRecord) -> SourceRecord:
    """The record with the time of the traffic's own calendar."""
    return record


def received_now(record: SourceRecord, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> SourceRecord:
    """The record as received at `now`, or as much before as it is published late. A broken message that has no such
    time stays as it is. Raises StackError for any other record without one.
    """
    event = _parsed(record.value)
    *above, last = record.time_field
    inside = event
    for name in above:
        inside = inside.get(name) if isinstance(inside, dict) else None
    before = inside.get(last) if isinstance(inside, dict) else None
    match = _TIME.fullmatch(before) if isinstance(before, str) else None
    if match is None:
        if record.expected.reason in _BROKEN or record.errors:
            return record
        field = ".".join(record.time_field)
        raise StackError(
            f"event_times is `when published`, and record {record.index} of the traffic has no time in {field}",
            hint="its generator names the field in SourceRecord.time_field",
        )
    inside[last] = _written_as(match, now() - record.delay)
    return replace(record, value=json_bytes(event).ljust(len(record.value)))


def _written_as(before: re.Match[str], moment: datetime) -> str:
    """The moment with as many decimals as the time before, and its way to write UTC."""
    fraction, zone = before.group(1) or "", before.group(2)
    decimals = f".{moment.microsecond:06d}000"[: len(fraction)]
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}{decimals}{'Z' if zone == 'Z' else '+00:00'}"


def _parsed(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
