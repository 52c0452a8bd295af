"""What all jobs have in common: one event in, one record out, or none when the event is filtered.

    parse ─▶ filter ─▶ the job's fetch ─▶ the job's value ─▶ content limit ─▶ record limit ─▶ record
      │                    │                                      └──────┬──────┘
      └──── error event ◀──┤ (or the job's own form of it)         claim check
            unfinished  ◀──┘ (may succeed later: the caller decides between waiting and an error event)

An event that needs no fetch passes without one. Where claim checks of what is suppressed are removed, all that is done
to the store waits for the event's turn in its page (`pipeline.records.suppression`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Generic, Protocol

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchFailedError, WikiClient
from pipeline.jobs.job import E, F, FailureWritingJob, Fetched, Job, OutputPart, ReadingJob, SplittingJob
from pipeline.jobs.message import InTurn, Outcome, Processed, SourceMessage, Unfinished
from pipeline.records.claim_check import ClaimStore
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.error_event import Failure, error_record
from pipeline.records.page_change import InvalidEventError, PageChange
from pipeline.records.record import Headers, Position, Record
from pipeline.records.size import serialized_size
from pipeline.records.suppression import Suppression, suppression_of

CANARY_DOMAIN = "canary"
MOST_KEY_BYTES = 16 * 1024
"""A key travels with a deferred event, and must leave room in the ledger's record."""


class FailedFetchError(Exception):
    """Under `fetch.on_failure: fail`: the fetch for the event at this position failed, and ends the query."""

    def __init__(self, position: Position, error: FetchFailedError) -> None:
        super().__init__(f"the fetch for {position} failed: {error.failure.error_type}, {error.failure.message}")


class Removal(Protocol):
    """Removes claim checks."""

    async def remove(self, suppression: Suppression, origin: ClaimOrigin) -> None:
        """Remove what the event suppresses. Does not raise for the store's sake."""


