"""edit-counts: how often a page was edited in each window of event time. An example of a job with windows and a state.

Spark groups before this (`pipeline.state.counted_by_window`): a message is the last edit of its page and window, and
says by its `counted` which events it stands for. An event that cannot be read is a group by itself, and becomes an
error event. The output says which events it counts, so that each can be found in exactly one output.

    {"$schema": "/enrichment/page_edit_count/1.0.0", "meta": {...}, "dt": "2026-03-02T09:01:00.000Z",
     "wiki_id": "enwiki", "page_id": 7, "page_title": "Main Page", "edits": 2,
     "window": {"start": "2026-03-02T09:00:00.000Z", "end": "2026-03-02T09:01:00.000Z"},
     "events": [["mediawiki.page_change.v1", 0, 17], ["mediawiki.page_change.v1", 0, 19]]}
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import orjson

from pipeline.config.state_section import Count
from pipeline.fetch.deadline import Deadline
from pipeline.jobs.enrichment import CANARY_DOMAIN
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.page_change_job import PageChangeJob
from pipeline.records.error_event import Failure, rfc3339
from pipeline.records.output import SourceContent
from pipeline.records.page_change import InvalidEventError, PageChange, parse
from pipeline.records.record import Position
from pipeline.schemas import EDIT_COUNT_URI

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:page-edit-count")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CountedEdits(PageChange):
    """The last edit of a page in a window that begins at `start`, and all that were counted there, it among them."""

    start: datetime
    counted: tuple[Position, ...]


class EditCountsJob(PageChangeJob):
    """See `Job`."""

    def __init__(self, config: Count) -> None:
        self._window = config.window

    def parse(self, message: SourceMessage) -> CountedEdits:
        """Raises InvalidEventError, as `parse_edit`, and for an edit whose record has no time."""
        edit = parse_edit(message.value, str(message.position))
        if not message.has_time and is_counted(edit):
            text = "the record has no time, so the edit is of no window: its timestamp is not between 1970 and 9999"
            raise InvalidEventError(Failure("record_without_time", text))
        fields = {name: getattr(edit, name) for name in PageChange.__dataclass_fields__}
        counted = message.counted or (message.position,)
        return CountedEdits(**fields, start=window_start(message.appended, self._window), counted=counted)

    def wants(self, event: PageChange) -> bool:
        """Edits. Others are left out before anything is counted."""
        return event.kind == "edit"

    def needs_fetch(self, event: PageChange) -> bool:  # noqa: ARG002 - part of the interface
        """It counts what stands in the events."""
        return False

    async def fetch(self, event: CountedEdits, *, deadline: Deadline) -> NoReturn:
        """Is never asked for."""
        raise NotImplementedError

    def value(self, event: CountedEdits, fetched: SourceContent | None, *, stream: str) -> bytes:  # noqa: ARG002
        """As JSON: a function of page, window and counted events, so that a repeat is the same."""
        end = rfc3339(event.start + self._window)
        window = {"start": rfc3339(event.start), "end": end}
        name = f"{event.wiki_id}/{event.page_id}/{window['start']}/{end}"
        return orjson.dumps(
            {
                "$schema": EDIT_COUNT_URI,
                "meta": {"stream": stream, "id": str(uuid.uuid5(_NAMESPACE, name)), "dt": end},
                "dt": end,
                "wiki_id": event.wiki_id,
                "page_id": event.page_id,
                "page_title": event.raw["page"]["page_title"],
                "edits": len(event.counted),
                "window": window,
                "events": [[position.topic, position.partition, position.offset] for position in event.counted],
            }
        )


def parse_edit(value: bytes | None, position: str) -> PageChange:
    """A page change event that can be counted if it is an edit: its page has a title, which the version stated here
    sees to, and another minor version may not. Raises InvalidEventError.
    """
    event = parse(value, position)
    title = event.raw["page"].get("page_title")
    if is_counted(event) and not (isinstance(title, str) and title):
        text = "page/page_title is missing, or no text: an edit without it cannot be counted"
        raise InvalidEventError(Failure("schema_violation", text))
    return event


def is_counted(event: PageChange) -> bool:
    """Whether the event counts; others are left out."""
    return event.kind == "edit" and event.domain != CANARY_DOMAIN


def window_start(at: datetime, window: timedelta) -> datetime:
    """When the window begins that holds this time, as Spark has it."""
    return at - (at - _EPOCH) % window
