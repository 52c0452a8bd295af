"""html-enrichment: the HTML of wikitext pages, and how it differs from the parent revision's.

Edits and moves carry the diff to the parent's HTML; creates, undeletes and pages made visible the latest HTML alone.
A revision that the wiki does not know is final, unless it is so new that a lagging replica may not have it yet. A
parent that is hidden or deleted takes nothing from the latest HTML: the output is without the diff. A parent that was
published by this job mostly need not be fetched (`pipeline.jobs.published_pages`).
"""

import asyncio
import functools
from collections.abc import Callable
from datetime import datetime

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient, decisive_failure
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.kept_revisions import kept_revisions
from pipeline.jobs.large_work import LargeWork
from pipeline.jobs.page_change_job import PageChangeJob, within_not_found_grace
from pipeline.jobs.published_pages import Publication, PublishedPages
from pipeline.metrics.catalogue import PARENT_BYTES, PARENTS
from pipeline.metrics.worker_metrics import RECORDER
from pipeline.records.diff import unified_diff_of_bytes
from pipeline.records.error_types import ErrorType
from pipeline.records.output import HtmlContent, html_value
from pipeline.records.page_change import PageChange

_WITH_PARENT = ("edit", "move")
_UNKNOWN: ErrorType = "revision_not_found"
# What MediaWiki says of a revision that was hidden or deleted since the event was made.
_GONE: tuple[ErrorType, ...] = (_UNKNOWN, "access_denied")
_DIFFS = LargeWork("large-diff")


class HtmlJob(PageChangeJob):
    """See `ReadingJob`. `now` is the time of day, in UTC."""

    def __init__(self, config: PipelineConfig, client: WikiClient, now: Callable[[], datetime]) -> None:
        self._not_found_grace = config.fetch.not_found_grace
        self._client = client
        self._now = now
        kept = kept_revisions(config)
        self._keeps = kept is not None
        self._published = PublishedPages(kept)

    def wants(self, event: PageChange) -> bool:
        """Wikitext. A delete may have no slots, and hidden content too."""
        if event.content_model is None:
            return event.kind == "delete" or not event.content_visible
        return event.content_model == "wikitext"

    def read(self, event: PageChange) -> None:
        """Nothing published of a page is used any more when something of it is hidden."""
        self._published.read(event)

    async def fetch(self, event: PageChange, *, deadline: Deadline) -> HtmlContent:
        """The latest HTML, with its diff to the parent for edits and moves; a large diff is made in another thread."""
        latest_id, parent_id = event.rev_id, event.parent_id if event.kind in _WITH_PARENT else None
        async with self._published.publication(event) as publication:
            if parent_id is None:
                latest = await self._html(event, latest_id, "latest", deadline)
                publication.content, publication.compressed = latest.utf8, latest.compressed
                return _content(latest)
            # Both end before either counts, so that the error event does not depend on which answer came first.
            latest_outcome, parent_outcome = await asyncio.gather(
                self._html(event, latest_id, "latest", deadline),
                self._parent(publication, parent_id, deadline),
                return_exceptions=True,
            )
            if publication.is_hidden and not isinstance(parent_outcome, BaseException):
                # It may be what was published before.
                (parent_outcome,) = await asyncio.gather(
                    self._asked_parent(publication, parent_id, deadline), return_exceptions=True
                )
            latest, parent = _fetched(latest_outcome, parent_outcome)
            publication.content, publication.compressed = latest.utf8, latest.compressed
        if parent is None:
            return _content(latest)
        names = {"before_name": f"revision/{parent_id}", "after_name": f"revision/{latest_id}"}
        new = latest.utf8
        make_diff = functools.partial(unified_diff_of_bytes, parent, new, **names)
        diff = await _DIFFS.run(make_diff, size=len(parent) + len(new))
        return _content(latest, parent_id, diff.decode())

    def value(self, event: PageChange, fetched: HtmlContent | None, *, stream: str) -> bytes:
        """As JSON; without the HTML for an event that needed no fetch."""
        return html_value(event, fetched, stream=stream)

    async def _parent(self, publication: Publication, rev_id: int, deadline: Deadline) -> bytes | bytearray:
        """The parent as it was published, or as the wiki has it."""
        published = await self._published.parent(publication, rev_id)
        if published is not None and self._client.hold(len(published)):
            RECORDER.count(PARENTS, "hit")
            RECORDER.count(PARENT_BYTES, by=len(published))
            return published
        return await self._asked_parent(publication, rev_id, deadline)

    async def _asked_parent(self, publication: Publication, rev_id: int, deadline: Deadline) -> bytes | bytearray:
        RECORDER.count(PARENTS, "miss")
        return (await self._html(publication.event, rev_id, "parent", deadline)).utf8

    async def _html(self, event: PageChange, rev_id: int, role: str, deadline: Deadline) -> FetchedText:
        try:
            return await self._client.fetch(
                event.wiki_id,
                rev_id,
                request_id=event.request_id(role),
                deadline=deadline,
                compressed=self._keeps and role == "latest",
            )
        except FetchFailedError as error:
            may_appear = within_not_found_grace(event, self._not_found_grace, self._now())
            if error.failure.error_type != _UNKNOWN or not may_appear:
                raise
            raise error.as_transient() from error


def _content(latest: FetchedText, parent_id: int | None = None, diff: str | None = None) -> HtmlContent:
    html_bytes = len(latest.utf8)
    return HtmlContent(latest.text, parent_id, diff, declared_bytes=latest.content_length, html_bytes=html_bytes)


def _fetched(
    latest: FetchedText | BaseException, parent: bytes | bytearray | BaseException
) -> tuple[FetchedText, bytes | bytearray | None]:
    """The content of each role; None for a parent that is gone. Raises the failure that counts: a final one before a
    transient one, the latest revision's before the parent's.
    """
    if isinstance(parent, FetchFailedError) and not parent.transient and parent.failure.error_type in _GONE:
        if isinstance(latest, BaseException):
            raise latest
        return latest, None
    counts = decisive_failure((latest, parent))
    if counts is not None:
        if isinstance(counts, FetchFailedError) and isinstance(latest, FetchedText):
            counts.in_hand = _content(latest)
        raise counts
    assert isinstance(latest, FetchedText)
    assert not isinstance(parent, BaseException)
    return latest, parent
