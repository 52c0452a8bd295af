"""What all wikis of the mock share, from a request to its answer, and an answer without faults."""

import asyncio
import ipaddress
import json
from collections.abc import MutableMapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.control.access import Access
from mockapi.draws import uniform
from mockapi.rules.model import Rule
from mockapi.server.app import create_app
from mockapi.server.fault_free import get_fault_free
from mockapi.server.request import MOST_BODY_BYTES, BodyTooLarge, Request, has_body, read_body, read_head
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
LATEST = 7 * 4096 + 3
SOURCE, HTML = f"/w/rest.php/v1/revision/{LATEST}", f"/w/rest.php/v1/revision/{LATEST}/html"
ACTION = f"/w/api.php?action=query&format=json&formatversion=2&prop=revisions&revids={LATEST}&rvprop=ids"
NETWORK = ipaddress.ip_network("172.16.0.0/12")


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


def world(*rules: dict[str, object]) -> World:
    clock = Clock(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=lambda: 0.0)
    return World(7, [make_page()], tuple(Rule.model_validate(rule) for rule in rules), clock)


def fetch_fault_free(of: World, path: str) -> tuple[int, bytes]:
    reply = asyncio.run(get_fault_free(of, "en.wikipedia.org", path))
    return reply.status, b"".join(reply.body.pieces())


@pytest.mark.parametrize("path", [SOURCE, HTML, ACTION])
def test_no_fault_meets_it_and_the_journal_does_not_know_it(path: str) -> None:
    struck = world({"name": "away", "do": {"status": 503, "missing": True, "hidden": {"parts": ["text"]}}})
    assert fetch_fault_free(struck, path) == fetch_fault_free(world(), path)
    assert fetch_fault_free(struck, path)[0] == 200
    assert struck.counts().requests == 0
    assert struck.rulebook.statuses()[0].matched == 0


def test_a_query_is_part_of_what_is_asked() -> None:
    status, body = fetch_fault_free(world(), ACTION)
    assert (status, json.loads(body)["query"]["pages"][0]["revisions"][0]["revid"]) == (200, LATEST)


def test_what_a_document_is_counts() -> None:
    large = world({"name": "large", "do": {"body": {"size": "20KiB"}}})
    assert len(fetch_fault_free(large, HTML)[1]) == 20_480


def test_what_the_wiki_does_not_have() -> None:
    assert fetch_fault_free(world(), "/w/rest.php/v1/revision/5")[0] == 404


def request(
    path: str = "/w/rest.php/v1/x", raw_path: bytes | None = None, method: str = "GET", **headers: str
) -> Request:
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": raw_path,
        "query_string": b"a=1&b=%20",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 4711),
    }
    return read_head(scope)


def body_of(*messages: MutableMapping[str, Any]) -> bytes | None:
    waiting = list(messages)

    async def receive() -> MutableMapping[str, Any]:
        return waiting.pop(0)

    return asyncio.run(read_body(receive))


@pytest.mark.parametrize(
    ("accepted", "headers"),
    [
        (True, ["gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.5", "x-gzip", "gzip;q=0", "gzip; q=0.0"]),
        (False, ["gzip;q=0.0", "GZIP", "identity", "*", ""]),
    ],
)
def test_of_weights_of_gzip_only_those_with_a_fraction_count(accepted: bool, headers: list[str]) -> None:
    assert {header: request(accept_encoding=header).accepts("gzip") for header in headers} == dict.fromkeys(
        headers, accepted
    )


def test_each_coding_is_asked_for_by_its_name() -> None:
    asked = request(accept_encoding="zstd, br;q=0, deflate; q=0.5")
    named = ("zstd", "deflate", "br", "gzip", "std")
    assert [asked.accepts(coding) for coding in named] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("headers", "language"),
    [({}, None), ({"accept_language": "de-AT, en;q=0.5"}, "de-AT"), ({"accept_language": "*"}, "und")],
)
def test_only_the_first_language_counts(headers: dict[str, str], language: str | None) -> None:
    assert request(**headers).language == language


def test_what_is_not_sent_is_none() -> None:
    bare = request()
    assert (bare.request_id, bare.host, bare.accepts("gzip")) == (None, "", False)
    assert request(x_request_id="abc", host="en.wikipedia.org").request_id == "abc"


def test_the_path_is_there_decoded_and_as_sent() -> None:
    asked = request("/w/A/B", b"/w/A%2FB")
    assert (asked.path, asked.raw_path, asked.query) == ("/w/A/B", "/w/A%2FB", "a=1&b=%20")


def test_only_methods_that_write_have_a_body() -> None:
    methods = ("GET", "HEAD", "OPTIONS", "POST", "PUT")
    assert [method for method in methods if has_body(request(method=method))] == ["POST", "PUT"]


def test_a_body_is_read_to_its_end() -> None:
    first = {"type": "http.request", "body": b"ab", "more_body": True}
    assert body_of(first, {"type": "http.request", "body": b"c"}) == b"abc"
    assert body_of(first, {"type": "http.disconnect"}) is None


def test_a_body_without_end_is_refused() -> None:
    piece = {"type": "http.request", "body": b"x" * (MOST_BODY_BYTES // 2 + 1), "more_body": True}
    with pytest.raises(BodyTooLarge):
        body_of(piece, piece)


def ask_app(peer: str, path: str, access: Access, authorization: str | None = None) -> Answer:
    clock = Clock()
    app = create_app(Worlds(World(1, [], (), clock), clock), access)
    return ask(app, path, headers={"authorization": authorization} if authorization else {}, client=peer)


@pytest.mark.parametrize(
    ("peer", "path", "status"),
    [
        ("127.0.0.1", "/__mock/state", 200),
        ("172.17.0.1", "/__mock/state", 200),
        ("192.0.2.1", "/__mock/state", 403),
        ("192.0.2.1", "/__mock", 403),
        ("192.0.2.1", "/metrics", 403),
        ("192.0.2.1", "/docs", 403),
        ("192.0.2.1", "/openapi.json", 403),
        ("127.0.0.1", "/metrics", 200),
        ("192.0.2.1", "/__mockery", 404),
        ("192.0.2.1", "/w/rest.php/v1/revision/5/html", 404),
    ],
)
def test_the_control_answers_from_where_it_may_and_the_wiki_from_everywhere(peer: str, path: str, status: int) -> None:
    assert ask_app(peer, path, Access((NETWORK,))).status == status


def test_who_may_not_control_is_told_who_may() -> None:
    body = ask_app("192.0.2.1", "/__mock/state", Access((NETWORK,))).body
    assert b"192.0.2.1" in body
    assert b"the control answers on loopback and in 172.16.0.0/12 only" in body
    assert b"--allow-control" in body


@pytest.mark.parametrize(
    ("path", "authorization", "status"),
    [
        ("/__mock/state", None, 401),
        ("/__mock/state", "Bearer wrong", 401),
        ("/__mock/state", "Bearer secret", 200),
        ("/metrics", None, 401),
        ("/metrics", "Bearer secret", 200),
        ("/__mock/", None, 200),
        ("/__mock/page.js", None, 200),
        ("/docs", None, 200),
        ("/w/rest.php/v1/revision/5/html", None, 404),
    ],
)
def test_with_a_token_only_what_shows_no_state_goes_without(path: str, authorization: str | None, status: int) -> None:
    assert ask_app("192.0.2.1", path, Access(token="secret"), authorization).status == status
