"""From a plan to the reply: what the wiki behind the proxy does, and whether anybody still waits for it.

rate limit ── proxy ── queue ── parse ── latency ── render ──> reply
                └── the time is over: 504, while the parse behind goes on
"""

import asyncio
import math
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from starlette.types import Receive

from mockapi.api import status
from mockapi.faults import gateway_timeout
from mockapi.plan import Plan, StatusAnswer
from mockapi.server.disconnect_watch import GivenUp, await_answer
from mockapi.server.reply import Reply
from mockapi.upstream.parser import Parse, QueueFull
from mockapi.upstream.places import ConnectionPlace
from mockapi.upstream.upstream import Upstream

Render = Callable[[], Coroutine[Any, Any, Reply]]


async def answer(
    plan: Plan,
    render: Render,
    *,
    renders: bool,
    client: str,
    upstream: Upstream,
    place: ConnectionPlace | None = None,
    receive: Receive,
    request_id: str,
) -> Reply | None:
    """The reply; None when the client disconnected before there was one.

    `renders` says whether something has to be parsed for it; `client` is whom a rate limit counts,
    and `place` what its connection keeps until the parse has ended.
    """
    refused = _check_rate_limits(plan, upstream, client, request_id)
    if refused is not None:
        return refused
    try:
        parse = _begin_parse(plan, upstream, place) if renders else None
    except QueueFull as full:
        return status.overflow(full.code, request_id)
    if parse is None and plan.latency == timedelta(0) and plan.gateway_timeout is None:
        return await render()
    try:
        reply = await await_answer(_render_when_due(parse, plan.latency, render), receive, within=plan.gateway_timeout)
    finally:
        if parse is not None:
            parse.abandon()
    match reply:
        case GivenUp.CLIENT:
            return None
        case GivenUp.PROXY:
            return status.reply(gateway_timeout.ANSWER, request_id)
        case Reply():
            return reply


def _check_rate_limits(plan: Plan, upstream: Upstream, client: str, request_id: str) -> Reply | None:
    """The 429 of the first bucket that has no token; those before it have lost one, as in a row of proxies."""
    for rule, limit in plan.limits:
        wait_s = upstream.buckets.take(rule, limit, client)
        if wait_s > 0:
            after = timedelta(seconds=math.ceil(wait_s))
            return status.reply(StatusAnswer(code=429, retry_after=after), request_id)
    return None


def _begin_parse(plan: Plan, upstream: Upstream, place: ConnectionPlace | None) -> Parse | None:
    if plan.parse is None and plan.capacity is None:
        return None
    finished = None if place is None else place.parse_ended
    parse = upstream.parser.begin((plan.parse or timedelta(0)).total_seconds(), plan.capacity, finished)
    if place is not None:
        place.parse_begins()
    return parse


async def _render_when_due(parse: Parse | None, latency: timedelta | None, render: Render) -> Reply:
    if parse is not None:
        await parse.over.wait()
    if latency is None:
        await asyncio.Event().wait()
    elif latency:
        await asyncio.sleep(latency.total_seconds())
    return await render()
