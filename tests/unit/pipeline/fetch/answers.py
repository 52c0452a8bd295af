"""Handlers of the server that the client asks in its tests; each gets a request and its number, from 1."""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web


def answering(*statuses: int, **headers: str) -> Callable[..., Any]:
    """The n-th request gets the n-th status, later ones the last."""

    async def handler(_request: web.Request, number: int) -> web.Response:
        status = statuses[min(number, len(statuses)) - 1]
        return web.Response(status=status, text="<p>", headers=header_fields(headers))

    return handler


def saying(body: str, **headers: str) -> Callable[..., Any]:
    """Status 200 with JSON."""

    async def handler(_request: web.Request, _number: int) -> web.Response:
        return web.Response(text=body, content_type="application/json", headers=header_fields(headers))

    return handler


async def never(_request: web.Request, _number: int) -> web.Response:
    """No answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def never_the_first(request: web.Request, number: int) -> web.Response:
    """No answer to the first request; the others get a page."""
    return await never(request, number) if number == 1 else web.Response(text="<p>")


def header_fields(named: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in named.items()}


def at_once(*rev_ids: int, **given: Any) -> Callable[..., Any]:
    """Steps of a client: one fetch for each revision, all at once."""

    async def steps(client: Any) -> list[Any]:
        return list(await asyncio.gather(*(client.outcome(rev_id, **given) for rev_id in rev_ids)))

    return steps
