import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.breakers import Breakers
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.route import HTML, Route
from pipeline.records.error_event import Failure
from tests.unit.pipeline.making import make_config

NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)
REQUEST_ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a:latest"
Handler = Callable[[web.Request, int], Awaitable[web.StreamResponse]]
Outcome = FetchedText | Failure


_WORDS = '{"errorKey":"rest-of-the-test","messageTranslations":{"en":"of the test"}}'
_OF_A_REVISION = re.compile(r"/w/rest\.php/v1/revision/([0-9]+)/html")


class CountingJitter(random.Random):
    """No pause, and how often and between which bounds one was asked for."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked: list[tuple[float, float]] = []

    def uniform(self, a: float, b: float) -> float:
        self.asked.append((a, b))
        return 0.0


@dataclass
class Exchange:
    """What came of it, on both sides of the wire."""

    outcomes: list[Outcome]
    requests: list[web.BaseRequest]
    jitter: CountingJitter

    @property
    def outcome(self) -> Outcome:
        (only,) = self.outcomes
        return only

    @property
    def html(self) -> FetchedText:
        assert isinstance(self.outcome, FetchedText), self.outcome
        return self.outcome

    @property
    def failure(self) -> Failure:
        assert isinstance(self.outcome, Failure), self.outcome
        return self.outcome


@dataclass
class Client:
    """The client under test, its clock and its jitter."""

    html: WikiClient
    jitter: CountingJitter = field(default_factory=CountingJitter)
    limit_s: float = 60

    async def outcome(
        self,
        rev_id: int = 5,
        *,
        wiki: str = "enwiki",
        request_id: str = REQUEST_ID,
        deadline: Deadline | None = None,
        route: Route = HTML,
        compressed: bool = False,
    ) -> Outcome:
        deadline = deadline or self.html.deadline(self.limit_s)
        try:
            return await self.html.fetch(
                wiki, rev_id, request_id=request_id, deadline=deadline, route=route, compressed=compressed
            )
        except FetchFailedError as error:
            return error.failure


Steps = Callable[[Client], Coroutine[Any, Any, list[Outcome]]]
WithClient = Callable[..., Coroutine[Any, Any, list[Outcome]]]
Fetching = Callable[..., Exchange]


async def one(client: Client) -> list[Outcome]:
    return [await client.outcome()]


@pytest.fixture
def with_client() -> WithClient:
    """Runs steps with a client for an endpoint."""

    async def run(
        endpoint: str,
        steps: Steps,
        *,
        jitter: CountingJitter,
        clock: Callable[[], float] = time.monotonic,
        concurrency: int = 8,
        **sections: Any,
    ) -> list[Outcome]:
        """`fetch.deadline` is that of each record. There are breakers when their section is given."""
        own = {
            "mediawiki": {**sections.get("mediawiki", {}), "endpoint": endpoint},
            "fetch": {**sections.get("fetch", {}), "concurrency": concurrency},
        }
        config = make_config(**sections | own)
        breakers = Breakers(config.breaker if "breaker" in sections else None, clock)
        html = WikiClient(config, clock=clock, now=lambda: NOW, jitter=jitter, breakers=breakers)
        try:
            async with asyncio.timeout(20):
                return await steps(Client(html, jitter, config.fetch.deadline.total_seconds()))
        finally:
            await html.close()

    return run


@pytest.fixture
def fetch_once(with_client: WithClient) -> Callable[..., Exchange]:
    """One fetch from an address at which there need not be a server."""

    def go(endpoint: str, **kwargs: Any) -> Exchange:
        jitter = CountingJitter()
        return Exchange(asyncio.run(with_client(endpoint, one, jitter=jitter, **kwargs)), [], jitter)

    return go


@pytest.fixture
def fetching(with_client: WithClient) -> Fetching:
    """Fetches from a real server on loopback that answers with `handler(request, number of the request from 1)`.

    What makes an answer MediaWiki's is added to it, unless the server is a `proxy`.
    """

    def go(
        handler: Handler, steps: Steps = one, *, host: str = "127.0.0.1", proxy: bool = False, **kwargs: Any
    ) -> Exchange:
        requests: list[web.BaseRequest] = []

        async def answer(request: web.Request) -> web.StreamResponse:
            requests.append(request)
            response = await handler(request, len(requests))
            if not proxy and 400 <= response.status < 500 and isinstance(response, web.Response):
                response.text = _WORDS
            return response

        async def head(request: web.Request, response: web.StreamResponse) -> None:
            revision = _OF_A_REVISION.fullmatch(request.path)
            if proxy or revision is None or response.status != 200:
                return
            response.headers["Content-Revision-Id"] = revision[1]
            if not response.headers.get("Content-Type", "").startswith("text/html"):
                response.headers["Content-Type"] = "text/html; charset=utf-8"

        async def run() -> list[Outcome]:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", answer)
            app.on_response_prepare.append(head)
            # A handler that would never answer ends when its client is gone.
            runner = web.AppRunner(app, handler_cancellation=True)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                port = runner.addresses[0][1]
                return await with_client(f"http://{host}:{port}", steps, jitter=jitter, **kwargs)
            finally:
                await runner.cleanup()

        jitter = CountingJitter()
        return Exchange(asyncio.run(run()), requests, jitter)

    return go


@pytest.fixture
def fetching_bytes(with_client: WithClient) -> Callable[..., tuple[Exchange, int]]:
    """Fetches from a server that sends the n-th bytes for request n, later ones the last; also counts the requests.

    None closes without an answer, and so does every answer unless the connection is to be kept open.
    """

    def go(*answers: bytes | None, steps: Steps = one, keep_open: bool = False, **kwargs: Any) -> tuple[Exchange, int]:
        seen = 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal seen
            try:
                while True:
                    await reader.readuntil(b"\r\n\r\n")
                    seen += 1
                    answer = answers[min(seen, len(answers)) - 1]
                    if answer is None:
                        return
                    writer.write(answer)
                    await writer.drain()
                    if not keep_open:
                        return
            except (asyncio.IncompleteReadError, ConnectionError):
                return  # the client has closed
            finally:
                writer.close()

        async def run() -> list[Outcome]:
            async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
                port = server.sockets[0].getsockname()[1]
                return await with_client(f"http://127.0.0.1:{port}", steps, jitter=jitter, **kwargs)

        jitter = CountingJitter()
        return Exchange(asyncio.run(run()), [], jitter), seen

    return go
