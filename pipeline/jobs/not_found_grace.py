"""Whether a revision that a wiki does not know may still appear: its replicas lag behind what the event tells.

A job tries such an event again while it is young, and gives an error event when it is not.
"""

from datetime import datetime, timedelta

from pipeline.records.page_change import PageChange


def within_not_found_grace(event: PageChange, limit: timedelta, now: datetime) -> bool:
    """Whether the event was received less than `limit` before `now`, which has a zone; not so when its time is odd."""
    # `meta.dt`, when it was received: an import's own time may be weeks old, and its revision new all the same.
    received = event.raw["meta"].get("dt", event.raw["dt"])
    try:
        return now - datetime.fromisoformat(received) < limit
    except (ValueError, TypeError, OverflowError):
        return False  # such as a leap second, which the schema allows
