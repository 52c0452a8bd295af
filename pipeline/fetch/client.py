"""Fetches the content of a revision from MediaWiki, by the route of the job that asks.

A status is tried again only where that can help, and only while the worker's retry budget lasts; a bad revision id is
final when MediaWiki itself says so, and an outage when a proxy does. All requests for a record share its deadline. The
wiki's host is looked up in configuration: an event chooses a name from it, never a host.
"""

import asyncio
import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import aiohttp

from pipeline import log
from pipeline.config.fetch_section import Fetch
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.api_errors import error_type_of
from pipeline.fetch.body import GZIP, BodyBrokenError, BodyTooLargeError, pieces
from pipeline.fetch.breaker import Answer
from pipeline.fetch.breakers import BreakerOpenError, Breakers, Permit
from pipeline.fetch.connection import OneAnswerConnector
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.header_fields import content_coding, retry_after_s
from pipeline.fetch.in_flight import Holding, InFlightBytes
from pipeline.fetch.response import describe_outage, describe_status, head_of, is_transient, read_error_code
from pipeline.fetch.retry_budget import RetryBudget, Unlimited
from pipeline.fetch.route import HTML, Ask, Head, Route, TryAgainError
from pipeline.fetch.sent_body import SentBody
from pipeline.fetch.spool import Spool
from pipeline.fetch.wiki_hosts import WikiHosts
from pipeline.metrics.catalogue import RESPONSES, RETRIES
from pipeline.metrics.worker_metrics import RECORDER, measured_request
from pipeline.records.error_event import Failure
from pipeline.records.error_types import ErrorType

_UNKNOWN: ErrorType = "revision_not_found"
_FINAL: Mapping[int, ErrorType] = {
    403: "access_denied",
    404: _UNKNOWN,
    413: "content_refused_by_upstream",
}
# Production's service mesh closes idle connections after 4 s; a request on one that it just closed would fail.
_KEEPALIVE_S = 3.5
USER_AGENT = "enrichment-pipeline/0.1"
_LIBRARY = f"aiohttp/{aiohttp.__version__}"


class UnknownWikiError(Exception):
    """An event's wiki is not in the table, and `mediawiki.unknown_wiki` says that the job ends then."""


class FetchFailedError(Exception):
    """A fetch that did not succeed within the record's deadline; carries the failure for the error event.

    `transient`: the same fetch may succeed later, as there was no answer in time, or the upstream was unhealthy.
    `retry_after_s` is how long it asked to get no requests. Not `tried`: no request was made for the record, or the
    breaker of its wiki or of the endpoint was not closed when it failed, so that the try does not count. `wiki_id` is
    the wiki that was asked, where the client knows it. `in_hand` is what the job had fetched of the record by then.
    """

    def __init__(
        self,
        failure: Failure,
        *,
        transient: bool = False,
        retry_after_s: float | None = None,
        tried: bool = True,
        wiki_id: str | None = None,
    ) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.transient = transient
        self.retry_after_s = retry_after_s
        self.tried = tried
        self.wiki_id = wiki_id
        self.in_hand: Any = None

    def as_transient(self) -> "FetchFailedError":
        """The same failure, for one whose fetch may succeed later after all."""
        return FetchFailedError(self.failure, transient=True, retry_after_s=self.retry_after_s, wiki_id=self.wiki_id)


def decisive_failure(outcomes: Iterable[object]) -> BaseException | None:
    """Of the fetches of one event the failure that counts: a final one before a transient one, else the first. None
    where none failed. So it does not depend on which answer came first.
    """
    failures = (outcome for outcome in outcomes if isinstance(outcome, BaseException))
    return min(failures, key=lambda failure: isinstance(failure, FetchFailedError) and failure.transient, default=None)


@dataclass(frozen=True, slots=True)
class FetchedText:
    """The text that the route read in the body, and the length in the response's header (None without one).

    `body` is the text in UTF-8 if that is how it arrived, `compressed` the same in gzip if that was asked for and is
    how it arrived.
    """

    text: str
    content_length: int | None
    body: bytes | bytearray | None = field(default=None, compare=False, repr=False)
    compressed: bytes | bytearray | None = field(default=None, compare=False, repr=False)

    @property
    def utf8(self) -> bytes | bytearray:
        """The text in UTF-8, without a copy where it came so."""
        return self.text.encode() if self.body is None else self.body


