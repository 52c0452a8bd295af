"""A wiki in which every kind of page is, and a client that asks the routes without a server."""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.api.endpoint import Context, Endpoint
from mockapi.api.routes import find
from mockapi.clock import Clock
from mockapi.plan import NOTHING, Plan
from mockapi.rules.matching import Target
from mockapi.server.request import Request
from mockapi.wiki.catalog import CatalogPage
from mockapi.world import World
from tests.unit.mockapi.asgi import Answer

AT = "2026-03-04T05:06:07Z"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def page(
    page_id: int, title: str, *texts: str | None, hidden: Mapping[int, list[str]] | None = None, **more: Any
) -> CatalogPage:
    low = page_id * 4096
    revisions = [
        {
            "rev_id": low + n,
            "parent_id": low + n - 1 if n > 1 else 0,
            "timestamp": AT,
            "text": text,
            "user": "Ada",
            "user_id": 7,
            "comment": f"comment {n}",
            "hidden": (hidden or {}).get(n, []),
        }
        for n, text in enumerate(texts, start=1)
    ]
    fields = {"wiki": "enwiki", "domain": "en.wikipedia.org", "namespace_id": 0, **more}
    return CatalogPage.model_validate({**fields, "page_id": page_id, "title": title, "revisions": revisions})


PAGES = (
    page(1, "Old harbour", "one", "two ''words''"),
    page(2, "Redirect", "#REDIRECT [[old harbour#Quay]]"),
    page(3, "Loop", "#REDIRECT [[Loop]]"),
    page(4, "Talk:Ä/b?", "talk", namespace_id=1),
    page(5, "Gone", "text", deleted=True),
    page(6, "Hidden", "one", "two", "three", hidden={1: ["text"], 2: ["user", "comment"]}),
    page(7, "MediaWiki:Common.css", "a{}", namespace_id=8, content_model="css"),
    page(8, "Generated", None, None),
)


class Client:
    """Asks the routes of one world; `plan` is effective for all, `plans` for a revision where it is looked at alone."""

    def __init__(self, *more: CatalogPage, **state: Any) -> None:
        self.world = World(1, (*PAGES, *more), (), Clock(now=lambda: NOW), **state)
        self.plan = NOTHING
        self.plans: dict[int | None, Plan] = {}

    def endpoint(self, path: str, *, method: str = "GET", host: str = "en.wikipedia.org") -> Endpoint:
        return find(self._request(path, method, {"host": host}, b""), self.world)

    def ask(
        self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: object = b""
    ) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = self._request(path, method, {"host": "en.wikipedia.org", **(headers or {})}, data)
        endpoint = find(request, self.world)

        def plan_of(target: Target) -> Plan:
            return self.plans.get(target.revision, self.plan)

        reply = asyncio.run(endpoint.reply(Context(self.world, request, "id", self.plan, plan_of)))
        headers_text = tuple((name.decode(), value.decode("latin-1")) for name, value in reply.headers)
        return Answer(reply.status, headers_text, b"".join(reply.body.pieces()))

    def rest(self, path: str, **more: Any) -> Answer:
        return self.ask(f"/w/rest.php/v1/{path}", **more)

    @staticmethod
    def _request(path: str, method: str, headers: Mapping[str, str], body: bytes) -> Request:
        raw, _, query = path.partition("?")
        return Request(method, raw, raw, query, headers, "192.0.2.1", body)


@pytest.fixture
def wiki() -> Client:
    return Client()


@pytest.fixture
def german() -> CatalogPage:
    """A page of another wiki, with the id of one of the first."""
    return page(1, "Hafen", "eins", "zwei", wiki="dewiki", domain="de.wikipedia.org")


@pytest.fixture
def make_wiki() -> Callable[..., Client]:
    return Client
