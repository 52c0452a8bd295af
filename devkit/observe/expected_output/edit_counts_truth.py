"""edit-counts: each edit is counted once, in the output of its page and of the window that its time lies in."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig

_NOT_AN_EDIT = "not an edit"


class EditCountsTruth:
    """See `JobTruth` and `SourcesOfOutput`."""

    def __init__(self, config: PipelineConfig, wiki: WikiAnswers) -> None:  # noqa: ARG002 - part of the interface
        self._stream, self._window = config.sink.topic, config.count.window

    def expected(self, topic: str, value: bytes, stated: Expected) -> Expected:  # noqa: ARG002 - part of the interface
        """An edit is counted, whatever its content model is; what cannot be read is an error event here too."""
        if stated.fate == "error" or stated.reason == "canary":
            return stated
        nothing_fetched: dict[str, Any] = {"latest_revision": None, "parent_revision": None}
        if orjson.loads(value)["page_change_kind"] == "edit":
            return stated.model_copy(update={"fate": "output", "reason": None, **nothing_fetched})
        return stated.model_copy(update={"fate": "filtered", "reason": _NOT_AN_EDIT, **nothing_fetched})

    def key(self, event: SourceEvent) -> bytes:
        """The source's: that of the page."""
        return event.key

    def output(self, event: SourceEvent) -> "EditCount":
        """The count of the page in the window of the event."""
        return EditCount(event, self._stream, self._window)

    def sources(self, value: bytes) -> Sequence[Position] | None:
        """The events that an output counts; None where it does not say."""
        try:
            return [(str(topic), int(partition), int(offset)) for topic, partition, offset in _events(value)]
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None


class EditCount:
    """See `ExpectedOutput`."""

    def __init__(self, event: SourceEvent, stream: str, window: timedelta) -> None:
        self._event, self._stream, self._window = event, stream, window

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:  # noqa: ARG002 - part of the interface
        """Page, number, stream and window, which where the record has the event's own time is that of the event."""
        edit = orjson.loads(self._event.value)
        try:
            count = orjson.loads(value)
            page = count["wiki_id"], count["page_id"]
            start, end = (datetime.fromisoformat(count["window"][name]) for name in ("start", "end"))
            counted, stream, edits = _events(value), count["meta"]["stream"], count["edits"]
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            return f"not a count of edits: {error!r}"
        if page != (edit["wiki_id"], edit["page"]["page_id"]):
            return f"the event is counted for page {page[1]} of {page[0]}"
        if edits != len(counted):
            return f"{edits} edits, and {len(counted)} events that they are"
        if list(self._event.position) not in counted:
            return "the event that it names is not among those that it counts"
        if stream != self._stream:
            return f"meta.stream is {stream!r}; expected {self._stream!r}"
        if end - start != self._window:
            return f"its window is {(end - start).total_seconds():g} s long"
        if self._event.published_ms is not None and not start <= datetime.fromisoformat(edit["meta"]["dt"]) < end:
            return f"the event of {edit['meta']['dt']} is counted in the window from {count['window']['start']} on"
        return None


def _events(value: bytes) -> list[Any]:
    return list(orjson.loads(value)["events"])
