"""content-enrichment: the source of the main slot, from the Action API.

The API answers nearly everything with status 200, so what became of the request stands in the body:

    error         as the table of error codes says; again, not before `Retry-After`, or final
    badrevids     the revision does not exist: final, unless it is so new that a lagging replica may not have it yet
    texthidden    hidden since the event was made: nothing is published, and an error event says why
    another one   something before MediaWiki mixed answers up: an outage
    none of them  something before MediaWiki answered: an outage
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.api_errors import error_type_of, meaning_of
from pipeline.fetch.client import FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.route import Head, TryAgainError, json_object, without_bom
from pipeline.jobs.page_change_job import PageChangeJob, within_not_found_grace
from pipeline.records.error_event import Failure
from pipeline.records.error_types import ErrorType
from pipeline.records.output import SourceContent, source_value
from pipeline.records.page_change import PageChange


class ContentJob(PageChangeJob):
    """See `Job`. `now` is the time of day, in UTC."""

    def __init__(self, config: PipelineConfig, client: WikiClient, now: Callable[[], datetime]) -> None:
        self._config = config.content
        self._not_found_grace = config.fetch.not_found_grace
        self._client = client
        self._now = now
        maxlag_s = config.content.maxlag // timedelta(seconds=1)
        self._patient = ContentRoute(maxlag_s, unknown_is_final=False)
        self._final = ContentRoute(maxlag_s, unknown_is_final=True)

    def wants(self, event: PageChange) -> bool:
        """The configured content models. A delete may have no slots, and hidden content too."""
        if event.content_model is None:
            return event.kind == "delete" or not event.content_visible
        return self._config.models == "all" or event.content_model in self._config.models

    async def fetch(self, event: PageChange, *, deadline: Deadline) -> SourceContent:
        """The text of the main slot. An unknown revision is tried again only within `not_found_grace` of the event."""
        fetched = await self._client.fetch(
            event.wiki_id,
            event.rev_id,
            request_id=event.request_id("content"),
            deadline=deadline,
            route=self._patient if within_not_found_grace(event, self._not_found_grace, self._now()) else self._final,
        )
        return SourceContent(fetched.text, declared_bytes=fetched.content_length)

    def value(self, event: PageChange, fetched: SourceContent | None, *, stream: str) -> bytes:
        """As JSON; without the text for an event that needed no fetch."""
        return source_value(event, fetched, stream=stream)


class ContentRoute:
    """See `Route`."""

    def __init__(self, maxlag_s: int, *, unknown_is_final: bool) -> None:
        self._maxlag_s = maxlag_s
        self._unknown_is_final = unknown_is_final

    def path(self, rev_id: int) -> str:
        """By the revision alone; `maxlag` has MediaWiki refuse while its replicas lag by more."""
        query = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "maxlag": self._maxlag_s,
            "prop": "revisions",
            "revids": rev_id,
            "rvprop": "ids|content|contentmodel",
            "rvslots": "main",
        }
        return f"/w/api.php?{urlencode(query)}"

    def read(self, rev_id: int, head: Head, body: str) -> str:  # noqa: ARG002 - the body says all
        """The text of the main slot."""
        try:
            answer = _Answer.model_validate_json(without_bom(body))
        except ValidationError as error:
            if all(detail["loc"][:1] != ("query",) for detail in error.errors(include_input=False, include_url=False)):
                raise _not_of_the_api() from error
            raise _failed("invalid_body", f"revision {rev_id}: {_what_is_wrong(error)}") from error
        if answer.error is not None:
            raise _refused(rev_id, answer.error)
        if answer.query is None and answer.batchcomplete is None:
            raise _not_of_the_api()
        query = answer.query or _Query()
        if str(rev_id) in query.badrevids:
            if self._unknown_is_final:
                raise _failed("revision_not_found", f"revision {rev_id}: among badrevids")
            raise TryAgainError("among badrevids, perhaps for a lagging replica", of_upstream=False)
        revisions = [revision for page in query.pages for revision in page.revisions if revision.revid == rev_id]
        if not revisions:
            if query.badrevids or any(page.revisions for page in query.pages):
                raise TryAgainError("the answer is of another revision", of_upstream=True)
            # MediaWiki leaves a revision out that would make the answer larger than its own limit.
            raise _failed("content_refused_by_upstream", f"revision {rev_id}: not in the answer")
        slot = revisions[0].slots.main
        if slot.texthidden:
            raise _failed("access_denied", f"revision {rev_id}: its text is hidden")
        if slot.content is None:
            raise _failed("upstream_error", f"revision {rev_id}: its main slot has no text")
        return slot.content

    def refusal(self, body: str) -> str | None:
        """The API's `error.code`, None where the body has none with an `info`."""
        try:
            return _Error.model_validate(json_object(body).get("error")).code
        except ValidationError:
            return None


# The API's own limit. To look at more takes microseconds and hundreds of bytes for each element, ten times that for one
# that is wrong: an answer of a few MB would hold all other requests for half a minute, and take gigabytes.
_FEW = Field(max_length=500, fail_fast=True)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Slot(_Part):
    texthidden: bool = False
    content: str | None = None


class _Slots(_Part):
    main: _Slot = _Slot()


class _Revision(_Part):
    revid: int
    slots: _Slots = _Slots()


class _Page(_Part):
    revisions: Annotated[tuple[_Revision, ...], _FEW] = ()


class _Query(_Part):
    badrevids: dict[str, Any] = {}
    pages: Annotated[tuple[_Page, ...], _FEW] = ()


class _Error(_Part):
    """As the API writes it; many a gateway has an `error.code` too, and no `info`."""

    code: str
    info: str


class _Answer(_Part):
    """The part of an answer that is read."""

    error: _Error | None = None
    query: _Query | None = None
    batchcomplete: Any = None


def _refused(rev_id: int, error: _Error) -> Exception:
    code = error.code[:100]
    if meaning_of(error.code) == "later":
        return TryAgainError(f"API error {code}", of_upstream=True)
    message = f"revision {rev_id}: API error {code}: {error.info[:200]}"
    return _failed(error_type_of(error.code) or "upstream_error", message)


def _not_of_the_api() -> TryAgainError:
    return TryAgainError("status 200, and neither a query's answer nor error.code of the API", of_upstream=True)


def _failed(error_type: ErrorType, message: str) -> FetchFailedError:
    return FetchFailedError(Failure(error_type, message))


def _what_is_wrong(error: ValidationError) -> str:
    """The first problem, by place and kind: its value may be a whole page."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"]) or "body"
    return f"{place[:100]}: {first['msg'][:200]}"
