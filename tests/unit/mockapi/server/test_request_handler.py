"""What all wikis of the mock share, from a request to its answer."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.draws import uniform
from mockapi.rules.model import Rule
from mockapi.server.request_handler import RequestHandler
from mockapi.server.wire import wire_of
from mockapi.world import World, Worlds
from tests.unit.mockapi.asgi import Answer, ask
from tests.unit.mockapi.conftest import make_page
from tests.unit.mockapi.manual_time import ManualTime

DOMAINS = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
PAGES = {
    wiki: make_page(page_id, wiki=wiki, domain=domain) for page_id, (wiki, domain) in enumerate(DOMAINS.items(), 7)
}


def asked(handler: RequestHandler, domain: str, revision: int, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(handler, f"/w/rest.php/v1/revision/{revision}/html", headers={"host": domain, **named})


def test_two_wikis_share_the_clock_of_a_window() -> None:
    """It is open from 10 s to 15 s after the first request to either, whichever wiki is asked then."""
    time = ManualTime(1000.0)
    clock = Clock(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=time.monotonic)
    outage = {"name": "outage", "when": {"window": {"from": "10s", "for": "5s"}}, "do": {"status": 503}}
    handler = RequestHandler(Worlds(World(1, PAGES.values(), (Rule.model_validate(outage),), clock), clock))

    def status(wiki: str, after_s: float) -> int:
        time.now_s = 1000.0 + after_s
        return asked(handler, DOMAINS[wiki], PAGES[wiki].revisions[-1].rev_id).status

    assert status("enwiki", 0) == 200
    expected = {9.9: 200, 10: 503, 14.9: 503, 15: 200}
    answers = {after_s: [status(wiki, after_s) for wiki in DOMAINS] for after_s in expected}
    assert answers == {after_s: [one] * len(DOMAINS) for after_s, one in expected.items()}


REVISION = 28675
WIKIS = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org", "frwiki": "fr.wikipedia.org"}


@pytest.mark.parametrize(
    ("when", "requests", "statuses"),
    [
        ({"attempt": 1}, ["enwiki", "dewiki", "frwiki", "dewiki"], [503, 503, 503, 200]),
        ({"nth": 2}, ["enwiki", "dewiki", "enwiki", "frwiki", "dewiki"], [200, 200, 503, 200, 503]),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"x_request_id": "trace"}], ids=["without an id", "with an id"])
def test_each_wiki_counts_requests_for_a_shared_revision_by_itself(
    when: dict[str, int], requests: list[str], statuses: list[int], headers: dict[str, str]
) -> None:
    handler, _ = sharing(*WIKIS, rule={"when": when, "do": {"status": 503}})
    assert [asked(handler, WIKIS[wiki], REVISION, **headers).status for wiki in requests] == statuses


@pytest.mark.parametrize(
    ("status", "changed"),
    [
        ({"code": 503, "headers": {"X-Cache": "miss"}}, {"x-cache": "miss", "server": "envoy"}),
        (
            {"code": 404, "body": "{}", "headers": {"Content-Type": "application/json", "Retry-After": "soon"}},
            {"content-type": "application/json", "retry-after": "soon", "content-length": "2"},
        ),
        ({"code": 429, "headers": {"retry-after": "7"}}, {"retry-after": "7"}),
    ],
)
def test_a_status_has_headers_in_place_of_its_own(status: dict[str, Any], changed: dict[str, str]) -> None:
    handler, _ = sharing("enwiki", rule={"do": {"status": status}})
    answer = asked(handler, WIKIS["enwiki"], REVISION)
    assert [answer.names.count(name) for name in changed] == [1] * len(changed)
    assert dict(answer.headers).items() >= changed.items()
    assert answer.status == status["code"]


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
        asked(handler, WIKIS[wiki], REVISION)
    drawn = [kept.entry.draws["latency_s"] for kept in world.journal.kept()]
    assert drawn == [pytest.approx(uniform(1, "rule", key, 1, "latency") / 1000, abs=1e-6) for key in keys]
    assert [kept.entry.key for kept in world.journal.kept()] == [str(REVISION)] * len(names)


def sharing(*names: str, rule: dict[str, object]) -> tuple[RequestHandler, World]:
    """Wikis whose pages have the same id, so that their revisions have too."""
    clock = Clock(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=ManualTime().monotonic)
    pages = [make_page(wiki=wiki, domain=WIKIS[wiki]) for wiki in names]
    world = World(1, pages, (Rule.model_validate({"name": "rule", **rule}),), clock)
    return RequestHandler(Worlds(world, clock)), world


def under_asgi(do: dict[str, Any]) -> tuple[int, list[Any]]:
    """By an ASGI server that knows nothing of wires: the status, and the journal."""
    handler, world = sharing(rule={"do": do})
    return ask(handler, "/nowhere", headers={"host": "localhost"}).status, list(world.journal.entries())


@pytest.mark.parametrize("do", [{"reset": {}}, {"hang": True}, {"content_length": "negative"}, {"keep_alive": 1}])
def test_a_fault_that_asgi_cannot_send_says_so(do: dict[str, Any]) -> None:
    status, (entry,) = under_asgi(do)
    assert (status, entry.status) == (501, 501)


def test_other_faults_are_as_ever() -> None:
    assert under_asgi({"status": 503})[0] == 503
    assert under_asgi({"charset": "none"})[0] == 404


@pytest.mark.parametrize("extensions", [None, {}, {"mockapi": {}}, {"mockapi": {"wire": "another"}}])
def test_another_server_has_no_wire(extensions: dict[str, Any] | None) -> None:
    scope = {"type": "http"} if extensions is None else {"type": "http", "extensions": extensions}
    assert wire_of(scope) is None
