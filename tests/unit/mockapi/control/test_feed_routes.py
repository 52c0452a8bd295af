"""`/__mock/page-changes` as a client meets it."""

from datetime import UTC, datetime

import pytest

from mockapi.clock import Clock
from mockapi.control.access import LOOPBACK
from mockapi.control.control_app import control_app
from mockapi.wiki.people import Author
from mockapi.world import World, Worlds
from tests.unit.mockapi.asgi import Answer, ask

NOW = datetime(2026, 11, 27, 4, tzinfo=UTC)


@pytest.fixture
def worlds() -> Worlds:
    clock = Clock(now=lambda: NOW)
    return Worlds(World(1, None, (), clock), clock)


def asked(worlds: Worlds, query: str = "") -> Answer:
    app = control_app(worlds, LOOPBACK)
    return ask(app, "/__mock/page-changes", query=query, headers={"host": "127.0.0.1"})


def test_a_change_is_told_in_full(worlds: Worlds) -> None:
    (wiki,) = worlds.current.wikis
    worlds.current.overlay(wiki, "f00d").edit(wiki.title("Quay"), "one", by=Author("Admin", 1), summary="made")
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
    assert asked(worlds).json == feed
    assert asked(worlds, "after=1").json["entries"] == []


@pytest.mark.parametrize(
    ("query", "path"), [("after=-1", "after"), ("wait=61", "wait"), ("limit=0", "limit"), ("since=1", "since")]
)
def test_what_cannot_be_asked_is_refused(worlds: Worlds, query: str, path: str) -> None:
    answer = asked(worlds, query)
    assert (answer.status, [problem["path"] for problem in answer.json]) == (422, [path])
