"""The control as requests meet it: who may, what is counted, and how `/__mock/page-changes` is followed."""

import ipaddress
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.clock import Clock
from mockapi.control.access import LOOPBACK, Access, host_name, may_control
from mockapi.control.control_app import control_app
from mockapi.rules.model import Rule
from mockapi.server.app import create_app
from mockapi.wiki.people import Author
from mockapi.world import ProcessOptions, World, Worlds
from tests.unit.mockapi.asgi import Answer, ask
from tests.unit.mockapi.conftest import make_page

GONE = {"name": "gone", "do": {"status": 404}}
SLOW = {"name": "slow", "do": {"latency": "40ms"}}
NOW = datetime(2026, 11, 27, 4, tzinfo=UTC)
WIKI = "en.wikipedia.org"
NETWORKS = (ipaddress.ip_network("172.16.0.0/12"), ipaddress.ip_network("fd00::/16"))


@pytest.fixture
def worlds() -> Worlds:
    clock = Clock(now=lambda: datetime(2026, 11, 22, tzinfo=UTC))
    return Worlds(World(1, [], (Rule.model_validate(GONE),), clock), clock)


def asked(worlds: Worlds, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Any:
    """The answer's JSON, None for no body."""
    data = b"" if body is None else json.dumps(body).encode()
    return ask(create_app(worlds), path, method=method, headers=headers, body=data).json


@pytest.mark.parametrize(
    ("method", "path", "body", "action", "rules"),
    [
        ("PUT", "/__mock/state", {"seed": 1}, "populated", []),
        ("POST", "/__mock/reset", None, "reset", []),
        ("PUT", "/__mock/rules", [SLOW], "replaced", ["gone", "slow"]),
        ("POST", "/__mock/rules", SLOW, "added", ["slow"]),
        ("DELETE", "/__mock/rules", None, "removed", ["gone"]),
        ("PUT", "/__mock/rules/gone", GONE, "replaced", ["gone"]),
        ("PUT", "/__mock/rules/slow", SLOW, "added", ["slow"]),
        ("PATCH", "/__mock/rules/gone", {"enabled": False}, "switched off", ["gone"]),
        ("PATCH", "/__mock/rules/gone", {"enabled": True}, "switched on", ["gone"]),
        ("DELETE", "/__mock/rules/gone", None, "removed", ["gone"]),
        ("DELETE", "/__mock/journal", None, "emptied the journal", []),
    ],
)
def test_each_change_is_noted_with_who_made_it(
    worlds: Worlds, method: str, path: str, body: object, action: str, rules: list[str]
) -> None:
    asked(worlds, method, path, body, {"User-Agent": "curl/8.5"})
    (change,) = asked(worlds, "GET", "/__mock/journal/changes")
    assert (change["n"], change["action"], change["rules"]) == (1, action, rules)
    assert (change["client"], change["author"]) == ("127.0.0.1", "curl/8.5")
    assert asked(worlds, "GET", "/__mock/journal/counts")["revision"] == 1


def test_a_client_may_call_itself_something_else(worlds: Worlds) -> None:
    headers = {"User-Agent": "curl/8.5", "X-Changed-By": "devkit fault"}
    asked(worlds, "POST", "/__mock/rules", SLOW, headers)
    (change,) = asked(worlds, "GET", "/__mock/journal/changes")
    assert change["author"] == "devkit fault"


def test_a_catalog_that_does_not_fit_the_base_url_is_refused(worlds: Worlds) -> None:
    clock = worlds.clock
    options = ProcessOptions(base_url="http://127.0.0.1:8090")
    based = Worlds(World(1, [], (Rule.model_validate(GONE),), clock, options=options), clock)
    pages = [make_page(wiki=f"{code}wiki", domain=f"{code}.wikipedia.org") for code in ("de", "en")]
    catalog = [page.model_dump(mode="json") for page in pages]
    (problem,) = asked(based, "PUT", "/__mock/state", {"seed": 2, "catalog": catalog})
    assert problem["path"] == "catalog"
    assert "the catalog has 2 wikis" in problem["problem"]
    assert problem["hint"].startswith("put {domain} in place of the host")
    assert based.current.seed == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/__mock/rules", GONE),
        ("PUT", "/__mock/rules", [{"name": "x"}]),
        ("DELETE", "/__mock/rules/other", None),
        ("PATCH", "/__mock/rules/other", {"enabled": True}),
        ("GET", "/__mock/rules", None),
    ],
)
def test_what_is_refused_or_only_reads_is_no_change(worlds: Worlds, method: str, path: str, body: object) -> None:
    asked(worlds, method, path, body)
    assert worlds.changes.revision == 0


@pytest.fixture
def fed_worlds() -> Worlds:
    clock = Clock(now=lambda: NOW)
    return Worlds(World(1, None, (), clock), clock)


def ask_feed(fed_worlds: Worlds, query: str = "") -> Answer:
    app = control_app(fed_worlds, LOOPBACK)
    return ask(app, "/__mock/page-changes", query=query, headers={"host": "127.0.0.1"})


