"""`/__mock/page-changes` as a client meets it."""

import asyncio
import json
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.control.access import LOOPBACK
from mockapi.control.control_app import control_app
from mockapi.wiki.people import Author
from mockapi.world import World, Worlds

NOW = datetime(2026, 11, 27, 4, tzinfo=UTC)


@pytest.fixture
def worlds() -> Worlds:
    clock = Clock(now=lambda: NOW)
    return Worlds(World(1, None, (), clock), clock)


def asked(worlds: Worlds, query: str = "") -> tuple[int, Any]:
    """Status and JSON of the answer."""
    messages: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/__mock/page-changes",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 5),
        "query_string": query.encode(),
    }

    async def ask() -> None:
        await control_app(worlds, LOOPBACK)(scope, receive, send)

    asyncio.run(ask())
    body = b"".join(message.get("body", b"") for message in messages)
    return messages[0]["status"], json.loads(body)


def test_a_change_is_told_in_full(worlds: Worlds) -> None:
    (wiki,) = worlds.current.wikis
    worlds.current.overlay(wiki, "f00d").edit(wiki.title("Quay"), "one", by=Author("Admin", 1), summary="made")
    admin = {
        "name": "Admin",
        "id": 1,
        "groups": ["bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed"],
    }
    assert asked(worlds)[1] == {
        "feed": "2026-11-27T04:00:00.000000+00:00",
        "epoch": 1,
        "first": 1,
        "last": 1,
        "entries": [
            {
                "n": 1,
                "epoch": 1,
                "change": {
                    "kind": "create",
                    "wiki": "enwiki",
                    "domain": "en.wikipedia.org",
                    "at": "2026-11-27T04:00:00Z",
                    "request_id": "f00d",
                    "page": {
                        "namespace_id": 0,
                        "title": "Quay",
                        "page_id": 1002,
                        "content_model": "wikitext",
                        "revision_count": 1,
                    },
                    "revision": {
                        "rev_id": 4104193,
                        "parent_id": 0,
                        "content_rev_id": 4104193,
                        "timestamp": "2026-11-27T04:00:00Z",
                        "user": admin,
                        "comment": "made",
                        "minor": False,
                        "size": 3,
                        "sha1": "fe05bcdcdc4928012781a5f1a2a77cbb5398e106",
                        "hidden": [],
                        "suppressed": False,
                    },
                    "performer": admin,
                },
            }
        ],
    }
    assert asked(worlds, "after=1")[1]["entries"] == []


@pytest.mark.parametrize(
    ("query", "path"),
    [("after=-1", "after"), ("wait=61", "wait"), ("limit=0", "limit"), ("since=1", "since")],
)
def test_what_cannot_be_asked_is_refused(worlds: Worlds, query: str, path: str) -> None:
    status, problems = asked(worlds, query)
    assert (status, [problem["path"] for problem in problems]) == (422, [path])