@dataclass(frozen=True, slots=True)
class _Asked:
    """One fetch: the same for all its requests."""

    wiki_id: str
    host: str
    rev_id: int
    request_id: str
    deadline: Deadline
    route: Route
    path: str
    holding: Holding
    compressed: bool


@dataclass(frozen=True, slots=True)
class _Retry:
    why: str
    after_s: float | None = None
    of_upstream: bool = True


@dataclass(frozen=True, slots=True)
class _Answer:
    """A whole body, not yet read by the route, and its headers."""

    body: Spool
    head: Head
    content_length: int | None
    retry_after_s: float | None


class WikiClient:
    """One for each lane of a Python worker, with its share of the bounds; its connections outlive the micro-batch."""

    def __init__(
        self,
        config: PipelineConfig,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        jitter: random.Random,
        in_flight: InFlightBytes | None = None,
        breakers: Breakers | None = None,
    ) -> None:
        """`clock` counts seconds and never goes back; `now` is the time of day, in UTC, for dates in `Retry-After`.

        `in_flight` bounds the bytes of the records within which fetches are made; by default each fetch ends what it
        holds. `breakers` say which wikis are not asked; by default all are.
        """
        self._config = config
        self._clock = clock
        self._now = now
        self._jitter = jitter
        self._hosts = WikiHosts(config.mediawiki, emit=log.emit)
        self._slots = asyncio.Semaphore(config.fetch.concurrency)
        self._request_timeout_s = config.fetch.request_timeout.total_seconds()
        self._in_flight = in_flight or InFlightBytes(config.fetch.in_flight_bound)
        self._breakers = breakers or Breakers(None)
        budget = config.fetch.retry_budget
        self._budget = Unlimited() if budget == "none" else RetryBudget(budget.share, budget.burst)
        self._session = aiohttp.ClientSession(
            base_url=config.mediawiki.endpoint,
            connector=_connector(config.fetch),
            headers=common_headers(config),
            auto_decompress=False,
            # All wikis answer at one address, and must not get each other's cookies.
            cookie_jar=aiohttp.DummyCookieJar(),
            # Each request has a timer of ours.
            timeout=aiohttp.ClientTimeout(total=None),
        )
        # Else aiohttp sends a request again by itself when a kept connection turns out closed: `total_requests` would
        # be no total, and its attempts would depend on what else is under way. There is no public switch for it.
        self._session._retry_connection = False  # noqa: SLF001

    async def close(self) -> None:
        """To be awaited in the event loop in which the client was made."""
        await self._session.close()

    def deadline(self, limit_s: float) -> Deadline:
        """A deadline for the record whose requests come next."""
        return Deadline(limit_s, self._clock)

    async def fetch(
        self,
        wiki_id: str,
        rev_id: int,
        *,
        request_id: str,
        deadline: Deadline,
        route: Route = HTML,
        compressed: bool = False,
    ) -> FetchedText:
        """The text that `route` reads of a revision: its HTML unless another is given; `compressed` too where it comes
        so and there is room. Raises FetchFailedError.
        """
        host = self._hosts.host_of(wiki_id)
        if host is None:
            text = f"wiki {wiki_id[:100]!r} is not in mediawiki.wikis"
            if self._config.mediawiki.unknown_wiki == "stop":
                raise UnknownWikiError(text)
            raise FetchFailedError(Failure("unknown_wiki", text))
        with self._in_flight.joined() as holding:
            request = _Asked(
                wiki_id, host, rev_id, request_id, deadline, route, route.path(rev_id), holding, compressed
            )
            try:
                return await self._fetch_until_known(request)
            except FetchFailedError as error:
                error.wiki_id = wiki_id
                error.tried = error.tried and not (error.transient and not self._breakers.is_closed(wiki_id))
                raise

    def hold(self, count: int) -> bool:
        """Whether the record at work may hold `count` bytes more in memory, which were not fetched."""
        with self._in_flight.joined() as holding:
            return holding.take(count)

    async def _fetch_until_known(self, call: _Asked) -> FetchedText:
        """The result of all tries. With `fetch.retry_unknown` they begin again while the revision is unknown and the
        deadline allows.
        """
        policy = self._config.fetch.retry_unknown
        if policy is None:
            return await self._tries(call)
        every_s = policy.every.total_seconds()
        for _ in range(policy.total_requests - 1):
            try:
                return await self._tries(call)
            except FetchFailedError as error:
                is_unknown = error.failure.error_type == _UNKNOWN and not error.transient
                if not is_unknown or every_s >= call.deadline.remaining_s():
                    raise
            await asyncio.sleep(every_s)
            RECORDER.count(RETRIES)
        return await self._tries(call)

    async def _tries(self, call: _Asked) -> FetchedText:
        total = self._config.fetch.total_requests
        kind: ErrorType = "deadline_exceeded"
        last = _Retry("no answer before the deadline")
        after_s: float | None = None
        self._budget.earn()
        for request in range(1, total + 1):
            try:
                outcome = await self._attempt(call)
            except TimeoutError:
                after_s = None
                break
            except BreakerOpenError as error:
                if not call.deadline.has_begun:
                    failure = Failure("breaker_open", str(error))
                    raise FetchFailedError(failure, transient=True, tried=False) from error
                kind = "fetch_failed"
                break
            if isinstance(outcome, FetchedText):
                return outcome
            last, after_s = outcome, outcome.after_s
            if request == total or not self._budget.spend():
                kind = "fetch_failed"
                break
            pause = self._pause(request, outcome.after_s)
            if pause >= call.deadline.remaining_s():
                break
            await asyncio.sleep(pause)
            RECORDER.count(RETRIES)
        failure = Failure(kind, f"revision {call.rev_id} of {call.wiki_id}: {last.why}")
        raise FetchFailedError(failure, transient=True, retry_after_s=after_s)

    async def _attempt(self, call: _Asked) -> FetchedText | _Retry:
        """Sends one request; the route reads its response.

        Raises TimeoutError when the deadline passes first, BreakerOpenError and FetchFailedError.
        """
        deadline = call.deadline
        if not deadline.has_begun:
            await call.holding.may_begin()
            permit = await self._turn(call)
            deadline.begin()
        else:
            async with asyncio.timeout(deadline.remaining_s()):
                permit = await self._turn(call)
        outcome: FetchedText | _Answer | _Retry
        judged: Answer | None = None
        try:
            outcome = await self._answer(call)
            judged = _of_upstream(outcome)
            if isinstance(outcome, _Answer) and outcome.body.at_hand:
                # Here nothing waits. An outage that a body tells of takes few bytes, so it is among these.
                outcome = await self._read(call, outcome)
                if isinstance(outcome, _Retry) and outcome.of_upstream:
                    judged = _of_upstream(outcome)
        except BaseException as error:
            judged = judged or _of_upstream(error)
            raise
        finally:
            self._breakers.end(call.wiki_id, permit, judged)
        # That memory has no room says nothing of the upstream: it has been judged by then.
        return await self._read(call, outcome) if isinstance(outcome, _Answer) else outcome

    async def _answer(self, call: _Asked) -> _Answer | _Retry:
        """Sends one request, whose slot is free again on return. Raises as `_attempt` does."""
        inline_limit = self._config.fetch.inline_limit
        body = Spool(call.holding, inline_limit, sent=SentBody(call.holding, inline_limit) if call.compressed else None)
        try:
            answer = await self._request(call, body)
        except BaseException:
            body.discard()
            raise
        finally:
            self._slots.release()
        if isinstance(answer, _Retry):
            body.discard()
        return answer

    async def _turn(self, call: _Asked) -> Permit:
        """Permission for a request, and a slot, which has to be released. Raises BreakerOpenError."""
        while True:
            # Without a slot, as it may have to wait for the trials of others.
            await self._breakers.acquire_permission(call.wiki_id)
            await self._slots.acquire()
            ask = Ask(call.path, call.request_id, call.rev_id, call.route, call.wiki_id)
            permit = self._breakers.begin(call.wiki_id, ask)
            if permit is not None:
                return permit
            self._slots.release()

    def _pause(self, request: int, retry_after_s: float | None) -> float:
        # Full jitter: clients that failed together must not come back together, nor those that got the same
        # `Retry-After`.
        return (retry_after_s or 0.0) + self._jitter.uniform(
            0, self._config.fetch.backoff.total_seconds() * 2 ** (request - 1)
        )

    @measured_request(failed=_Retry)
    async def _request(self, call: _Asked, body: Spool) -> _Answer | _Retry:
        limit_s, remaining_s = self._request_timeout_s, call.deadline.remaining_s()
        try:
            # One timer: two for the same moment would race, and an error event must not tell which of them won.
            async with (
                asyncio.timeout(min(limit_s, remaining_s)),
                self._session.get(
                    call.path,
                    headers={"Host": call.host, "X-Request-Id": call.request_id},
                    allow_redirects=False,
                ) as response,
            ):
                RECORDER.count(RESPONSES, str(response.status))
                if response.status != 200:
                    return await self._refused(response, call)
                encoding, limit_bytes = content_coding(response.headers), self._limit_bytes(response)
                sent = body.write_sent if encoding in GZIP else None
                async for piece in pieces(response.content, limit_bytes, encoding=encoding, sent=sent):
                    body.write(piece)
                return _Answer(
                    body,
                    head_of(response, self._hosts, call.wiki_id),
                    response.content_length,
                    self._retry_after_s(response),
                )
        except TimeoutError:
            if remaining_s <= limit_s:
                raise
            return _Retry(f"no answer within {limit_s:g} s")
        except (aiohttp.ClientError, BodyBrokenError) as error:
            return _Retry(f"{type(error).__name__}: {error}")
        except BodyTooLargeError as error:
            raise FetchFailedError(Failure("body_too_large", f"revision {call.rev_id}: {error}")) from error

    def _limit_bytes(self, response: aiohttp.ClientResponse) -> float:
        """How much is read of a body, decompressed. Raises BodyTooLargeError where the header is what counts."""
        limit, declared = self._config.claim_check.max_bytes, response.content_length
        if self._config.fetch.body_limit == "decoded":
            return limit
        if declared is not None and declared > limit:
            raise BodyTooLargeError(f"Content-Length is {declared}, more than {limit}")
        return math.inf

    async def _read(self, call: _Asked, answer: _Answer) -> FetchedText | _Retry:
        """Reads a body with the route. It waits for memory after its slot is free again, and outside of any deadline,
        as the upstream has done its part.
        """
        try:
            content = await answer.body.whole()
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                call.route.read(call.rev_id, answer.head, content.decode(errors="replace"))  # it may be a proxy's
                message = f"revision {call.rev_id}: body is not UTF-8: {error}"
                raise FetchFailedError(Failure("invalid_body", message)) from error
            read = call.route.read(call.rev_id, answer.head, text)
            if read is not text:
                return FetchedText(read, answer.content_length)
            return FetchedText(read, answer.content_length, content, answer.body.sent)
        except BaseException as error:
            answer.body.discard()
            if isinstance(error, TryAgainError):
                return _Retry(str(error), answer.retry_after_s, error.of_upstream)
            raise

    async def _refused(self, response: aiohttp.ClientResponse, call: _Asked) -> _Retry:
        status, description, after_s = response.status, describe_status(response), self._retry_after_s(response)
        of_upstream = is_transient(status)
        error_type = None
        if not of_upstream:
            code = await read_error_code(response, call.route)
            if (outage := describe_outage(code)) is not None:
                return _Retry(f"{description} {outage}", after_s)
            error_type = error_type_of(code or "")
        if status in self._config.fetch.retried_statuses:
            return _Retry(description, after_s, of_upstream)
        failure = Failure(error_type or _FINAL.get(status, "upstream_error"), f"revision {call.rev_id}: {description}")
        raise FetchFailedError(failure, transient=of_upstream, retry_after_s=after_s)

    def _retry_after_s(self, response: aiohttp.ClientResponse) -> float | None:
        return retry_after_s(response.headers, self._now)


