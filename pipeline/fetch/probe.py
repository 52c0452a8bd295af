"""One request, to find out whether a wiki answers again; what it answers with is thrown away.

It is one that a worker made and that failed, so it asks for what the wiki could not do; its body is not read.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import aiohttp

from pipeline.config import PipelineConfig
from pipeline.fetch.answers import retry_after_s, speaks_of_the_moment
from pipeline.fetch.breaker import Answer, Ask
from pipeline.fetch.client import common_headers

_LOOK_S = 0.1


def _utc() -> datetime:
    return datetime.now(UTC)


def probe(
    config: PipelineConfig, wiki_id: str, ask: Ask, stopped: Callable[[], bool], *, now: Callable[[], datetime] = _utc
) -> Answer | None:
    """How the wiki answered, within `fetch.request_timeout`; None as soon as it is `stopped`.

    Any answer is a good one that is not the upstream's failure and does not ask to come later.
    """
    return asyncio.run(_unless(stopped, _request(config, wiki_id, ask, now)))


async def _unless(stopped: Callable[[], bool], request: Coroutine[Any, Any, Answer]) -> Answer | None:
    task = asyncio.create_task(request)
    while not task.done():
        if stopped():
            task.cancel()
            await asyncio.wait([task])
            return None
        await asyncio.wait([task], timeout=_LOOK_S)
    return task.result()


async def _request(config: PipelineConfig, wiki_id: str, ask: Ask, now: Callable[[], datetime]) -> Answer:
    limit_s = config.fetch.request_timeout.total_seconds()
    own = {"Host": config.mediawiki.wikis[wiki_id], "X-Request-Id": ask.request_id}
    try:
        async with (
            aiohttp.ClientSession(
                base_url=config.mediawiki.endpoint,
                headers=common_headers(config),
                timeout=aiohttp.ClientTimeout(total=limit_s),
                cookie_jar=aiohttp.DummyCookieJar(),
            ) as session,
            session.get(ask.path, headers=own, allow_redirects=False) as response,
        ):
            after_s = retry_after_s(response.headers.get("Retry-After"), now)
            failed = speaks_of_the_moment(response.status) or after_s is not None
            return Answer(failed, f"status {response.status}", after_s)
    except TimeoutError:
        return Answer(failed=True, why=f"no answer within {limit_s:g} s")
    except aiohttp.ClientError as error:
        return Answer(failed=True, why=f"{type(error).__name__}: {error}")
