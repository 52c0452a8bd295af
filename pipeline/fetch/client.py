"""Fetches the HTML of a revision from MediaWiki's REST API.

A status is tried again only where that can help, and only while the worker's retry budget lasts; a bad revision id is
final. All requests for a record share its deadline. The wiki's host is looked up in configuration: an event chooses a
name from it, never a host.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp

from pipeline.config import PipelineConfig
from pipeline.fetch.body import BodyBrokenError, BodyTooLargeError, read_bounded
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.retry_budget import RetryBudget, Unlimited
from pipeline.records.error_event import Failure

_FINAL = {
    403: "access_denied",
    404: "revision_not_found",
    413: "content_refused_by_upstream",
}
# Statuses below 500 that speak of the moment and not of the revision; from 500 on all do.
_OF_THE_MOMENT = frozenset({408, 425, 429})
# Production's service mesh closes idle connections after 4 s; a request on one that it just closed would fail.
_KEEPALIVE_S = 3.5
USER_AGENT = "enrichment-pipeline/0.1 (html-enrichment)"


class FetchFailedError(Exception):
    """A fetch that did not succeed within the record's deadline; carries the failure for the error event.

    `transient` tells that the same fetch may succeed later: nobody answered in time, or the upstream was unwell.
    """

    def __init__(self, failure: Failure, *, transient: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.transient = transient


@dataclass(frozen=True, slots=True)
class FetchedHtml:
    """A body, and what the response header said of its length (None when it said nothing)."""

    html: str
    content_length: int | None


@dataclass(frozen=True, slots=True)
class _Retry:
    why: str
    after_s: float | None = None


class HtmlClient:
    """One for each Python worker; its connections outlive the micro-batch. `concurrency` is this worker's share."""

    def __init__(
        self,
        config: PipelineConfig,
        *,
        concurrency: int,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        jitter: random.Random,
    ) -> None:
        """`clock` counts seconds and never goes back; `now` is the time of day, in UTC, for dates in `Retry-After`."""
        self._config = config
        self._clock = clock
        self._now = now
        self._jitter = jitter
        self._slots = asyncio.Semaphore(concurrency)
        budget = config.fetch.retry_budget
        self._budget = Unlimited() if budget == "none" else RetryBudget(budget.share, budget.burst)
        self._session = aiohttp.ClientSession(
            base_url=config.mediawiki.endpoint,
            connector=aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=_KEEPALIVE_S),
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip"},
            auto_decompress=False,
            # All wikis answer at one address, and must not get each other's cookies.
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        # Else aiohttp sends a request again by itself when a kept connection turns out closed: `total_requests` would
        # be no total, and its attempts would depend on what else is under way. There is no public switch for it.
        self._session._retry_connection = False  # noqa: SLF001

    async def close(self) -> None:
        await self._session.close()

    def deadline(self, limit_s: float) -> Deadline:
        """A deadline for the record whose requests come next."""
        return Deadline(limit_s, self._clock)

    async def fetch(self, wiki_id: str, rev_id: int, *, request_id: str, deadline: Deadline) -> FetchedHtml:
        """The HTML of a revision. Raises FetchFailedError."""
        host = self._config.mediawiki.wikis.get(wiki_id)
        if host is None:
            raise FetchFailedError(Failure("unknown_wiki", f"wiki {wiki_id[:100]!r} is not in mediawiki.wikis"))
        total = self._config.fetch.total_requests
        kind, last = "deadline_exceeded", _Retry("no answer before the deadline")
        for request in range(1, total + 1):
            try:
                outcome = await self._attempt(host, rev_id, request_id, deadline)
            except TimeoutError:
                break
            if isinstance(outcome, FetchedHtml):
                return outcome
            last = outcome
            if request == 1:
                self._budget.earn()
            if request == total or not self._budget.spend():
                kind = "fetch_failed"
                break
            pause = self._pause(request, outcome.after_s)
            if pause >= deadline.remaining_s():
                break
            await asyncio.sleep(pause)
        raise FetchFailedError(Failure(kind, f"revision {rev_id} of {wiki_id}: {last.why}"), transient=True)

    async def _attempt(self, host: str, rev_id: int, request_id: str, deadline: Deadline) -> FetchedHtml | _Retry:
        """Raises TimeoutError when the deadline passes before there is an answer."""
        if not deadline.has_begun:
            await self._slots.acquire()
            deadline.begin()
        else:
            async with asyncio.timeout(deadline.remaining_s()):
                await self._slots.acquire()
        try:
            remaining_s = deadline.remaining_s()
            async with asyncio.timeout(remaining_s):
                return await self._request(host, rev_id, request_id, remaining_s)
        finally:
            self._slots.release()

    def _pause(self, request: int, retry_after_s: float | None) -> float:
        if retry_after_s is not None:
            return retry_after_s
        # Full jitter: clients that failed together must not come back together.
        return self._jitter.uniform(0, self._config.fetch.backoff.total_seconds() * 2 ** (request - 1))

    async def _request(self, host: str, rev_id: int, request_id: str, remaining_s: float) -> FetchedHtml | _Retry:
        limit_s = self._config.fetch.request_timeout.total_seconds()
        # Two timers for the same moment would race, and an error event must not tell which of them won.
        timeout = aiohttp.ClientTimeout(total=limit_s if limit_s < remaining_s else None)
        try:
            async with self._session.get(
                f"/w/rest.php/v1/revision/{rev_id}/html",
                headers={"Host": host, "X-Request-Id": request_id},
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                if response.status != 200:
                    return self._refused(response, rev_id)
                encoding = response.headers.get("Content-Encoding", "identity").lower()
                body = await read_bounded(response.content, self._config.claim_check.max_bytes, encoding=encoding)
                return FetchedHtml(body.decode(), response.content_length)
        except TimeoutError:
            return _Retry(f"no answer within {limit_s:g} s")
        except (aiohttp.ClientError, BodyBrokenError) as error:
            return _Retry(f"{type(error).__name__}: {error}")
        except BodyTooLargeError as error:
            raise FetchFailedError(Failure("body_too_large", f"revision {rev_id}: {error}")) from error
        except UnicodeDecodeError as error:
            raise FetchFailedError(Failure("invalid_body", f"revision {rev_id}: body is not UTF-8: {error}")) from error

    def _refused(self, response: aiohttp.ClientResponse, rev_id: int) -> _Retry:
        if response.status in self._config.fetch.retried_statuses:
            return _Retry(f"status {response.status}", _retry_after_s(response.headers.get("Retry-After"), self._now))
        status = response.status
        failure = Failure(_FINAL.get(status, "upstream_error"), f"revision {rev_id}: status {status}")
        raise FetchFailedError(failure, transient=status >= 500 or status in _OF_THE_MOMENT)


def _retry_after_s(value: str | None, now: Callable[[], datetime]) -> float | None:
    """Seconds to wait, from either form of the header; None when it is absent or unreadable."""
    if value is None:
        return None
    if value.isascii() and value.strip().isdigit():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
        # "-0000" is UTC too, but comes without a zone.
        return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now()).total_seconds())
    except (ValueError, OverflowError):
        return None
