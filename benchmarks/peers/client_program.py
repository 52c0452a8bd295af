"""What an HTTP client costs: `client_program.py CLIENT ENDPOINT CODING`, where all of them are installed.

Bursts of requests for one page, `AT_ONCE` in flight, kept-alive connections, uvloop; every answer is decoded to the
page's bytes. Prints processor time a request (all threads) of the cheapest burst as JSON: other work on the machine
makes a burst dearer, never cheaper. `raw`, `httptools` and `pycurl` decode gzip with libdeflate; the others have
decoders of their own.
"""

import asyncio
import contextlib
import hashlib
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import uvloop
from client_names import OTHERS, OURS
from fetching import Body, inflate, make

AT_ONCE = 64
BURST = 1_000
BURSTS = 12
PATH = "/w/rest.php/v1/revision/1/html"
_HEADERS = {"X-Request-Id": "3f1c9f66-0b5e-4c62-8a0e-2f6f4e4b8c11:latest", "User-Agent": "bench"}

Fetch = Callable[[], Awaitable[Body]]


@contextlib.asynccontextmanager
async def ours(kind: str, endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    client = make(kind, endpoint, at_once=AT_ONCE, coding=coding)
    await client.open()
    yield lambda: client.fetch(PATH, _HEADERS["X-Request-Id"])
    await client.close()


@contextlib.asynccontextmanager
async def pycurl_multi(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    """Handles in one multi, driven by the loop through libcurl's socket and timer callbacks."""
    import pycurl

    loop, multi, idle, waiting = asyncio.get_running_loop(), pycurl.CurlMulti(), [], {}
    timer: list[asyncio.TimerHandle] = []

    def act(socket: int, what: int) -> None:
        multi.socket_action(socket, what)
        while True:
            left, done, failed = multi.info_read()
            for handle in done:
                waiting.pop(handle).set_result(None)
            for handle, code, message in failed:
                waiting.pop(handle).set_exception(RuntimeError(f"{code} {message}"))
            if not left:
                return

    def on_socket(what: int, socket: int, _multi: object, _data: object) -> None:
        if what == pycurl.POLL_REMOVE or what in (pycurl.POLL_OUT, pycurl.POLL_NONE):
            loop.remove_reader(socket)
        if what in (pycurl.POLL_IN, pycurl.POLL_INOUT):
            loop.add_reader(socket, act, socket, pycurl.CSELECT_IN)
        if what in (pycurl.POLL_OUT, pycurl.POLL_INOUT):
            loop.add_writer(socket, act, socket, pycurl.CSELECT_OUT)
        else:
            loop.remove_writer(socket)

    def on_timer(timeout_ms: int) -> None:
        while timer:
            timer.pop().cancel()
        if timeout_ms >= 0:
            timer.append(loop.call_later(timeout_ms / 1000, act, pycurl.SOCKET_TIMEOUT, 0))

    multi.setopt(pycurl.M_SOCKETFUNCTION, on_socket)
    multi.setopt(pycurl.M_TIMERFUNCTION, on_timer)
    multi.setopt(pycurl.M_MAXCONNECTS, AT_ONCE)
    headers = [f"{name}: {value}" for name, value in {**_HEADERS, "Accept-Encoding": coding}.items()]
    for _ in range(AT_ONCE):
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, endpoint + PATH)
        handle.setopt(pycurl.BUFFERSIZE, 256 * 1024)
        idle.append(handle)

    async def fetch() -> Body:
        handle, parts = idle.pop(), []
        handle.setopt(pycurl.HTTPHEADER, headers)  # the request's id is another each time
        handle.setopt(pycurl.WRITEFUNCTION, parts.append)
        done = waiting[handle] = loop.create_future()
        multi.add_handle(handle)
        await done
        multi.remove_handle(handle)
        idle.append(handle)
        body = b"".join(parts)
        return inflate(body) if coding == "gzip" else body

    yield fetch


@contextlib.asynccontextmanager
async def pyreqwest(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    from pyreqwest.client import ClientBuilder

    builder = ClientBuilder().gzip(coding == "gzip").brotli(False).zstd(False).deflate(False).no_proxy()
    async with builder.http1_only().build() as client:

        async def fetch() -> bytes:
            response = await client.get(endpoint + PATH).headers(_HEADERS).build().send()
            return bytes(await response.bytes())

        yield fetch


@contextlib.asynccontextmanager
async def rnet(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    import rnet as library

    gzip = coding == "gzip"
    client = library.Client(
        gzip=gzip, brotli=False, deflate=False, zstd=False, http1_only=True, no_proxy=True, default_headers=_HEADERS
    )

    async def fetch() -> bytes:
        response = await client.get(endpoint + PATH)
        return await response.bytes()

    yield fetch


@contextlib.asynccontextmanager
async def primp(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    import primp as library

    client = library.AsyncClient(headers={**_HEADERS, "Accept-Encoding": coding})

    async def fetch() -> bytes:
        response = await client.get(endpoint + PATH)
        return await response.aread()

    yield fetch


@contextlib.asynccontextmanager
async def impit(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    import impit as library

    async with library.AsyncClient(headers={**_HEADERS, "Accept-Encoding": coding}) as client:

        async def fetch() -> bytes:
            return (await client.get(endpoint + PATH)).content

        yield fetch


@contextlib.asynccontextmanager
async def curl_cffi(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    from curl_cffi import AsyncSession

    async with AsyncSession(max_clients=AT_ONCE, headers=_HEADERS, trust_env=False) as session:

        async def fetch() -> bytes:
            response = await session.get(endpoint + PATH, accept_encoding=coding, discard_cookies=True)
            return response.content

        yield fetch


@contextlib.asynccontextmanager
async def niquests(endpoint: str, coding: str) -> AsyncIterator[Fetch]:
    import niquests as library

    async with library.AsyncSession(pool_maxsize=AT_ONCE, disable_http2=True, disable_http3=True) as session:
        session.trust_env = False

        async def fetch() -> bytes:
            response = await session.get(endpoint + PATH, headers={**_HEADERS, "Accept-Encoding": coding})
            return response.content

        yield fetch


_OTHERS = dict(zip(OTHERS, (pycurl_multi, pyreqwest, rnet, primp, impit, curl_cffi, niquests), strict=True))


async def measure(which: str, endpoint: str, coding: str) -> dict[str, object]:
    opened = ours(which, endpoint, coding) if which in OURS else _OTHERS[which](endpoint, coding)
    async with opened as fetch:
        body = bytes(await fetch())
        cpu_us, wall_us = [], []
        for _ in range(BURSTS):
            cpu, wall = time.process_time(), time.perf_counter()
            await _burst(fetch, len(body))
            cpu_us.append((time.process_time() - cpu) / BURST * 1e6)
            wall_us.append((time.perf_counter() - wall) / BURST * 1e6)
        await asyncio.sleep(0)
    return {
        "cpu_us": round(min(cpu_us), 1),
        "wall_us": round(min(wall_us), 1),
        "sha256": hashlib.sha256(body).hexdigest(),
    }


async def _burst(fetch: Fetch, length: int) -> None:
    left = iter(range(BURST))

    async def some() -> None:
        for _ in left:
            if len(await fetch()) != length:
                raise RuntimeError("an answer of another length")

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(uvloop.run(measure(*sys.argv[1:4]))))
