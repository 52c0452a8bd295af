"""A capacity, a proxy that gives up, and what is counted of them. What must last is an hour; nothing waits for it."""

import asyncio
import http.client
from collections import Counter
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

ROOMS = ("mockapi/faults", "mockapi/upstream")
BLOCKER = 28674
OTHERS = tuple(page_id * 4096 + 1 for page_id in range(8, 18))
PARSER = {"name": "parser", "do": {"capacity": 1, "parse": "1ms"}}
STUCK = {"name": "stuck", "when": {"revision": BLOCKER}, "do": {"parse": "1h"}}
GATEWAY = {"name": "gateway", "do": {"gateway_timeout": "20ms"}}


def begin_fetch(mock: Any, revision: int) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=30)
    connection.request("GET", f"/w/rest.php/v1/revision/{revision}/html")
    return connection


def upstream(mock: Any) -> dict[str, Any]:
    found: dict[str, Any] = mock.counts()["upstream"]
    return found


def block(mock: Any) -> None:
    """A parse without end takes the one slot; its client disconnects, and no proxy may be faster than that."""
    connection = begin_fetch(mock, BLOCKER)
    mock.until("the parse is under way", lambda: upstream(mock)["busy"] == 1)
    connection.close()
    mock.until("its client has disconnected", lambda: mock.counts()["by_status"] == {"none": 1})
    assert upstream(mock)["busy"] == 1


async def fetch_together(mock: Any, revisions: tuple[int, ...]) -> list[tuple[int, list[tuple[str, str]], bytes]]:
    async def fetch(session: aiohttp.ClientSession, revision: int) -> tuple[int, list[tuple[str, str]], bytes]:
        url = f"http://127.0.0.1:{mock.port}/w/rest.php/v1/revision/{revision}/html"
        async with session.get(url, headers={"X-Request-Id": f"event-{revision}"}) as answer:
            headers = [(name.decode(), value.decode()) for name, value in answer.raw_headers]
            return answer.status, headers, await answer.read()

    async with aiohttp.ClientSession() as session:
        return await asyncio.gather(*(fetch(session, revision) for revision in revisions))


def test_ten_at_once_for_a_parser_of_two_behind_a_proxy_with_little_patience(mock: Any) -> None:
    """Two slots of 200 ms and a proxy that waits 300 ms: the first pair is served, whoever comes third is not."""
    mock.rules(
        {"name": "parser", "do": {"capacity": 2, "parse": "200ms"}},
        {"name": "gateway", "do": {"gateway_timeout": "300ms"}},
    )
    answers = asyncio.run(fetch_together(mock, OTHERS))
    by_status = Counter(status for status, _, _ in answers)
    assert set(by_status) <= {200, 504}
    # The third pair ends after 600 ms at the earliest.
    assert by_status[504] >= 6
    for status, headers, body in answers:
        if status == 504:
            assert body == b"upstream request timeout"
            assert headers[1:] == [("content-length", "24"), ("content-type", "text/plain"), ("server", "envoy")]
    mock.until("all parses are through", lambda: upstream(mock)["parses"] == 10)
    seen = upstream(mock)
    assert (seen["busy"], seen["queued"], seen["parse_s"]) == (0, 0, pytest.approx(2.0))
    assert 6 <= seen["abandoned"] <= by_status[504]
    assert 1 <= seen["max_queued"] <= 8
    counted = mock.counts()
    assert counted["rules"]["gateway"]["by_status"] == {str(code): count for code, count in by_status.items()}
    assert (counted["requests"], counted["fetches"], counted["max_attempt"]) == (10, 10, 1)
    assert sum(counted["latency"]["counts"]) == 10


def test_who_is_overtaken_keeps_the_place_and_every_attempt_queues_again(mock: Any) -> None:
    mock.rules(PARSER, STUCK)
    block(mock)
    mock.rules(PARSER, STUCK, GATEWAY)
    for attempt in range(1, 5):
        assert mock.page(OTHERS[0], X_Request_Id="event").status == 504
        assert (upstream(mock)["queued"], mock.counts()["max_attempt"]) == (attempt, attempt)
    assert mock.counts()["fetches"] == 2
    mock.rules(STUCK, GATEWAY)
    mock.until("the queue is worked off", lambda: upstream(mock)["parses"] == 4)
    seen = upstream(mock)
    assert (seen["busy"], seen["queued"], seen["abandoned"], seen["max_queued"]) == (1, 0, 4, 4)


@pytest.mark.parametrize("change", ["delete it", "replace it", "widen it"])
def test_changing_the_capacity_strands_nobody(mock: Any, change: str) -> None:
    mock.rules(PARSER, STUCK)
    block(mock)
    waiting = [begin_fetch(mock, revision) for revision in OTHERS[:3]]
    mock.until("three queue", lambda: upstream(mock)["queued"] == 3)
    match change:
        case "delete it":
            mock.ask("/__mock/rules/parser", method="DELETE")
        case "replace it":
            mock.rules({**PARSER, "name": "another"}, STUCK)
        case "widen it":
            mock.rules({"name": "parser", "do": {"capacity": 2, "parse": "1ms"}}, STUCK)
    for connection in waiting:
        assert connection.getresponse().status == 200
        connection.close()


def test_errors_take_no_slot(mock: Any) -> None:
    gone = {"name": "gone", "when": {"revision": OTHERS[0]}, "do": {"status": 404}}
    mock.rules(PARSER, STUCK, gone)
    block(mock)
    assert mock.page(OTHERS[0]).status == 404
    assert mock.page(5).status == 404
    assert mock.page("abc").status == 400
    assert mock.ask("/w/nowhere").status == 404
    assert upstream(mock)["queued"] == 0


def test_a_new_state_has_a_parser_of_its_own(mock: Any) -> None:
    mock.rules(PARSER, STUCK)
    block(mock)
    waiting = begin_fetch(mock, OTHERS[0])
    mock.until("one queues", lambda: upstream(mock)["queued"] == 1)
    mock.ask("/__mock/state", method="PUT", body={"seed": 1, "rules": [PARSER]})
    assert set(upstream(mock).values()) == {0}
    assert waiting.getresponse().status == 200, "the slot of the parse that nobody waited for is free"
    waiting.close()
    assert mock.page(OTHERS[0]).status == 200
    assert upstream(mock)["parses"] == 1


def test_sigterm_ends_it_with_parses_under_way_and_queued(start_mock: Callable[..., Any]) -> None:
    mock = start_mock()
    mock.rules(PARSER, STUCK)
    block(mock)
    mock.rules(PARSER, STUCK, GATEWAY)
    assert mock.page(OTHERS[0]).status == 504
    waiting = begin_fetch(mock, OTHERS[1])
    mock.until("two queue", lambda: upstream(mock)["queued"] == 2)
    mock.process.terminate()
    out, err = mock.process.communicate(timeout=20)
    assert (mock.process.returncode, out, err) == (0, "", "")
    waiting.close()