class Enrichment(Generic[E, F]):
    """A job within one Python worker; see `Processor`."""

    def __init__(
        self,
        config: PipelineConfig,
        job: Job[E, F],
        client: WikiClient,
        claims: ClaimStore,
        removal: Removal | None = None,
    ) -> None:
        """`client` is the one that the job fetches with, and is closed with it. Without `removal` claim checks are
        kept, whatever is suppressed.
        """
        self._config = config
        self._removal = removal
        self._job = job
        # Asked once: it looks at each method of the job.
        self._splitting = job if isinstance(job, SplittingJob) else None
        self._failure_writing = job if isinstance(job, FailureWritingJob) else None
        self._reading = job if isinstance(job, ReadingJob) else None
        self._client = client
        self._claims = claims

    async def process(self, message: SourceMessage, *, limit_s: float) -> Processed:
        """The record of a message, None when it is filtered, or `Unfinished` after `limit_s` seconds from its first
        request. What is to be done in its turn does not raise for the event's sake.
        """
        try:
            event = self._job.parse(message)
        except InvalidEventError as error:
            return self.error(message, error.failure)
        if event.domain == CANARY_DOMAIN:
            return None
        if self._reading is not None:
            self._reading.read(event)
        outcome = await self._processed(message, event, limit_s)
        suppression = self._suppression(event)
        if suppression is None or self._removal is None:
            return outcome
        # An event that is filtered, or may yet end in an error event, says what is to be hidden all the same.
        return InTurn(partial(self._after_removal, self._removal, suppression, message.origin, outcome))

    def hold(self, message: SourceMessage) -> None:
        """The message is read, and processed later."""
        if self._reading is not None:
            with suppress(InvalidEventError):
                self._reading.read(self._job.parse(message))

    async def _processed(self, message: SourceMessage, event: E, limit_s: float) -> Processed:
        try:
            if not self._job.wants(event):
                return None
            if is_key_too_large(message):
                text = f"key of {len(message.key or b'')} bytes, more than {MOST_KEY_BYTES}"
                return self.error(message, Failure("source_event_too_large", text))
            if not self._job.needs_fetch(event):
                return await self._enforce_limits(message, event, None)
            return await self._enforce_limits(
                message, event, await self._job.fetch(event, deadline=self._client.deadline(limit_s))
            )
        except InvalidEventError as error:
            return self.error(message, error.failure)
        except FetchFailedError as error:
            if self._config.fetch.on_failure == "fail":
                raise FailedFetchError(message.position, error) from error
            if not error.transient:
                own = self._failure_record(message, event, error.failure)
                return own or self._error(message, error.failure, self._full_event(message, event, error.in_hand))
            return Unfinished(
                error.failure, retry_after_s=error.retry_after_s, tried=error.tried, wiki_id=error.wiki_id
            )

    def unreadable_version(self, message: SourceMessage) -> str | None:
        """The schema of a message of whose major version the job can read nothing; None of one that it can read. Raises
        InvalidEventError for what is no event: that says nothing of others that name the same schema.
        """
        try:
            self._job.parse(message)
        except InvalidEventError as error:
            if error.failure.error_type != "unknown_schema_version":
                raise
            return self._job.schema(message)
        return None

    def error(self, message: SourceMessage, failure: Failure) -> Record:
        """The error event of a message: ids and an excerpt, never the payload unless an unsafe policy wants it. Or what
        the job writes in its place.
        """
        own = None
        if self._failure_writing is not None:
            with suppress(InvalidEventError):
                own = self._failure_record(message, self._job.parse(message), failure)
        return own or self._error(message, failure, self._full_event(message))

    async def close(self) -> None:
        """Closes the client that was passed in, and not the claim store."""
        await self._client.close()

    def _failure_record(self, message: SourceMessage, event: E, failure: Failure) -> Record | None:
        """The job's own form of the failure; None where it is an error event."""
        part = None if self._failure_writing is None else self._failure_writing.failure_part(message, event, failure)
        if part is None:
            return None
        return self._record(part, self._job.key(message, event), self._headers(message, event))

    def _error(self, message: SourceMessage, failure: Failure, raw_event: bytes | None) -> Record:
        return error_record(
            self._config.sink.error_topic,
            failure,
            position=message.position,
            event_id=message.event_id,
            key=message.key,
            appended=message.appended,
            emitter=self._config.job,
            stream=message.position.topic,
            schema=self._job.schema(message),
            raw_event=raw_event,
            headers=message.headers,
        )

    def _full_event(self, message: SourceMessage, event: E | None = None, fetched: F | None = None) -> bytes | None:
        """The event with what was fetched for it, where the policy has error events carry that; else None."""
        if self._config.errors.payload == "bounded":
            return None
        if event is None or fetched is None:
            return message.value
        return self._job.value(event, fetched, stream=self._config.sink.topic)

    async def _after_removal(
        self, removal: Removal, suppression: Suppression, origin: ClaimOrigin, outcome: Processed
    ) -> Outcome:
        await removal.remove(suppression, origin)
        return await outcome.finish() if isinstance(outcome, InTurn) else outcome

    def _suppression(self, event: E) -> Suppression | None:
        """The event's suppression, where claim checks of it are removed."""
        if self._removal is None or not isinstance(event, PageChange):
            return None
        return suppression_of(event.raw)

    async def _enforce_limits(self, message: SourceMessage, event: E, fetched: F | None) -> Processed:
        """The output as it is where each record fits, else by claim check; an error event when not even that fits."""
        key, headers = self._job.key(message, event), self._headers(message, event)
        is_content_over = fetched is not None and self._content_is_over(fetched)
        output: list[Record] = []
        payloads: dict[int, OutputPart] = {}
        for number, part in enumerate(self._parts(event, fetched, key, headers)):
            output.append(self._record(part, key, headers))
            if part.slim is not None and (is_content_over or self._record_is_over(output[-1])):
                payloads[number] = part
        if not payloads:
            return self._measured(message, output)

        async def by_claim_check() -> Record | None:
            about = event.page_revision if isinstance(event, PageChange) else None
            checked = list(output)
            for number, part in payloads.items():
                claim = await self._claims.keep(part.value, about, message.origin)
                assert part.slim is not None
                record = output[number]
                checked[number] = replace(record, value=part.slim(), headers=record.headers + claim.headers())
            return self._measured(message, checked)

        return await by_claim_check() if self._removal is None else InTurn(by_claim_check)

    def _record(self, part: OutputPart, key: bytes | None, headers: Headers) -> Record:
        topic = self._config.sink.topic if part.topic is None else part.topic
        return Record(topic, key, part.value, headers + part.headers)

    def _parts(self, event: E, fetched: F | None, key: bytes | None, headers: Headers) -> Sequence[OutputPart]:
        """`key` and `headers` are those of each record."""
        topic = self._config.sink.topic
        if self._splitting is not None:
            is_bounded = self._config.record_limit.policy != "none"
            limit_bytes = self._config.sink.max_request_size - serialized_size(key, b"", headers)
            return self._splitting.parts(event, fetched, stream=topic, limit_bytes=limit_bytes if is_bounded else None)
        slim = None if fetched is None else partial(self._job.value, event, None, stream=topic)
        return (OutputPart(self._job.value(event, fetched, stream=topic), slim=slim),)

    def _measured(self, message: SourceMessage, output: Sequence[Record]) -> Record | None:
        for record in output:
            if self._record_is_over(record):
                size = serialized_size(record.key, record.value, record.headers)
                limit = self._config.sink.max_request_size
                text = f"record is {size} bytes without content, over sink.max.request.size {limit}"
                return self.error(message, Failure("source_event_too_large", text))
        return Record.of(output)

    def _content_is_over(self, fetched: Fetched) -> bool:
        limit = self._config.content_limit
        measured = fetched.decoded_bytes() if limit.measure == "decoded" else fetched.declared_bytes
        return measured is not None and measured > limit.max_bytes

    def _record_is_over(self, record: Record) -> bool:
        if self._config.record_limit.policy == "none":
            return False
        return serialized_size(record.key, record.value, record.headers) > self._config.sink.max_request_size

    def _headers(self, message: SourceMessage, event: E) -> Headers:
        # A page change has been read already.
        event_id = event.own_id if isinstance(event, PageChange) else message.event_id
        suppression = self._suppression(event)
        return message.output_headers(event_id) + (() if suppression is None else suppression.headers())


def is_key_too_large(message: SourceMessage) -> bool:
    """Whether the event ends for its key."""
    return message.key is not None and len(message.key) > MOST_KEY_BYTES
