"""What jobs have in common that read page change events: how they are parsed, and which of them need no fetch."""

from datetime import datetime, timedelta

from pipeline.jobs.message import SourceMessage
from pipeline.records.page_change import PageChange, parse, schema_of


class PageChangeJob:
    """A part of `Job`, to derive from."""

    def schema(self, message: SourceMessage) -> str:
        """That of page change which this job knows, where the message names none."""
        return schema_of(message.value)

    def parse(self, message: SourceMessage) -> PageChange:
        """Raises InvalidEventError, whose text names the message's source position."""
        return parse(message.value, str(message.position))

    def needs_fetch(self, event: PageChange) -> bool:
        """Deletes and hidden content pass without a fetch."""
        return event.kind != "delete" and event.content_visible

    def key(self, message: SourceMessage, event: PageChange) -> bytes | None:
        """The source's; without one the page's own, as a compacted topic takes no record without a key, and what is
        published of a page has to stay in one partition.
        """
        return event.page_key if message.key is None else message.key


def within_not_found_grace(event: PageChange, limit: timedelta, now: datetime) -> bool:
    """Whether an unknown revision may still appear, as a wiki's replicas lag behind: the event was received less than
    `limit` before `now`, which has a zone; not so when its time is odd.
    """
    # `meta.dt`, when it was received: an import's own time may be weeks old, and its revision new all the same.
    return is_younger(event.raw["meta"].get("dt", event.raw["dt"]), limit, now)


def is_younger(time: str, limit: timedelta, now: datetime) -> bool:
    """Whether a time in RFC 3339 is less than `limit` before `now`, which has a zone; not so when it is odd."""
    try:
        return now - datetime.fromisoformat(time) < limit
    except (ValueError, TypeError, OverflowError):
        return False  # such as a leap second, which the schema allows
