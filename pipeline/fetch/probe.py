"""One request, to find out whether a wiki answers again; what it answers with is thrown away.

It is one that a worker made and that failed, so it asks for what the wiki could not do. It is judged as the main lane
would judge it: a wiki that is too slow for that, or breaks its bodies off, would be opened again by the next batch.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.body import BodyBrokenError, BodyTooLargeError, pieces
from pipeline.fetch.breaker import Answer
from pipeline.fetch.client import FetchFailedError, common_headers
from pipeline.fetch.header_fields import content_coding, retry_after_s
from pipeline.fetch.response import describe_outage, describe_status, head_of, is_transient, read_error_code
from pipeline.fetch.route import Ask, Head, TryAgainError
from pipeline.fetch.wiki_hosts import WikiHosts

_LOOK_S = 0.1


def _utc() -> datetime:
    return datetime.now(UTC)


def limit(config: PipelineConfig) -> timedelta:
    """How long a probe may take: the least of what bounds a request of the main lane."""
    return min(config.fetch.request_timeout, config.fetch.deadline, config.deferral.inline_allowance)


def probe(
    config: PipelineConfig,
    hosts: WikiHosts,
    wiki_id: str,
    ask: Ask,
    stopped: Callable[[], bool],
    *,
    now: Callable[[], datetime] = _utc,
) -> Answer | None:
    """How the wiki answered, its body to the end, within the time that a request of the main lane has at most; None as
    soon as it is `stopped`.

    Any answer of MediaWiki's is a good one that is not its failure and does not ask to come later; a body that is
    larger than one may be, too.
    """
    return asyncio.run(_unless(stopped, _request(config, hosts, wiki_id, ask, now)))


async def _unless(stopped: Callable[[], bool], request: Coroutine[Any, Any, Answer]) -> Answer | None:
    task = asyncio.create_task(request)
    while not task.done():
        if stopped():
            task.cancel()
            await asyncio.wait([task])
            return None
        await asyncio.wait([task], timeout=_LOOK_S)
    return task.result()


async def _request(
    config: PipelineConfig, hosts: WikiHosts, wiki_id: str, ask: Ask, now: Callable[[], datetime]
) -> Answer:
    limit_s = limit(config).total_seconds()
    headers = {"Host": hosts.host_of(wiki_id) or "", "X-Request-Id": ask.request_id}
    try:
        async with (
            aiohttp.ClientSession(
                base_url=config.mediawiki.endpoint,
                headers=common_headers(config),
                timeout=aiohttp.ClientTimeout(total=limit_s),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            ) as session,
            session.get(ask.path, headers=headers, allow_redirects=False) as response,
        ):
            after_s = retry_after_s(response.headers, now)
            failed = is_transient(response.status) or after_s is not None
            description = describe_status(response)
            outage = None
            if response.status == 200:
                outage = _reported_outage(ask, head_of(response, hosts, wiki_id), await _body(response, config))
            elif not failed and ask.route is not None:
                outage = describe_outage(await read_error_code(response, ask.route))
            return Answer(
                failed or outage is not None, description if outage is None else f"{description}, {outage}", after_s
            )
    except TimeoutError:
        return Answer(failed=True, why=f"no answer within {limit_s:g} s")
    except (aiohttp.ClientError, BodyBrokenError) as error:
        return Answer(failed=True, why=f"{type(error).__name__}: {error}")


async def _body(response: aiohttp.ClientResponse, config: PipelineConfig) -> bytes | None:
    """The body, read to its end; None when the main lane would not have kept it in memory. Raises as `pieces` does."""
    body = bytearray()
    length = 0
    encoding = content_coding(response.headers)
    with contextlib.suppress(BodyTooLargeError):
        async for piece in pieces(response.content, config.claim_check.max_bytes, encoding=encoding):
            length += len(piece)
            if length <= config.fetch.inline_limit:
                body += piece
    return bytes(body) if length <= config.fetch.inline_limit else None


def _reported_outage(ask: Ask, head: Head, body: bytes | None) -> str | None:
    """The reason that a body gives for an unhealthy upstream, or that it is not the upstream's."""
    if ask.route is None or body is None:
        return None
    try:
        ask.route.read(ask.rev_id, head, body.decode(errors="replace"))
    except TryAgainError as error:
        return str(error) if error.of_upstream else None
    except FetchFailedError:
        return None
    return None
