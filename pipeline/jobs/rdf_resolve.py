"""rdf-resolve: operations on entities become mutations of a triple store.

    import, reconcile   the entity at the revision, all of it
    diff                the entity at two revisions: what makes the second of the first
    delete              nothing is fetched

A reconcile of an entity that the wiki has no longer becomes a delete: its revision is unknown, and so is the entity
itself, which is asked for then.

A mutation takes a record for each of its chunks, under the entity as key. What cannot be fetched is a fetch_failure
event.
"""

import asyncio
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import InvalidTerm, invalid_terms_of
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient, decisive_failure
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.header_fields import media_type
from pipeline.fetch.kept_revisions import kept_revisions
from pipeline.fetch.route import Head, TryAgainError
from pipeline.jobs.job import OutputPart
from pipeline.jobs.large_work import LargeWork
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.page_change_job import is_younger
from pipeline.metrics.catalogue import INVALID_TERMS
from pipeline.metrics.worker_metrics import RECORDER
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.fetch_failure import fetch_failure_value
from pipeline.rdf.munge import IncompleteEntityError, munge
from pipeline.rdf.mutation import mutation_records, write_slim_value
from pipeline.rdf.operation import Operation, parse_operation
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions, state_in_full
from pipeline.rdf.triples import TURTLE, InvalidRdfError, Triple, parse_triples
from pipeline.records.error_event import Failure
from pipeline.records.error_types import ErrorType
from pipeline.records.record import Record
from pipeline.records.size import serialized_size
from pipeline.schemas import OPERATION_URI

_PARSES = LargeWork("large-entity")  # of about 2,000 statements and more
_UNKNOWN: ErrorType = "revision_not_found"
# The words of Wikibase's EntityDataRequestHandler, in the language of the wiki's content; in others they are unknown.
_REFUSALS = {
    "wikibase-entitydata-bad-revision": "Can't show revision",
    "wikibase-entitydata-not-found": "No entity with ID",
}
# A whole word, which is looked for behind its text: what begins with text is found far faster.
_VERSION = re.compile(r'schema:version(?<!\wschema:version) +"?([0-9]+)')


@dataclass(frozen=True, slots=True)
class ResolvedDiff:
    """What an operation's revisions come to. None of it is content that could be left out of a record as a whole.
    `is_deleted`: the wiki has no such entity.
    """

    diff: TripleDiff
    is_deleted: bool = False
    declared_bytes: int | None = None

    def decoded_bytes(self) -> int:
        """0: the output is cut into records that fit."""
        return 0


class EntityRoute:
    """An entity at a revision, as Turtle, by Wikibase's `Special:EntityData`."""

    def __init__(self, entity: str) -> None:
        self._entity = entity

    def path(self, rev_id: int) -> str:
        """The dump's flavour: the entity with all that it has, and no other one."""
        return f"/wiki/Special:EntityData/{self._entity}.ttl?flavor=dump&revision={rev_id}"

    def read(self, rev_id: int, head: Head, body: str) -> str:
        """Raises TryAgainError for another content type, an empty body, or another revision."""
        if media_type(head.content_type) != TURTLE:
            raise _not_the_entity(f"content type {head.content_type[:100]!r}")
        if not body or body.isspace():
            raise _not_the_entity("no body")
        versions = set(_VERSION.findall(body))
        if str(rev_id) not in versions:
            raise _not_the_entity(f"revision {', '.join(sorted(versions))[:40] or 'unknown'}")
        return body

    def refusal(self, body: str) -> str | None:
        """The message of Wikibase that the error page has."""
        return next((code for code, words in _REFUSALS.items() if words in body), None)


