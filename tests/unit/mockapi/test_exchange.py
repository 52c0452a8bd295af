"""What all wikis of the mock share, from a request to its answer."""

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mockapi.clock.clock import Clock
from mockapi.exchange import Exchange
from mockapi.rules.model import Rule
from mockapi.world import World, Worlds
from tests.unit.mockapi.conftest import page_with

DOMAINS = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
PAGES = {
    wiki: page_with(page_id, wiki=wiki, domain=domain) for page_id, (wiki, domain) in enumerate(DOMAINS.items(), 7)
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
    exchange = Exchange(Worlds(World(1, PAGES.values(), (Rule.model_validate(outage),), clock), clock))

    def status(wiki: str, after_s: float) -> int:
        seconds.at = 1000.0 + after_s
        return asyncio.run(asked(exchange, wiki))

    answers = [("enwiki", 0, status("enwiki", 0))]
    answers += [(wiki, after_s, status(wiki, after_s)) for after_s in (9.9, 10, 14.9, 15) for wiki in DOMAINS]
    assert answers == [
        ("enwiki", 0, 200),
        *((wiki, 9.9, 200) for wiki in DOMAINS),
        *((wiki, 10, 503) for wiki in DOMAINS),
        *((wiki, 14.9, 503) for wiki in DOMAINS),
        *((wiki, 15, 200) for wiki in DOMAINS),
    ]


async def asked(exchange: Exchange, wiki: str) -> int:
    """The status of one page's newest revision."""
    sent: list[MutableMapping[str, Any]] = []
    path = f"/w/rest.php/v1/revision/{PAGES[wiki].revisions[-1].rev_id}/html"

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
        "headers": [(b"host", DOMAINS[wiki].encode())],
        "client": ("127.0.0.1", 1),
    }
    await exchange(scope, receive, send)
    return int(sent[0]["status"])
