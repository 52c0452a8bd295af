import gzip
import socket
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import USER_AGENT, FetchedText, UnknownWikiError
from tests.unit.pipeline.fetch.answers import at_once

HTML = "<p>ä</p>\n" * 5000
GZIP = "Content-Encoding: gzip"
OF_REVISION_5 = ("Content-Type: text/html", "Content-Revision-Id: 5")
LIMIT = {"claim_check": {"max_bytes": "1MiB"}}


async def ok(_request: web.Request, _number: int) -> web.Response:
    return web.Response(text="<p>", content_type="text/html")


def always(**response: Any) -> Callable[..., Any]:
    async def handler(_request: web.Request, _number: int) -> web.Response:
        return web.Response(**response)

    return handler


def compressed(body: bytes) -> Callable[..., Any]:
    return always(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})


def raw(status: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("utf-8", "surrogateescape") + body


def test_what_is_sent(fetching: Any) -> None:
    wikis = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
    steps = at_once(28674, wiki="dewiki", request_id="event:parent")
    exchange = fetching(ok, steps, mediawiki={"wikis": wikis})
    (request,) = exchange.requests
    assert request.method == "GET"
    assert request.rel_url.raw_path_qs == "/w/rest.php/v1/revision/28674/html"
    assert request.headers.getall("Host") == ["de.wikipedia.org"]
    assert request.headers.getall("X-Request-Id") == ["event:parent"]
    assert request.headers["User-Agent"] == f"{USER_AGENT} (html-enrichment)"
    assert request.headers["Accept-Encoding"] == "gzip"


def test_the_user_agent_says_who_runs_the_job(fetching: Any) -> None:
    (request,) = fetching(ok, mediawiki={"contact": "ops@example.org"}).requests
    assert request.headers["User-Agent"].startswith(f"{USER_AGENT} (ops@example.org; html-enrichment) aiohttp/3.")


def test_a_wiki_that_is_not_configured_is_never_asked_for(fetching: Any) -> None:
    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(wiki=wiki) for wiki in ("evil.example.org", "enwiki\r\nX: y", "x" * 10_000)]

    exchange = fetching(ok, steps)
    assert [failure.error_type for failure in exchange.outcomes] == ["unknown_wiki"] * 3
    assert all(len(failure.message) < 300 for failure in exchange.outcomes)
    assert not exchange.requests


def test_a_wiki_that_is_not_configured_may_end_the_job(fetching: Any) -> None:
    with pytest.raises(UnknownWikiError, match=r"wiki 'newwiki' is not in mediawiki\.wikis"):
        fetching(ok, at_once(5, wiki="newwiki"), mediawiki={"unknown_wiki": "stop"})


def test_a_compressed_answer_is_decoded_and_its_length_is_as_sent(fetching: Any) -> None:
    exchange = fetching(compressed(HTML.encode()))
    assert exchange.html == FetchedText(HTML, len(gzip.compress(HTML.encode())))


def test_a_plain_answer_has_its_own_length(fetching: Any) -> None:
    assert fetching(always(text=HTML)).html == FetchedText(HTML, len(HTML.encode()))


def test_a_chunked_answer_says_nothing_of_its_length(fetching: Any) -> None:
    async def handler(request: web.Request, _number: int) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        for start in range(0, len(HTML), 9000):
            await response.write(HTML[start : start + 9000].encode())
        await response.write_eof()
        return response

    assert fetching(handler).html == FetchedText(HTML, None)


@pytest.mark.parametrize("size", [1024 * 1024, 1024 * 1024 + 1])
@pytest.mark.parametrize("compress", [True, False], ids=["gzip", "plain"])
def test_a_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(
    fetching: Any, size: int, *, compress: bool
) -> None:
    exchange = fetching(compressed(b"a" * size) if compress else always(body=b"a" * size), **LIMIT)
    if size == 1024 * 1024:
        assert len(exchange.html.text) == size
    else:
        assert exchange.failure.error_type == "body_too_large"
        assert "1048576 bytes" in exchange.failure.message
    assert len(exchange.requests) == 1


def test_a_small_answer_that_would_be_large_when_decompressed_is_cut_off(fetching: Any) -> None:
    bomb = gzip.compress(bytes(60_000_000))
    assert len(bomb) < 100_000
    exchange = fetching(always(body=bomb, headers={"Content-Encoding": "gzip"}), **LIMIT)
    assert exchange.failure.error_type == "body_too_large"
    assert len(exchange.requests) == 1


