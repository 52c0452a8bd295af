"""What a proxy says in MediaWiki's place is believed about no revision: it is an outage, which the breaker counts."""

import gzip
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.fetch.route import HTML, Route
from pipeline.jobs.content import ContentRoute
from tests.unit.pipeline.fetch.answers import answering, at_once, failing

MAINTENANCE = b"<!DOCTYPE html><title>Maintenance</title><h1>Back soon</h1>"
# Such as many gateways have it: an `error.code`, and none of the API's `info` beside it.
GATEWAY_ERROR = b'{"error":{"code":"ResourceNotFound","message":"No backend is known by this name"}}'
BREAKER = {"minimum_requests": 4, "trial_requests": 1}
ONCE = {"total_requests": 1}
CONTENT = ContentRoute(5, unknown_is_final=True)


def saying(status: int, body: bytes, content_type: str = "text/html", **headers: str) -> Callable[..., Any]:
    return answering(status, body=body, Content_Type=content_type, **headers)


ANSWERS = [
    pytest.param(saying(200, MAINTENANCE), id="200 maintenance"),
    pytest.param(saying(200, MAINTENANCE + b"\xe4"), id="200 in latin-1"),
    pytest.param(saying(200, b""), id="200 empty"),
    pytest.param(saying(200, b'{"httpCode":404,"httpReason":"Not Found"}', "application/json"), id="200 error JSON"),
    pytest.param(saying(404, MAINTENANCE), id="404"),
    pytest.param(saying(404, b'{"httpCode":404,"httpReason":"Not Found"}', "application/json"), id="404 of a gateway"),
    pytest.param(saying(403, MAINTENANCE), id="403"),
    pytest.param(saying(403, b"x" * 1_000_000, "text/plain"), id="403, long"),
    pytest.param(saying(403, b"not gzip", Content_Encoding="gzip"), id="403, broken"),
    pytest.param(saying(401, b"Unauthorized", "text/plain"), id="401"),
    pytest.param(saying(301, b"", Location="http://127.0.0.1:1/"), id="301"),
    pytest.param(saying(413, MAINTENANCE), id="413"),
    pytest.param(saying(200, GATEWAY_ERROR, "application/json"), id="200, error.code of a gateway"),
    pytest.param(saying(404, GATEWAY_ERROR, "application/json"), id="404, error.code of a gateway"),
]


@pytest.mark.parametrize("handler", ANSWERS)
@pytest.mark.parametrize("route", [HTML, CONTENT], ids=["REST API", "Action API"])
def test_many_answers_of_a_proxy_open_the_breaker(fetching: Any, handler: Any, route: Route) -> None:
    steps = at_once(*range(30), route=route)
    exchange = fetching(handler, steps, proxy=True, concurrency=3, breaker=BREAKER, fetch=ONCE)
    kinds = Counter(failure.error_type for failure in exchange.outcomes)
    assert kinds == {"fetch_failed": len(exchange.requests), "breaker_open": 30 - len(exchange.requests)}
    assert 4 <= len(exchange.requests) <= 4 + 2


@pytest.mark.parametrize("handler", ANSWERS)
def test_an_answer_of_a_proxy_may_be_mediawikis_the_next_time(fetching: Any, handler: Any) -> None:
    exchange = fetching(handler, failing(), proxy=True, fetch={"total_requests": 3})
    (failed,) = exchange.outcomes
    assert (failed.transient, failed.tried, len(exchange.requests)) == (True, True, 3)


PARSOID = '<html prefix="dc: x" about="https://{}/wiki/Special:Redirect/revision/5"><head>'


@pytest.mark.parametrize("revision", [{}, {"Content_Revision_Id": "5"}], ids=["in its head", "and in a header"])
def test_the_same_revision_of_another_wiki_is_not_the_page(fetching: Any, revision: dict[str, str]) -> None:
    """A proxy that loses the Host header asks its default wiki, where nearly every number is a revision, too."""
    wikis = {"enwiki": "en.example", "dewiki": "de.example"}

    async def steps(client: Any) -> list[Any]:
        return [await client.outcome(wiki=wiki) for wiki in wikis]

    handler = saying(200, PARSOID.format("DE.example").encode(), **revision)
    of_en, of_de = fetching(handler, steps, fetch=ONCE, mediawiki={"wikis": wikis}).outcomes
    assert of_en.error_type == "fetch_failed"
    assert "status 200, and not MediaWiki's page: it is of DE.example" in of_en.message
    assert of_de.text == PARSOID.format("DE.example")


def test_a_wiki_may_call_itself_by_a_name_that_the_table_does_not_have(fetching: Any) -> None:
    """As one does behind an address of its own, in a test environment."""
    page = PARSOID.format("localhost:8080")
    assert fetching(saying(200, page.encode()), fetch=ONCE).html.text == page


WHOLE = b'<html about="https://en.example/wiki/Special:Redirect/revision/5"><body>...</body></html>'
UNBOUNDED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"


def test_a_page_whose_end_only_the_connection_tells_has_to_be_whole(fetching_bytes: Any) -> None:
    """Without a length, chunks or a content coding half a page looks as good as all of it."""
    exchange, requests = fetching_bytes(UNBOUNDED + WHOLE[:70], UNBOUNDED + WHOLE + b"\n")
    assert (exchange.html.text, requests) == (WHOLE.decode() + "\n", 2)
    bounded = UNBOUNDED.replace(b"Connection: close", b"content-length: 70")
    assert fetching_bytes(bounded + WHOLE[:70])[0].html.text == WHOLE[:70].decode(), "as it is what the wiki meant"
    exchange, requests = fetching_bytes(UNBOUNDED + WHOLE[:70], fetch=ONCE)
    assert exchange.failure.message.endswith("status 200, and not MediaWiki's page: it breaks off")


@pytest.mark.parametrize(
    "header",
    [
        "Content-Encoding: identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding:",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ],
)
def test_a_coding_that_tells_of_no_end_bounds_no_page(fetching_bytes: Any, header: str) -> None:
    head = UNBOUNDED.replace(b"Connection: close", header.encode())
    exchange, requests = fetching_bytes(head + WHOLE[:70], head + WHOLE)
    assert (exchange.html.text, requests) == (WHOLE.decode(), 2)


def test_chunks_and_gzip_tell_where_a_page_ends(fetching_bytes: Any) -> None:
    chunked = UNBOUNDED.replace(b"Connection: close", b"Transfer-Encoding: Chunked")
    assert fetching_bytes(chunked + b"46\r\n" + WHOLE[:70] + b"\r\n0\r\n\r\n")[0].html.text == WHOLE[:70].decode()
    compressed = UNBOUNDED.replace(b"Connection: close", b"Content-Encoding: GZIP")
    assert fetching_bytes(compressed + gzip.compress(WHOLE[:70]))[0].html.text == WHOLE[:70].decode()