def _connector(settings: Fetch) -> OneAnswerConnector:
    """To be called in the event loop in which it is used."""
    if settings.connections == "per_request":
        return OneAnswerConnector(limit=settings.concurrency, force_close=True)
    return OneAnswerConnector(limit=settings.concurrency, keepalive_timeout=_KEEPALIVE_S)


def common_headers(config: PipelineConfig) -> dict[str, str]:
    """Headers of every request, a probe's too."""
    contact = config.mediawiki.contact
    agent = f"{USER_AGENT} ({config.job})" if contact is None else f"{USER_AGENT} ({contact}; {config.job}) {_LIBRARY}"
    return {"User-Agent": agent, "Accept-Encoding": "gzip"}


def _of_upstream(outcome: _Answer | _Retry | BaseException) -> Answer | None:
    """The upstream's answer for its breaker; None when the request says nothing about it."""
    match outcome:
        case _Answer(retry_after_s=None):
            return Answer(failed=False)
        case _Answer(retry_after_s=after_s):
            return Answer(failed=True, why="answer that asks to come later", retry_after_s=after_s)
        case _Retry(why, after_s, of_upstream):
            return Answer(of_upstream, why, after_s)
        case FetchFailedError():
            return Answer(outcome.transient, outcome.failure.message, outcome.retry_after_s)
        case TimeoutError():
            return Answer(failed=True, why="no answer before the deadline")
        case _:
            return None
