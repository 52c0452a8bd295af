"""A job's own route through the client: the Action API says in a body of status 200 what became of a request."""

from typing import Any

import pytest

from pipeline.fetch.client import FetchedText
from pipeline.fetch.route import HTML, Head, Route, TryAgainError
from pipeline.jobs.content import ContentRoute
from tests.unit.pipeline.fetch.answers import at_once, in_turn, saying

GOOD = '{"query": {"pages": [{"revisions": [{"revid": 5, "slots": {"main": {"content": "text"}}}]}]}}'
LAG = '{"error": {"code": "maxlag", "info": "Waiting for a database server: 7.4 seconds lagged."}}'
BAD = '{"query": {"badrevids": {"5": {"revid": 5, "missing": true}}}}'


CONTENT = ContentRoute(5, unknown_is_final=True)
THROUGH = at_once(5, route=CONTENT)


def test_what_is_asked_and_what_comes_of_it(fetching: Any) -> None:
    exchange = fetching(saying(GOOD), THROUGH)
    (request,) = exchange.requests
    assert request.rel_url.path == "/w/api.php"
    assert request.rel_url.query["revids"] == "5"
    assert request.rel_url.query["maxlag"] == "5"
    assert request.rel_url.query["rvprop"] == "ids|content|contentmodel"
    assert exchange.html == FetchedText("text", len(GOOD))


LAST = {"total_requests": 3}
NO_BUDGET = {"total_requests": 9, "retry_budget": {"share": 0, "burst": 1}}


@pytest.mark.parametrize(
    ("handler", "fetch", "outcome", "requests", "pauses"),
    [
        # And for a drawn pause on top.
        pytest.param(
            in_turn(saying(LAG, Retry_After="0"), saying(LAG, Retry_After="0"), saying(GOOD)),
            {},
            FetchedText("text", len(GOOD)),
            3,
            2,
            id="waited for as long as it says",
        ),
        pytest.param(saying(LAG, Retry_After="5"), {"deadline": "4s"}, "deadline_exceeded", 1, 1, id="not for longer"),
        pytest.param(saying(LAG), LAST, "fetch_failed", 3, 2, id="the record's total of requests"),
        pytest.param(saying(LAG), NO_BUDGET, "fetch_failed", 2, 1, id="the worker's budget"),
    ],
)
def test_a_lag_is_a_retry_like_any_other(
    fetching: Any, handler: Any, fetch: dict[str, Any], outcome: Any, requests: int, pauses: int
) -> None:
    exchange = fetching(handler, THROUGH, fetch=fetch)
    assert (len(exchange.requests), len(exchange.jitter.asked)) == (requests, pauses)
    if isinstance(outcome, str):
        assert exchange.failure.error_type == outcome
        assert "API error maxlag" in exchange.failure.message
    else:
        assert exchange.outcome == outcome


@pytest.mark.parametrize(("final", "requests"), [(True, 1), (False, 2)])
def test_an_unknown_revision_is_asked_for_again_where_that_may_help(fetching: Any, final: bool, requests: int) -> None:
    steps = at_once(5, route=ContentRoute(5, unknown_is_final=final))
    exchange = fetching(in_turn(saying(BAD), saying(GOOD)), steps)
    assert len(exchange.requests) == requests
    if final:
        assert exchange.failure.error_type == "revision_not_found"
    else:
        assert exchange.html.text == "text"


PARSOID = '<!DOCTYPE html>\n<html prefix="dc: x" about="http://w/index.php/Special:Redirect/revision/{}"><head>'


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param(Head("text/html; charset=utf-8", "5"), "<p>ä", id="revision in the header"),
        pytest.param(Head("text/html"), PARSOID.format(5), id="in the document's head"),
    ],
)
def test_html_is_the_body_itself(head: Head, body: str) -> None:
    assert HTML.path(5) == "/w/rest.php/v1/revision/5/html"
    assert HTML.read(5, head, body) == body


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
    ("route", "body", "word"),
    [
        (HTML, '{"errorKey":"rest-nonexistent-revision","httpCode":404}', "rest-nonexistent-revision"),
        (HTML, '{"error":"parameter-validation-failed","errorKey":"badinteger"}', "badinteger"),
        (HTML, '{"error":"rest-read-denied","httpCode":403,"httpReason":"Forbidden"}', "rest-read-denied"),
        (HTML, '{"errorKey":"rest-no-match","httpCode":404}', None),
        (HTML, '{"httpCode":404,"httpReason":"Not Found"}', None),
        (HTML, '{"errorKey":7}', None),
        (HTML, '{"error":"not found"}', None),
        (HTML, "<h1>404 Not Found</h1>", None),
        (HTML, "[1]", None),
        (HTML, "", None),
        (CONTENT, '{"error":{"code":"readapidenied","info":"You need"}}', "readapidenied"),
        (CONTENT, '{"error":"readapidenied"}', None),
        (CONTENT, '{"error":{"code":"ResourceNotFound","message":"no backend"}}', None),
        (CONTENT, '{"error":{"code":7}}', None),
        (CONTENT, '{"query":{}}', None),
        (CONTENT, "<h1>403 Forbidden</h1>", None),
    ],
)
def test_the_words_of_each_api(route: Route, body: str, word: str | None) -> None:
    assert route.refusal(body) == word
