"""html-enrichment: one page change event in, one record out, or none when the event is filtered.

    parse ─▶ filter ─▶ fetch latest and parent ─▶ diff ─▶ content limit ─▶ record limit ─▶ record
      │                    │                                 └──────┬──────┘
      └──── error event ◀──┤                                   claim check
            unfinished  ◀──┘ (may succeed later: whoever asked decides between waiting and an error event)

Edits and moves carry the diff to the parent's HTML; creates, undeletes and pages made visible the latest HTML alone;
deletes and hidden content pass without a fetch.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime

from pipeline.config import PipelineConfig
from pipeline.fetch.client import FetchedHtml, FetchFailedError, HtmlClient
from pipeline.fetch.deadline import Deadline
from pipeline.records.claim_check import ClaimStore
from pipeline.records.diff import unified_diff
from pipeline.records.error_event import Failure, error_record
from pipeline.records.output import Content, output_value
from pipeline.records.page_change import InvalidEventError, PageChange, parse
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size

CANARY_DOMAIN = "canary"
EMITTER = "html-enrichment"
_WITH_PARENT = ("edit", "move")


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message of the source topic as Spark hands it over."""

    position: Position
    key: bytes | None
    value: bytes | None
    appended: datetime


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A message whose fetches did not succeed in time, but might later."""

    failure: Failure


Outcome = Record | Unfinished | None


def is_filtered(event: PageChange) -> bool:
    """Canaries, and visible content of another model than wikitext. Deletes may have no slots, and pass."""
    if event.domain == CANARY_DOMAIN:
        return True
    if event.content_model is None:
        return event.kind != "delete" and event.content_visible
    return event.content_model != "wikitext"


class HtmlEnrichment:
    """The job within one Python worker."""

    def __init__(self, config: PipelineConfig, client: HtmlClient, claims: ClaimStore) -> None:
        self._config = config
        self._client = client
        self._claims = claims

    async def process(self, message: SourceMessage, *, limit_s: float) -> Outcome:
        """The record for a message, None when it is filtered. `limit_s` seconds are for its fetches, counted from the
        first request. Raises only when the job cannot go on.
        """
        try:
            event = parse(message.value, str(message.position))
            if is_filtered(event):
                return None
            return await self._enrich(message, event, limit_s)
        except InvalidEventError as error:
            return self.error(message, error.failure)
        except FetchFailedError as error:
            return Unfinished(error.failure) if error.transient else self.error(message, error.failure)

    def error(self, message: SourceMessage, failure: Failure) -> Record:
        """The error event of a message that ends here."""
        return error_record(
            self._config.sink.error_topic,
            failure,
            position=message.position,
            key=message.key,
            appended=message.appended,
            emitter=EMITTER,
            stream=self._config.source.topic,
        )

    async def close(self) -> None:
        await self._client.close()

    async def _enrich(self, message: SourceMessage, event: PageChange, limit_s: float) -> Record:
        if event.kind == "delete" or not event.content_visible:
            return await self._fit(message, event, None, declared_bytes=None)
        deadline = self._client.deadline(limit_s)
        latest_id, parent_id = event.rev_id, event.parent_id if event.kind in _WITH_PARENT else None
        if parent_id is None:
            latest = await self._fetch(event, latest_id, "latest", deadline)
            return await self._fit(message, event, Content(latest.html), declared_bytes=latest.content_length)
        # Both end before either counts, so that the error event does not depend on which answer came first.
        outcomes = await asyncio.gather(
            self._fetch(event, latest_id, "latest", deadline),
            self._fetch(event, parent_id, "parent", deadline),
            return_exceptions=True,
        )
        latest, parent = _both_fetched(*outcomes)
        diff = unified_diff(
            parent.html, latest.html, before_name=f"revision/{parent_id}", after_name=f"revision/{latest_id}"
        )
        return await self._fit(
            message, event, Content(latest.html, parent_id, diff), declared_bytes=latest.content_length
        )

    async def _fetch(self, event: PageChange, rev_id: int, role: str, deadline: Deadline) -> FetchedHtml:
        request_id = f"{event.event_id}:{role}"
        return await self._client.fetch(event.wiki_id, rev_id, request_id=request_id, deadline=deadline)

    async def _fit(
        self, message: SourceMessage, event: PageChange, content: Content | None, *, declared_bytes: int | None
    ) -> Record:
        """The record as it is when it fits, else by claim check; an error event when not even that fits."""
        record = self._record(message, output_value(event, content, stream=self._config.sink.topic))
        if content is not None and (self._content_is_over(content, declared_bytes) or self._record_is_over(record)):
            claim = await asyncio.to_thread(self._claims.put, record.value)
            slim = self._record(message, output_value(event, None, stream=self._config.sink.topic))
            record = Record(slim.topic, slim.key, slim.value, slim.headers + claim.headers())
        if self._record_is_over(record):
            size = serialized_size(record.key, record.value, record.headers)
            limit = self._config.sink.max_request_size
            text = f"record is {size} bytes without content, over sink.max.request.size {limit}"
            return self.error(message, Failure("source_event_too_large", text))
        return record

    def _content_is_over(self, content: Content, declared_bytes: int | None) -> bool:
        limit = self._config.content_limit
        measured = content.decoded_bytes() if limit.measure == "decoded" else declared_bytes
        return measured is not None and measured > limit.max_bytes

    def _record_is_over(self, record: Record) -> bool:
        if self._config.record_limit.policy == "none":
            return False
        return serialized_size(record.key, record.value, record.headers) > self._config.sink.max_request_size

    def _record(self, message: SourceMessage, value: bytes) -> Record:
        return Record(self._config.sink.topic, message.key, value, message.position.headers())


def _both_fetched(
    latest: FetchedHtml | BaseException, parent: FetchedHtml | BaseException
) -> tuple[FetchedHtml, FetchedHtml]:
    """Raises the failure that counts: a final one before a transient one, the latest revision's before the parent's."""
    failures = [outcome for outcome in (latest, parent) if isinstance(outcome, BaseException)]
    if failures:
        raise min(failures, key=lambda failure: isinstance(failure, FetchFailedError) and failure.transient)
    assert isinstance(latest, FetchedHtml)
    assert isinstance(parent, FetchedHtml)
    return latest, parent