class CurrentEntityRoute(EntityRoute):
    """An entity at its current revision, to see whether there is one."""

    def path(self, rev_id: int) -> str:  # noqa: ARG002 - part of the interface
        """Without a revision, of which Wikibase says "no entity" too where it does not exist."""
        return f"/wiki/Special:EntityData/{self._entity}.ttl?flavor=dump"

    def read(self, rev_id: int, head: Head, body: str) -> str:  # noqa: ARG002 - part of the interface
        """Raises TryAgainError for another content type, or a body that names no revision."""
        version = _VERSION.search(body)
        return super().read(int(version[1]) if version else 0, head, body)


class RdfResolveJob:
    """See `SplittingJob`, `FailureWritingJob` and `ReadingJob`."""

    def __init__(self, config: PipelineConfig, client: WikiClient, now: Callable[[], datetime]) -> None:
        """`now` gives the time with a zone."""
        self._client = client
        self._name = config.job
        self._rdf = config.rdf
        self._failure_topic = config.sink.fetch_failure_topic
        self._namespaces = ConceptNamespaces(config.rdf.concept_base)
        self._not_found_grace = config.fetch.not_found_grace
        self._now = now
        self._kept = kept_revisions(config)

    def schema(self, message: SourceMessage) -> str:  # noqa: ARG002 - part of the interface
        """That of operations."""
        return OPERATION_URI

    def parse(self, message: SourceMessage) -> Operation:
        """Raises InvalidEventError."""
        return parse_operation(message.value)

    def wants(self, event: Operation) -> bool:  # noqa: ARG002 - part of the interface
        """All operations."""
        return True

    def needs_fetch(self, event: Operation) -> bool:
        """All but deletes."""
        return event.op != "delete"

    def key(self, message: SourceMessage, event: Operation) -> bytes | None:  # noqa: ARG002 - part of the interface
        """The entity: its mutations have to stay in order."""
        return event.key

    async def fetch(self, event: Operation, *, deadline: Deadline) -> ResolvedDiff:
        """What the revisions come to. Raises FetchFailedError, also for RDF that cannot be read."""
        before, since = self._kept_before(event), 0 if self._kept is None else self._kept.now()
        revisions = [event.rev] if event.from_rev is None or before is not None else [event.from_rev, event.rev]
        texts = await asyncio.gather(
            *(self._text(event, rev_id, deadline) for rev_id in revisions), return_exceptions=True
        )
        if (failure := decisive_failure(texts)) is not None:
            if event.op == "reconcile" and _is_unknown(failure) and await self._is_deleted(event, deadline):
                return ResolvedDiff(TripleDiff(), is_deleted=True)
            raise failure
        documents = [text.text for text in texts if isinstance(text, FetchedText)]
        resolve = functools.partial(self._resolve, event, before, documents, since)
        return await _PARSES.run(resolve, size=sum(map(len, documents)))

    def read(self, event: Operation) -> None:
        """Nothing is kept of an entity that is deleted: its content may be hidden."""
        if event.op == "delete" and self._kept is not None:
            self._kept.drop(self._rdf.wiki, event.entity)

    def value(self, event: Operation, fetched: ResolvedDiff | None, *, stream: str) -> bytes:  # noqa: ARG002
        """The operation itself."""
        return event.value()

    def parts(
        self, event: Operation, fetched: ResolvedDiff | None, *, stream: str, limit_bytes: int | None
    ) -> Sequence[OutputPart]:
        """A record for each chunk; a single triple that is too large for one goes by claim check."""
        diff = TripleDiff() if fetched is None else fetched.diff
        is_deleted = fetched is not None and fetched.is_deleted
        records = mutation_records(
            replace(event, op="delete") if is_deleted else event,
            diff,
            topic=stream,
            domain=self._rdf.domain,
            characters=self._rdf.chunk_characters,
            max_record_bytes=None if limit_bytes is None else limit_bytes + serialized_size(event.key, b"", ()),
        )
        return [self._part(chunk.record, is_too_large=chunk.is_too_large) for chunk in records]

    def failure_part(self, message: SourceMessage, event: Operation, failure: Failure) -> OutputPart | None:
        """What a fetch came to, as fetch_failure event; None for other failures."""
        if self._failure_topic is None:
            return None
        value = fetch_failure_value(
            event, failure, message, topic=self._failure_topic, domain=self._rdf.domain, emitter=self._name
        )
        return None if value is None else OutputPart(value, topic=self._failure_topic)

    def _part(self, record: Record, *, is_too_large: bool) -> OutputPart:
        slim = functools.partial(write_slim_value, record.value) if is_too_large else None
        return OutputPart(record.value, record.headers, slim)

    async def _is_deleted(self, event: Operation, deadline: Deadline) -> bool:
        """Whether the wiki has no current revision of the entity. Raises FetchFailedError where it does not say."""
        try:
            await self._text(event, event.rev, deadline, CurrentEntityRoute(event.entity))
        except FetchFailedError as error:
            if not _is_unknown(error):
                raise
            if self._kept is not None:
                self._kept.drop(self._rdf.wiki, event.entity)
            return True
        return False

    async def _text(
        self, event: Operation, rev_id: int, deadline: Deadline, route: EntityRoute | None = None
    ) -> FetchedText:
        """`route` None is the revision's."""
        request_id = f"{event.id}:{rev_id if route is None else 'current'}"
        route = route or EntityRoute(event.entity)
        try:
            return await self._client.fetch(
                self._rdf.wiki, rev_id, request_id=request_id, deadline=deadline, route=route
            )
        except FetchFailedError as error:
            may_appear = is_younger(event.dt, self._not_found_grace, self._now())
            if error.failure.error_type != _UNKNOWN or not may_appear:
                raise
            raise error.as_transient() from error

    def _kept_before(self, event: Operation) -> frozenset[Triple] | None:
        if self._kept is None or event.from_rev is None:
            return None
        content = self._kept.get(self._rdf.wiki, event.entity, event.from_rev)
        if content is None:
            return None
        return frozenset(content.decode().split("\n")) if content else frozenset()

    def _resolve(
        self, event: Operation, before: frozenset[Triple] | None, documents: Sequence[str], since: int
    ) -> ResolvedDiff:
        earlier = [self._munged(event, document, []) for document in documents[:-1]]
        invalid_terms: list[InvalidTerm] = []
        after = self._munged(event, documents[-1], invalid_terms)
        _report(event, tuple(invalid_terms))
        if self._kept is not None:
            content = "\n".join(after).encode()
            self._kept.put(self._rdf.wiki, event.entity, event.rev, content, since=since)
        if event.op == "reconcile":
            return ResolvedDiff(state_in_full(after))
        if before is None:
            before = earlier[0] if earlier else frozenset()
        return ResolvedDiff(diff_revisions(before, after, self._namespaces))

    def _munged(self, event: Operation, text: str, invalid_terms: list[InvalidTerm]) -> frozenset[Triple]:
        try:
            triples = parse_triples(text, source=event.entity, invalid_terms=invalid_terms)
            return munge(triples, event.entity, self._namespaces)
        except (InvalidRdfError, IncompleteEntityError) as error:
            # An answer may have ended early in a way that HTTP does not show.
            failure = Failure("invalid_body", f"{event.entity}: {error}")
            raise FetchFailedError(failure, transient=True, wiki_id=self._rdf.wiki) from error


def _report(event: Operation, invalid_terms: tuple[InvalidTerm, ...]) -> None:
    if invalid_terms:
        log.emit(invalid_terms_of(event.entity, event.rev, invalid_terms))
        for term in invalid_terms:
            RECORDER.count(INVALID_TERMS, term.outcome)


def _is_unknown(failure: BaseException) -> bool:
    """Whether the wiki has no such revision, and will have none."""
    return isinstance(failure, FetchFailedError) and not failure.transient and failure.failure.error_type == _UNKNOWN


def _not_the_entity(reason: str) -> TryAgainError:
    return TryAgainError(f"status 200, and not Wikibase's entity: {reason}", of_upstream=True)
