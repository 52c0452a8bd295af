"""Handlers of the server that the client asks in its tests, each of which gets a request and its number from 1, and
steps of a client.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchFailedError


def answering(*statuses: int, body: str | bytes = "<p>", **headers: str) -> Callable[..., Any]:
    """The n-th request gets the n-th status, later ones the last."""
    sent = body.encode() if isinstance(body, str) else body
    fields = {name.replace("_", "-"): value for name, value in headers.items()}

    async def handler(_request: web.Request, number: int) -> web.Response:
        return web.Response(status=statuses[min(number, len(statuses)) - 1], body=sent, headers=fields)

    return handler


def saying(body: str, status: int = 200, **headers: str) -> Callable[..., Any]:
    """JSON."""
    return answering(status, body=body, Content_Type="application/json", **headers)


def in_turn(*handlers: Callable[..., Any]) -> Callable[..., Any]:
    """The n-th of them answers request n, the last one all later ones."""

    async def handler(request: web.Request, number: int) -> web.StreamResponse:
        response: web.StreamResponse = await handlers[min(number, len(handlers)) - 1](request, number)
        return response

    return handler


async def never(_request: web.Request, _number: int) -> web.Response:
    """No answer."""
    await asyncio.Event().wait()
    raise AssertionError


def at_once(*rev_ids: int, **given: Any) -> Callable[..., Any]:
    """Steps of a client: one fetch for each revision, all at once."""

    async def steps(client: Any) -> list[Any]:
        return list(await asyncio.gather(*(client.outcome(rev_id, **given) for rev_id in rev_ids)))

    return steps


def failing(times: int = 1) -> Callable[..., Any]:
    """Steps of a client: one fetch after the other, each of which fails; their errors are what comes of it."""

    async def steps(client: Any) -> list[Any]:
        errors = []
        for _ in range(times):
            with pytest.raises(FetchFailedError) as raised:
                await client.html.fetch("enwiki", 5, request_id="id", deadline=client.html.deadline(client.limit_s))
            errors.append(raised.value)
        return errors

    return steps
