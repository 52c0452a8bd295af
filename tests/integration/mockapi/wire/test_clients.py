"""What clients make of a fault of the body: each reads the page as it is, or says that the answer is broken."""

import asyncio
import http.client
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
import requests

from tests.integration.mockapi.wire.raw import PAGE

ROOMS = ("mockapi/faults", "mockapi/server")
TIMEOUT_S = 3  # aiohttp waits for it after a broken chunk that comes in a packet of its own
BROKEN = (
    requests.RequestException,
    aiohttp.ClientError,
    http.client.HTTPException,
    TimeoutError,
    ValueError,  # aiohttp's own for what follows a broken chunk
)


def by_standard_library(url: str) -> bytes:
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=TIMEOUT_S)
    try:
        connection.request("GET", PAGE)
        return connection.getresponse().read()
    finally:
        connection.close()


def by_requests(url: str) -> bytes:
    return requests.get(url, timeout=TIMEOUT_S).content


def by_aiohttp(url: str) -> bytes:
    async def read() -> bytes:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as response:
            return await response.read()

    return asyncio.run(read())


@pytest.mark.parametrize("read", [by_standard_library, by_requests, by_aiohttp])
@pytest.mark.parametrize(
    ("do", "is_broken"),
    [
        ({"latency_before_body": "1ms"}, False),
        ({"malformed_chunk": "not hex"}, True),
        ({"truncate": {"after": "50%", "length": "promised"}}, True),
        ({"reset": {"at": "in body", "after": "1KiB"}}, True),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "broken" if value else "whole",
)
def test_a_client_reads_the_whole_page_or_says_that_it_is_broken(
    mock: Any, read: Callable[[str], bytes], do: dict[str, Any], is_broken: bool
) -> None:
    whole = mock.ask(PAGE).body
    mock.rules({"name": "fault", "do": do})
    try:
        body = read(f"http://127.0.0.1:{mock.port}{PAGE}")
    except (*BROKEN, ConnectionError):
        assert is_broken
    else:
        assert (body, is_broken) == (whole, False)


@pytest.mark.parametrize("read", [by_requests, by_aiohttp])
def test_an_encoding_that_the_body_does_not_have_is_broken_for_who_decodes(
    mock: Any, read: Callable[[str], bytes]
) -> None:
    mock.rules({"name": "fault", "do": {"content_encoding": "gzip"}})
    with pytest.raises(BROKEN):
        read(f"http://127.0.0.1:{mock.port}{PAGE}")
