import gzip
import socket
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import USER_AGENT, FetchedText, UnknownWikiError
from tests.unit.pipeline.fetch.answers import answering, at_once

HTML = "<p>ä</p>\n" * 5000
GZIP = "Content-Encoding: gzip"
OF_REVISION_5 = ("Content-Type: text/html", "Content-Revision-Id: 5")
LIMIT = {"claim_check": {"max_bytes": "1MiB"}}


def compressed(body: bytes) -> Callable[..., Any]:
    return answering(200, body=gzip.compress(body), Content_Encoding="gzip")


def raw(status: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("utf-8", "surrogateescape") + body


def test_what_is_sent(fetching: Any) -> None:
    wikis = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
    steps = at_once(28674, wiki="dewiki", request_id="event:parent")
    (request,) = fetching(answering(200), steps, mediawiki={"wikis": wikis}).requests
    assert request.method == "GET"
    assert request.rel_url.raw_path_qs == "/w/rest.php/v1/revision/28674/html"
    assert request.headers.getall("Host") == ["de.wikipedia.org"]
    assert request.headers.getall("X-Request-Id") == ["event:parent"]
    assert request.headers["User-Agent"] == f"{USER_AGENT} (html-enrichment)"
    assert request.headers["Accept-Encoding"] == "gzip"
    (request,) = fetching(answering(200), mediawiki={"contact": "ops@example.org"}).requests
    assert request.headers["User-Agent"].startswith(f"{USER_AGENT} (ops@example.org; html-enrichment) aiohttp/3.")


def test_a_wiki_that_is_not_configured_is_never_asked_for(fetching: Any) -> None:
    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(wiki=wiki) for wiki in ("evil.example.org", "enwiki\r\nX: y", "x" * 10_000)]

    exchange = fetching(answering(200), steps)
    assert [failure.error_type for failure in exchange.outcomes] == ["unknown_wiki"] * 3
    assert all(len(failure.message) < 300 for failure in exchange.outcomes)
    assert not exchange.requests


def test_a_wiki_that_is_not_configured_may_end_the_job(fetching: Any) -> None:
    with pytest.raises(UnknownWikiError, match=r"wiki 'newwiki' is not in mediawiki\.wikis"):
        fetching(answering(200), at_once(5, wiki="newwiki"), mediawiki={"unknown_wiki": "stop"})


async def chunked(request: web.Request, _number: int) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    for start in range(0, len(HTML), 9000):
        await response.write(HTML[start : start + 9000].encode())
    await response.write_eof()
    return response


@pytest.mark.parametrize(
    ("handler", "length"),
    [
        pytest.param(compressed(HTML.encode()), len(gzip.compress(HTML.encode())), id="compressed"),
        pytest.param(answering(200, body=HTML), len(HTML.encode()), id="plain"),
        pytest.param(chunked, None, id="chunked"),
    ],
)
def test_the_length_of_an_answer_is_as_sent(fetching: Any, handler: Any, length: int | None) -> None:
    assert fetching(handler).html == FetchedText(HTML, length)


MIB = 1024 * 1024
BY_HEADER = {"body_limit": "content_length"}


@pytest.mark.parametrize(
    ("handler", "fetch", "size"),
    [
        pytest.param(compressed(b"a" * MIB), {}, MIB, id="gzip"),
        pytest.param(answering(200, body=b"a" * MIB), {}, MIB, id="plain"),
        # The incident: a limit of 1 MiB, 60 MB of page, and a Content-Length of less than 100 kB.
        pytest.param(compressed(b"a" * 60_000_000), BY_HEADER, 60_000_000, id="gzip, by its header alone"),
    ],
)
def test_a_body_up_to_the_limit_is_taken(fetching: Any, handler: Any, fetch: dict[str, Any], size: int) -> None:
    assert len(fetching(handler, **LIMIT, fetch=fetch).html.text) == size


@pytest.mark.parametrize(
    ("handler", "fetch", "error_type", "says"),
    [
        pytest.param(compressed(b"a" * (MIB + 1)), {}, "body_too_large", "1048576 bytes", id="gzip"),
        pytest.param(answering(200, body=b"a" * (MIB + 1)), {}, "body_too_large", "1048576 bytes", id="plain"),
        pytest.param(compressed(bytes(60_000_000)), {}, "body_too_large", "1048576 bytes", id="a bomb of 60 kB"),
        pytest.param(
            answering(200, body=b"a" * (MIB + 1)),
            BY_HEADER,
            "body_too_large",
            "Content-Length is 1048577, more than 1048576",
            id="by its header, before it is read",
        ),
        pytest.param(answering(200, body=b"<p>\xff\xfe"), {}, "invalid_body", "utf-8", id="not UTF-8"),
    ],
)
def test_a_body_that_is_refused_is_not_asked_for_again(
    fetching: Any, handler: Any, fetch: dict[str, Any], error_type: str, says: str
) -> None:
    exchange = fetching(handler, **LIMIT, fetch=fetch)
    assert (exchange.failure.error_type, len(exchange.requests)) == (error_type, 1)
    assert says in exchange.failure.message


@pytest.mark.parametrize("charset", ["latin-1", "utf-16", "no-such-charset"])
def test_html_is_utf_8_whatever_the_header_says(fetching: Any, charset: str) -> None:
    assert fetching(answering(200, body="ä", Content_Type=f"text/html; charset={charset}")).html.text == "ä"


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
    exchange = fetching(answering(200, Set_Cookie="a=b; Path=/"), steps, host="localhost")
    assert [request.headers.get("Cookie") for request in exchange.requests] == [None, None]