def test_by_its_header_a_small_answer_is_read_to_its_end_whatever_it_becomes(fetching: Any) -> None:
    """The incident: a limit of 1 MiB, 60 MB of page, and a Content-Length of less than 100 kB."""
    exchange = fetching(compressed(b"a" * 60_000_000), **LIMIT, fetch={"body_limit": "content_length"})
    assert len(exchange.html.text) == 60_000_000
    assert exchange.html.content_length is not None
    assert exchange.html.content_length < 100_000


def test_by_its_header_an_answer_is_refused_before_it_is_read(fetching: Any) -> None:
    exchange = fetching(always(body=b"a" * (1024 * 1024 + 1)), **LIMIT, fetch={"body_limit": "content_length"})
    assert exchange.failure.error_type == "body_too_large"
    assert exchange.failure.message.endswith("Content-Length is 1048577, more than 1048576")


def test_a_body_that_is_not_utf_8_is_final(fetching: Any) -> None:
    exchange = fetching(always(body=b"<p>\xff\xfe"))
    assert exchange.failure.error_type == "invalid_body"
    assert len(exchange.requests) == 1


@pytest.mark.parametrize("charset", ["latin-1", "utf-16", "no-such-charset"])
def test_html_is_utf_8_whatever_the_header_says(fetching: Any, charset: str) -> None:
    handler = always(body="ä".encode(), headers={"Content-Type": f"text/html; charset={charset}"})
    assert fetching(handler).html.text == "ä"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raw("200 OK", "Content-Length: 100", body=b"only this"), id="truncated"),
        pytest.param(raw("200 OK", "Transfer-Encoding: chunked", body=b"64\r\nonly this"), id="truncated chunk"),
        pytest.param(raw("200 OK", "Content-Length: 9", GZIP, body=b"not gzip!"), id="not gzip"),
        pytest.param(raw("200 OK", "Content-Length: 20", GZIP, body=gzip.compress(HTML.encode())[:20]), id="cut gzip"),
        pytest.param(raw("200 OK", "Content-Length: 4", "Content-Encoding: br", body=b"body"), id="not asked for"),
        pytest.param(raw("200 OK", "Content-Length: many", body=b"body"), id="no length"),
        pytest.param(b"no HTTP at all\r\n\r\n", id="no HTTP"),
        pytest.param(raw("200 OK", "X: " + "x" * 100_000), id="long header"),
        pytest.param(None, id="closed"),
    ],
)
def test_a_broken_answer_is_tried_again(fetching_bytes: Any, answer: bytes | None) -> None:
    whole = raw("200 OK", "Content-Length: 3", *OF_REVISION_5, body=b"<p>")
    exchange, requests = fetching_bytes(answer, whole)
    assert exchange.html == FetchedText("<p>", 3)
    assert requests == 2
    exchange, requests = fetching_bytes(answer, fetch={"total_requests": 3})
    assert exchange.failure.error_type == "fetch_failed"
    assert requests == 3


def test_a_kept_connection_that_was_closed_costs_a_counted_request(fetching_bytes: Any) -> None:
    """aiohttp would send the second request twice on its own account, and nobody would know."""

    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(), await client.outcome()]

    first = raw("200 OK", "Content-Length: 3", *OF_REVISION_5, body=b"<p>")
    exchange, requests = fetching_bytes(first, None, steps=steps, keep_open=True, fetch={"total_requests": 1})
    assert exchange.outcomes[0] == FetchedText("<p>", 3)
    assert exchange.outcomes[1].error_type == "fetch_failed"
    assert requests == 2


def test_a_refused_connection_is_tried_again_and_then_a_failure(fetch_once: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening
        exchange = fetch_once(f"http://127.0.0.1:{taken.getsockname()[1]}", fetch={"total_requests": 3})
    assert exchange.failure.error_type == "fetch_failed"
    assert "ClientConnectorError" in exchange.failure.message
    assert len(exchange.jitter.asked) == 2


def test_no_cookie_goes_from_one_wiki_to_another(fetching: Any) -> None:
    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(), await client.outcome()]

    # By name: aiohttp's own cookie jar ignores addresses.
    exchange = fetching(always(text="<p>", headers={"Set-Cookie": "a=b; Path=/"}), steps, host="localhost")
    assert [request.headers.get("Cookie") for request in exchange.requests] == [None, None]
