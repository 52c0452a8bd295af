"""html-enrichment: the latest HTML, and a diff that makes it of the parent's."""

from typing import Any

from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.enriched_event import EnrichedEvent, event_of
from devkit.observe.expected_output.patch import PatchError, apply_patch
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.schemas import HTML_CHANGE_URI


class HtmlTruth:
    """See `JobTruth`."""

    def __init__(self, config: PipelineConfig, wiki: WikiAnswers) -> None:
        self._stream, self._html = config.sink.topic, wiki.html

    def expected(self, topic: str, value: bytes, stated: Expected) -> Expected:  # noqa: ARG002 - part of the interface
        """As the generator states it, which does so for this job."""
        return stated

    def key(self, event: SourceEvent) -> bytes:
        """The source's."""
        return event.key

    def output(self, event: SourceEvent) -> "HtmlOutput":
        """With the documents that its diff must connect."""
        expected = event.entry.expected
        html, parent = None, None
        if expected.page is not None and expected.latest_revision is not None:
            html = self._html(expected.page.wiki, expected.latest_revision)
            if expected.parent_revision is not None:
                parent = expected.parent_revision, self._html(expected.page.wiki, expected.parent_revision)
        enriched = EnrichedEvent(event.value, stream=self._stream, body=html, schema=HTML_CHANGE_URI)
        return HtmlOutput(enriched, html, parent)


class HtmlOutput:
    """See `ExpectedOutput`. `parent` is the revision that the diff is to, and its HTML."""

    def __init__(self, enriched: EnrichedEvent, html: str | None, parent: tuple[int, str] | None) -> None:
        self._enriched, self._html, self._parent = enriched, html, parent

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:
        """The event first, then its diff."""
        event = event_of(value)
        if isinstance(event, str):
            return event
        if "html_diff" in event and event["html_diff"] is None:
            return "html_diff is null"
        diff = event.pop("html_diff", None)
        if wrong := self._enriched.differs(event, body_removed=body_removed):
            return wrong
        return None if body_removed and diff is None else self._wrong_diff(diff)

    def _wrong_diff(self, diff: Any) -> str | None:
        if self._parent is None:
            return None if diff is None else "a diff where none is expected"
        parent_id, parent_html = self._parent
        if not isinstance(diff, dict) or diff.get("base_rev_id") != parent_id or diff.get("format") != "unified":
            return f"no unified diff to revision {parent_id}"
        try:
            patched = apply_patch(parent_html, diff["body"])
        except (PatchError, AttributeError, KeyError) as error:
            return f"diff to revision {parent_id} does not apply: {error}"
        return None if patched == self._html else f"diff to revision {parent_id} does not give the latest HTML"
