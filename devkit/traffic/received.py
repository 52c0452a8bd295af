"""When an event says that it was received: `meta.dt`, from which a job counts how old the event is.

By default that is the traffic's own calendar, so that equal specs give equal bytes. A job that looks at an event's age
(`fetch.not_found_grace`) sees none but old events then, so traffic may be stamped when it is published instead. The
stamp has a fixed width: sizes stay as they are. Times of pages and revisions stay, too.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from devkit.traffic.moments import EPOCH, RECEIVED_AFTER, to_milliseconds
from devkit.traffic.records import SourceRecord

EventTimes = Literal["fixed", "when published"]
Stamp = Callable[[SourceRecord], SourceRecord]


def as_generated(record: SourceRecord) -> SourceRecord:
    """The record with the time of the traffic's own calendar."""
    return record


def received_now(record: SourceRecord, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> SourceRecord:
    """The record as received at `now`; a broken message that has no such time stays as it is."""
    before = to_milliseconds(EPOCH + record.at + RECEIVED_AFTER).encode()
    return replace(record, value=record.value.replace(before, to_milliseconds(now()).encode()))
