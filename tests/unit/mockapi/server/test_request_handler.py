"""What all wikis of the mock share, from a request to its answer."""

import asyncio
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.draws import uniform
from mockapi.rules.model import Rule
from mockapi.server.request_handler import RequestHandler
from mockapi.world import World, Worlds
from tests.unit.mockapi.conftest import make_page

DOMAINS = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
PAGES = {
    wiki: make_page(page_id, wiki=wiki, domain=domain) for page_id, (wiki, domain) in enumerate(DOMAINS.items(), 7)
}


@dataclass
class Seconds:
    at: float = 1000.0

    def __call__(self) -> float:
        return self.at


def test_two_wikis_share_the_clock_of_a_window() -> None:
    """It is open from 10 s to 15 s after the first request to either, whichever wiki is asked then."""
    seconds = Seconds()
    clock = Clock(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=seconds)
    outage = {"name": "outage", "when": {"window": {"from": "10s", "for": "5s"}}, "do": {"status": 503}}
    handler = RequestHandler(Worlds(World(1, PAGES.values(), (Rule.model_validate(outage),), clock), clock))

    def status(wiki: str, after_s: float) -> int:
        seconds.at = 1000.0 + after_s
        return asyncio.run(asked(handler, wiki))

    answers = [("enwiki", 0, status("enwiki", 0))]
    answers += [(wiki, after_s, status(wiki, after_s)) for after_s in (9.9, 10, 14.9, 15) for wiki in DOMAINS]
    assert answers == [
        ("enwiki", 0, 200),
        *((wiki, 9.9, 200) for wiki in DOMAINS),
        *((wiki, 10, 503) for wiki in DOMAINS),
        *((wiki, 14.9, 503) for wiki in DOMAINS),
        *((wiki, 15, 200) for wiki in DOMAINS),
    ]


REVISION = 28675
WIKIS = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org", "frwiki": "fr.wikipedia.org"}


@pytest.mark.parametrize(
    ("when", "requests", "statuses"),
    [
        pytest.param({"attempt": 1}, ["enwiki", "dewiki", "frwiki", "dewiki"], [503, 503, 503, 200], id="attempt"),
        pytest.param(
            {"nth": 2}, ["enwiki", "dewiki", "enwiki", "frwiki", "dewiki"], [200, 200, 503, 200, 503], id="nth"
        ),
    ],
)
@pytest.mark.parametrize("headers", [(), ((b"x-request-id", b"trace"),)], ids=["without an id", "with an id"])
def test_each_wiki_counts_requests_for_a_shared_revision_by_itself(
    when: dict[str, int], requests: list[str], statuses: list[int], headers: tuple[tuple[bytes, bytes], ...]
) -> None:
    handler, _ = sharing(*WIKIS, rule={"when": when, "do": {"status": 503}})
    path = f"/w/rest.php/v1/revision/{REVISION}/html"
    answers = [asyncio.run(answered(handler, WIKIS[wiki], path, headers)) for wiki in requests]
    assert answers == statuses


@pytest.mark.parametrize(
    ("status", "changed"),
    [
        ({"code": 503, "headers": {"X-Cache": "miss"}}, {b"x-cache": b"miss", b"server": b"envoy"}),
        (
            {"code": 404, "body": "{}", "headers": {"Content-Type": "application/json", "Retry-After": "soon"}},
            {b"content-type": b"application/json", b"retry-after": b"soon", b"content-length": b"2"},
        ),
        ({"code": 429, "headers": {"retry-after": "7"}}, {b"retry-after": b"7"}),
    ],
)
def test_a_status_has_headers_in_place_of_its_own(status: dict[str, Any], changed: dict[bytes, bytes]) -> None:
    handler, _ = sharing("enwiki", rule={"do": {"status": status}})
    start = asyncio.run(exchanged(handler, WIKIS["enwiki"], f"/w/rest.php/v1/revision/{REVISION}/html"))[0]
    names = [name for name, _ in start["headers"]]
    assert [names.count(name) for name in changed] == [1] * len(changed)
    assert {**dict(start["headers"]), **changed} == dict(start["headers"])
    assert start["status"] == status["code"]


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        pytest.param(("enwiki",), (str(REVISION),), id="one wiki: its draws stay as they were"),
        pytest.param(tuple(WIKIS), [f"{wiki}:{REVISION}" for wiki in WIKIS], id="three wikis draw apart"),
    ],
)
def test_draws_for_a_shared_revision(names: tuple[str, ...], keys: Sequence[str]) -> None:
    latency = {"uniform": {"from": "0ms", "to": "1ms"}}
    handler, world = sharing(*names, rule={"when": {"probability": 0.999}, "do": {"latency": latency}})
    for wiki in names:
        asyncio.run(answered(handler, WIKIS[wiki], f"/w/rest.php/v1/revision/{REVISION}/html"))
    drawn = [kept.entry.draws["latency_s"] for kept in world.journal.kept()]
    assert drawn == [pytest.approx(uniform(1, "rule", key, 1, "latency") / 1000, abs=1e-6) for key in keys]
    assert [kept.entry.key for kept in world.journal.kept()] == [str(REVISION)] * len(names)


def sharing(*names: str, rule: dict[str, object]) -> tuple[RequestHandler, World]:
    """Wikis whose pages have the same id, so that their revisions have too."""
    clock = Clock(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=Seconds())
    pages = [make_page(wiki=wiki, domain=WIKIS[wiki]) for wiki in names]
    world = World(1, pages, (Rule.model_validate({"name": "rule", **rule}),), clock)
    return RequestHandler(Worlds(world, clock)), world


async def asked(handler: RequestHandler, wiki: str) -> int:
    """The status of one page's newest revision."""
    path = f"/w/rest.php/v1/revision/{PAGES[wiki].revisions[-1].rev_id}/html"
    return await answered(handler, DOMAINS[wiki], path)


async def answered(
    handler: RequestHandler, domain: str, path: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> int:
    """The status of a GET."""
    return int((await exchanged(handler, domain, path, headers))[0]["status"])


async def exchanged(
    handler: RequestHandler, domain: str, path: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> list[MutableMapping[str, Any]]:
    """What the server sends for a GET."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("it was to wait")

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", domain.encode()), *headers],
        "client": ("127.0.0.1", 1),
    }
    await handler(scope, receive, send)
    return sent