def test_a_change_is_told_in_full(fed_worlds: Worlds) -> None:
    (wiki,) = fed_worlds.current.wikis
    fed_worlds.current.overlay(wiki, "f00d").edit(wiki.title("Quay"), "one", by=Author("Admin", 1), summary="made")
    at, groups = "2026-11-27T04:00:00Z", ["bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed"]
    admin = {"name": "Admin", "id": 1, "groups": groups}
    page = {"namespace_id": 0, "title": "Quay", "page_id": 1002, "content_model": "wikitext", "revision_count": 1}
    revision = {
        "rev_id": 4104193,
        "parent_id": 0,
        "content_rev_id": 4104193,
        "timestamp": at,
        "user": admin,
        "comment": "made",
        "minor": False,
        "size": 3,
        "sha1": "fe05bcdcdc4928012781a5f1a2a77cbb5398e106",
        "hidden": [],
        "suppressed": False,
    }
    change = {
        "kind": "create",
        "wiki": "enwiki",
        "domain": "en.wikipedia.org",
        "at": at,
        "request_id": "f00d",
        "page": page,
        "revision": revision,
        "performer": admin,
    }
    entries = [{"n": 1, "epoch": 1, "change": change}]
    feed = {"feed": "2026-11-27T04:00:00.000000+00:00", "epoch": 1, "first": 1, "last": 1, "entries": entries}
    assert ask_feed(fed_worlds).json == feed
    assert ask_feed(fed_worlds, "after=1").json["entries"] == []


@pytest.mark.parametrize(
    ("query", "path"), [("after=-1", "after"), ("wait=61", "wait"), ("limit=0", "limit"), ("since=1", "since")]
)
def test_what_cannot_be_asked_is_refused(fed_worlds: Worlds, query: str, path: str) -> None:
    answer = ask_feed(fed_worlds, query)
    assert (answer.status, [problem["path"] for problem in answer.json]) == (422, [path])


def status(
    access: Access = LOOPBACK, client: str = "127.0.0.1", *, open_page: bool = False, **headers: str
) -> int | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    denial = access.denial(client, named, ours=lambda host: host == WIKI, open_page=open_page)
    return None if denial is None else denial.status


OWN = ("127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1")
ALLOWED = ("172.17.0.1", "::ffff:172.17.0.1", "fd00::5")
STRANGERS = ("10.0.0.1", "::ffff:10.0.0.1", "172.32.0.1", "fd01::5", "localhost", "")


@pytest.mark.parametrize("address", [*OWN, *ALLOWED, *STRANGERS])
def test_the_own_machine_may_control_and_networks_that_are_allowed(address: str) -> None:
    assert may_control(address) is (address in OWN)
    assert may_control(address, NETWORKS) is (address in (*OWN, *ALLOWED))
    assert status(client=address) == (None if address in OWN else 403)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "localhost:80", "app.localhost", "mock-api:8080", "", WIKI],
)
def test_a_name_that_no_stranger_can_have_is_let_in(host: str) -> None:
    assert status(host=host) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_a_name_that_was_made_to_lead_here_is_not(host: str) -> None:
    """DNS rebinding: the browser believes that the mock is its page's own site, so it sends no foreign Origin."""
    assert status(host=host) == 403
    assert status(host=host, origin=f"http://{host}") == 403
    assert status(Access(token="t"), host=host) == 403
    assert status(Access(token="t"), host=host, authorization="Bearer t") is None


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://127.0.0.1:8080", True),
        ("https://127.0.0.1:8080", True),
        ("http://127.0.0.1:3000", False),
        ("https://evil.example", False),
        ("null", False),
    ],
)
def test_only_a_page_from_here_may_ask(origin: str, allowed: bool) -> None:
    assert (status(host="127.0.0.1:8080", origin=origin) is None) is allowed


def test_with_a_token_everybody_needs_it_and_nothing_else() -> None:
    access = Access(token="secret")
    assert status(access) == 401
    assert status(access, open_page=True) is None
    for client in ("127.0.0.1", "192.0.2.1"):
        assert status(access, client, authorization="Bearer secret") is None
        assert status(access, client, authorization="bearer  secret ") is None


def test_networks_narrow_a_token() -> None:
    access = Access(NETWORKS, "secret")
    assert status(access, "192.0.2.1", authorization="Bearer secret") == 403
    assert status(access, "172.17.0.1", authorization="Bearer secret") is None
    assert status(access, "172.17.0.1") == 401


@given(st.text(max_size=20))
def test_no_other_text_is_the_token(shown: str) -> None:
    expected = None if shown.strip() == "secret" else 401
    assert status(Access(token="secret"), authorization=f"Bearer {shown}") == expected


@pytest.mark.parametrize(
    "shown", ["Basic secret", "secret", "Bearer", "Bearer secre", "Bearer secret2", "Bearer sécret"]
)
def test_what_is_nearly_the_token_is_not(shown: str) -> None:
    assert status(Access(token="secret"), authorization=shown) == 401


def test_without_a_token_a_header_changes_nothing() -> None:
    assert status(authorization="Bearer anything") is None
    assert status(host="evil.example", authorization="Bearer ") == 403


@pytest.mark.parametrize(
    ("host", "name"), [("A.example:80", "a.example"), ("[::1]:80", "::1"), ("::1", "::1"), ("a", "a"), ("", "")]
)
def test_the_name_of_a_host(host: str, name: str) -> None:
    assert host_name(host) == name
