"""From a plan to the reply: what the wiki behind the proxy does, and whether anybody still waits for it.

proxy ── queue ── parse ── latency ── render ──> reply
  └── the time is over: 504, while the parse behind goes on
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from starlette.types import Receive

from mockapi.faults import gateway_timeout, status
from mockapi.faults.plan import Plan
from mockapi.patience import GivenUp, while_awaited
from mockapi.reply import Reply
from mockapi.upstream.parser import Parser
from mockapi.upstream.pool import Parse, QueueFull

Render = Callable[[], Coroutine[Any, Any, Reply]]


async def answer(
    plan: Plan, render: Render, *, renders: bool, parser: Parser, receive: Receive, request_id: str
) -> Reply | None:
    """The reply; None when the client left before there was one. `renders` is whether `render` needs the parser."""
    try:
        parse = _begin(plan, parser) if renders else None
    except QueueFull as full:
        return status.overflow(full.code, request_id)
    if parse is None and not plan.latency and plan.gateway_timeout is None:
        return await render()
    try:
        reply = await while_awaited(_behind(parse, plan.latency, render), receive, within=plan.gateway_timeout)
    finally:
        if parse is not None:
            parse.leave()
    match reply:
        case GivenUp.CLIENT:
            return None
        case GivenUp.PROXY:
            return status.reply(gateway_timeout.ANSWER, revision="", request_id=request_id)
        case Reply():
            return reply


def _begin(plan: Plan, parser: Parser) -> Parse | None:
    if plan.parse is None and plan.capacity is None:
        return None
    return parser.begin((plan.parse or timedelta(0)).total_seconds(), plan.capacity)


async def _behind(parse: Parse | None, latency: timedelta, render: Render) -> Reply:
    if parse is not None:
        await parse.over.wait()
    if latency:
        await asyncio.sleep(latency.total_seconds())
    return await render()
