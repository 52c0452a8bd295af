"""The promise of the mock: what happens to a request is a function of (seed, rule, key, attempt), attempts counted
by X-Request-Id; so it is the same whatever the number of clients, the order of their requests and the process.
"""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.mockapi.conftest import Mock, start, stop

ROOMS = ("mockapi", "mockapi/faults", "mockapi/journal", "mockapi/rules", "mockapi/values")
Outcome = tuple[Any, ...]
Request = tuple[int, str, int]
"""Revision, request id, how often it is sent in a row."""

times = st.sampled_from(["1ms", {"p50": "1ms", "p99": "5ms"}, {"uniform": {"from": "0s", "to": "3ms"}}])
whens = st.fixed_dictionaries(
    {},
    optional={
        "share": st.sampled_from(["20%", "50%", "90%"]),
        "share_of_revisions": st.sampled_from(["20%", "90%"]),
        "probability": st.sampled_from(["30%", "70%"]),
        "attempt": st.sampled_from([1, {"at_least": 2}, {"every": 2}]),
        "header": st.sampled_from([{"x-request-id": "*1"}, {"x-none": False}]),
    },
)
dos = st.fixed_dictionaries(
    {},
    optional={
        "latency": times,
        "latency_through_body": times,
        "status": st.sampled_from([404, 503, {"code": 429, "retry_after": "3s"}]),
        "missing": st.just(True),
        "hidden": st.just({"parts": ["text"]}),
        "replica_lag": st.just({"attempts": 1}),
        "body": st.sampled_from([{"size": 9000}, {"encoding": "identity"}]),
    },
).filter(bool)
rule_lists = st.lists(st.tuples(whens, dos), min_size=1, max_size=3).map(
    lambda pairs: [{"name": f"r{n}", "when": when, "do": do} for n, (when, do) in enumerate(pairs)]
)
request_lists = st.lists(
    st.tuples(st.integers(1, 40), st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=60
).map(lambda drawn: [(page * 4096 + number, f"id-{n}", sends) for n, (page, number, sends) in enumerate(drawn)])


async def play(mock: Mock, requests: list[Request], clients: int, order: int) -> None:
    """Sends all requests, `clients` at a time, those of one id one after the other."""
    shuffled = random.Random(order).sample(requests, len(requests))
    gate = asyncio.Semaphore(clients)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{mock.port}") as session:

        async def one(revision: int, request_id: str, sends: int) -> None:
            for _ in range(sends):
                async with (
                    gate,
                    session.get(
                        f"/w/rest.php/v1/revision/{revision}/html", headers={"x-request-id": request_id}
                    ) as answer,
                ):
                    await answer.read()

        await asyncio.gather(*(one(*request) for request in shuffled))


def outcomes(
    mock: Mock, seed: int, rules: list[dict[str, Any]], requests: list[Request], clients: int, order: int
) -> list[Outcome]:
    answer = mock.ask("/__mock/state", method="PUT", body={"seed": seed, "rules": rules})
    assert answer.status == 200, answer.body
    asyncio.run(play(mock, requests, clients, order))
    found = [
        (
            entry["request_id"],
            entry["attempt"],
            tuple(entry["rules"]),
            tuple(sorted(entry["draws"].items())),
            entry["status"],
            entry["wire_bytes"],
            entry["real_bytes"],
        )
        for entry in mock.journal()
    ]
    assert len(found) == sum(sends for _, _, sends in requests)
    return sorted(found)


@pytest.fixture(scope="module")
def another(pytestconfig: pytest.Config) -> Any:
    mock = start(pytestconfig.rootpath)
    yield mock
    assert stop(mock) == ""


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), rule_lists, request_lists)
def test_outcomes_are_the_same_under_1_and_64_clients(
    shared_mock: Mock, another: Mock, seed: int, rules: list[dict[str, Any]], requests: list[Request]
) -> None:
    one = outcomes(shared_mock, seed, rules, requests, clients=1, order=1)
    assert outcomes(shared_mock, seed, rules, requests, clients=64, order=2) == one
    assert outcomes(another, seed, rules, requests, clients=64, order=3) == one


def test_what_depends_on_order_is_no_part_of_the_promise(start_mock: Callable[..., Mock]) -> None:
    """The test above can fail: a rule for every other request gives other outcomes in another order."""
    mock = start_mock()
    rules = [{"name": "odd", "when": {"nth": {"every": 2}}, "do": {"status": 503}}]
    requests = [(page * 4096 + 1, f"id-{page}", 1) for page in range(1, 41)]
    assert outcomes(mock, 1, rules, requests, 1, order=1) != outcomes(mock, 1, rules, requests, 1, order=2)
