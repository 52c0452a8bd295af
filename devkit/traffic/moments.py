"""The traffic's own calendar: events happen at a fixed date, never at the wall clock's; see `received` for the one
exception.
"""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""The moment at which traffic begins. What happened to pages before lies before it."""

RECEIVED_AFTER = timedelta(milliseconds=150)
"""From the change (`dt`) to its arrival in the stream (`meta.dt`)."""


def to_seconds(moment: datetime) -> str:
    """As MediaWiki writes it: `2026-03-02T09:00:00Z`, 20 characters."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def to_milliseconds(moment: datetime) -> str:
    """As the event intake writes it: `2026-03-02T09:00:00.150Z`, 24 characters."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
