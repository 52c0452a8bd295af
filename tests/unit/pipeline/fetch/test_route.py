"""A job's own route through the client: the Action API says in a body of status 200 what became of a request."""

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pipeline.fetch.client import FetchedText
from pipeline.fetch.route import HTML, Head, TryAgainError
from pipeline.jobs.content import ContentRoute

GOOD = '{"query": {"pages": [{"revisions": [{"revid": 5, "slots": {"main": {"content": "text"}}}]}]}}'
LAG = '{"error": {"code": "maxlag", "info": "Waiting for a database server: 7.4 seconds lagged."}}'
BAD = '{"query": {"badrevids": {"5": {"revid": 5, "missing": true}}}}'
Handler = Callable[[web.Request, int], Any]


def answers(*bodies: str, **headers: str) -> Handler:
    """The n-th body for request n, later ones the last; headers with all but the last."""

    async def handler(_request: web.Request, number: int) -> web.Response:
        body = bodies[min(number, len(bodies)) - 1]
        sent = {name.replace("_", "-"): value for name, value in headers.items()} if number < len(bodies) else {}
        return web.Response(text=body, content_type="application/json", headers=sent)

    return handler


def through(*, unknown_is_final: bool = True, limit_s: float = 60) -> Any:
    async def steps(client: Any) -> list[Any]:
        route = ContentRoute(5, unknown_is_final=unknown_is_final)
        deadline = client.html.deadline(limit_s)
        return [await client.outcome(route=route, deadline=deadline)]

    return steps


def test_what_is_asked_and_what_comes_of_it(fetching: Any) -> None:
    exchange = fetching(answers(GOOD), through())
    (request,) = exchange.requests
    assert request.rel_url.path == "/w/api.php"
    assert request.rel_url.query["revids"] == "5"
    assert request.rel_url.query["maxlag"] == "5"
    assert request.rel_url.query["rvprop"] == "ids|content|contentmodel"
    assert exchange.html == FetchedText("text", len(GOOD))


def test_a_lag_is_waited_for_as_long_as_it_says(fetching: Any) -> None:
    """And for a drawn pause on top."""
    exchange = fetching(answers(LAG, LAG, GOOD, Retry_After="0"), through())
    assert exchange.html.text == "text"
    assert len(exchange.requests) == 3
    assert len(exchange.jitter.asked) == 2


def test_a_lag_longer_than_the_deadline_is_not_waited_for(fetching: Any) -> None:
    exchange = fetching(answers(LAG, GOOD, Retry_After="5"), through(limit_s=4))
    assert (exchange.failure.error_type, len(exchange.requests)) == ("deadline_exceeded", 1)
    assert "API error maxlag" in exchange.failure.message


def test_a_lag_is_a_retry_like_any_other(fetching: Any) -> None:
    """Of the record's total of requests, and of the worker's budget."""
    exchange = fetching(answers(LAG), through(), fetch={"total_requests": 3})
    assert (exchange.failure.error_type, len(exchange.requests)) == ("fetch_failed", 3)
    assert len(exchange.jitter.asked) == 2, "without Retry-After it backs off"
    budget = {"share": 0, "burst": 1}
    exchange = fetching(answers(LAG), through(), fetch={"total_requests": 9, "retry_budget": budget})
    assert len(exchange.requests) == 2


@pytest.mark.parametrize(("final", "requests"), [(True, 1), (False, 2)])
def test_an_unknown_revision_is_asked_for_again_where_that_may_help(fetching: Any, final: bool, requests: int) -> None:
    exchange = fetching(answers(BAD, GOOD), through(unknown_is_final=final))
    assert len(exchange.requests) == requests
    if final:
        assert exchange.failure.error_type == "revision_not_found"
    else:
        assert exchange.html.text == "text"


def test_html_is_the_body_itself() -> None:
    assert HTML.path(5) == "/w/rest.php/v1/revision/5/html"
    assert HTML.read(5, Head("text/html; charset=utf-8", "5"), "<p>ä") == "<p>ä"


PARSOID = '<!DOCTYPE html>\n<html prefix="dc: x" about="http://w/index.php/Special:Redirect/revision/{}"><head>'


def test_the_revision_may_stand_in_the_documents_head() -> None:
    page = PARSOID.format(5)
    assert HTML.read(5, Head("text/html"), page) == page


@pytest.mark.parametrize(
    ("head", "body", "why"),
    [
        (Head("text/html", "5"), "", "no body"),
        (Head("text/html", "5"), " \n", "no body"),
        (Head("text/html"), "<h1>Maintenance</h1>", "it names no revision"),
        (Head("text/html"), "<p>" * 2000 + PARSOID.format(5), "it names no revision"),
        (Head("text/html"), PARSOID.format(6), "revision 6"),
        (Head("text/html", "6"), PARSOID.format(5), "revision 6"),
        (Head("text/html", "5"), PARSOID.format(6), "revision 6"),
        (Head("application/json", "5"), '{"httpCode": 404}', "content type 'application/json'"),
        (Head("", "5"), "<p>", "content type ''"),
    ],
)
def test_what_is_not_the_page_is_an_outage(head: Head, body: str, why: str) -> None:
    with pytest.raises(TryAgainError, match=why) as caught:
        HTML.read(5, head, body)
    assert caught.value.of_upstream


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ('{"errorKey":"rest-nonexistent-revision","httpCode":404}', "rest-nonexistent-revision"),
        ('{"error":"parameter-validation-failed","errorKey":"badinteger"}', "badinteger"),
        ('{"error":"rest-read-denied","httpCode":403,"httpReason":"Forbidden"}', "rest-read-denied"),
        ('{"errorKey":"rest-no-match","httpCode":404}', None),
        ('{"httpCode":404,"httpReason":"Not Found"}', None),
        ('{"errorKey":7}', None),
        ('{"error":"not found"}', None),
        ("<h1>404 Not Found</h1>", None),
        ("[1]", None),
        ("", None),
    ],
)
def test_the_words_of_the_rest_api(body: str, word: str | None) -> None:
    assert HTML.refusal(body) == word


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ('{"error":{"code":"readapidenied","info":"You need"}}', "readapidenied"),
        ('{"error":"readapidenied"}', None),
        ('{"error":{"code":"ResourceNotFound","message":"no backend"}}', None),
        ('{"error":{"code":7}}', None),
        ('{"query":{}}', None),
        ("<h1>403 Forbidden</h1>", None),
    ],
)
def test_the_words_of_the_action_api(body: str, word: str | None) -> None:
    assert ContentRoute(5, unknown_is_final=True).refusal(body) == word
