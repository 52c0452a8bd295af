"""A small wiki, and clients that keep cookies and ask its Action API through all of the mock but the server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from mockapi.clock import Clock
from mockapi.rules.model import Rule
from mockapi.server.request_handler import RequestHandler
from mockapi.wiki.catalog import CatalogPage
from mockapi.world import ProcessOptions, World, Worlds
from tests.unit.mockapi.asgi import Answer, ask

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ADDRESS = "192.0.2.1"


def page(page_id: int, title: str, *texts: str | None, wiki: str = "enwiki", **more: Any) -> CatalogPage:
    """A page whose revision n is of the n-th of March 2026."""
    low = page_id * 4096
    revisions = [
        {
            "rev_id": low + n,
            "parent_id": low + n - 1 if n > 1 else 0,
            "timestamp": f"2026-03-{n:02}T05:06:07Z",
            "text": text,
            "user": "Ada" if n % 2 else "192.0.2.9",
            "user_id": 7 if n % 2 else 0,
            "comment": f"comment {n}",
            "minor": n % 2 == 0,
        }
        for n, text in enumerate(texts, start=1)
    ]
    domain = f"{wiki.removesuffix('wiki')}.wikipedia.org"
    fields = {"wiki": wiki, "domain": domain, "namespace_id": 0, **more}
    return CatalogPage.model_validate({**fields, "page_id": page_id, "title": title, "revisions": revisions})


PAGES = (
    page(1, "Old harbour", "lead\n== A ==\naa\n=== B ===\nbb\n== C ==\ncc", "two", "three"),
    page(2, "To harbour", "#REDIRECT [[old harbour#Quay]]"),
    page(3, "To redirect", "#REDIRECT [[To harbour]]"),
    page(4, "Talk:Old harbour", "talk é 中 😀 \u2028", namespace_id=1),
    page(5, "Gone", "text", deleted=True),
    page(6, "User:Ada/common.js", "var a;", namespace_id=2, content_model="javascript"),
    page(7, "Generated", None),
)


class ApiAnswer(Answer):
    @property
    def error(self) -> tuple[str, str]:
        answer = self.json["error"]
        assert self["mediawiki-api-error"] == answer["code"]
        return answer["code"], answer["info"]


@dataclass
class Api:
    """One client. `get` and `post` take parameters, formatversion 2 by default; `ask` takes a request as it is."""

    worlds: Worlds
    cookies: dict[str, str] = field(default_factory=dict)
    host: str = "en.wikipedia.org"

    @property
    def world(self) -> World:
        return self.worlds.current

    def another(self) -> "Api":
        return Api(self.worlds)

    def get(self, **parameters: Any) -> ApiAnswer:
        return self.ask(_query(parameters))

    def post(self, **parameters: Any) -> ApiAnswer:
        return self.ask("", method="POST", body=_query(parameters).encode())

    def query(self, **parameters: Any) -> Any:
        return self.get(action="query", **parameters).json["query"]

    def ask(
        self,
        query: str,
        *,
        method: str = "GET",
        path: str = "/w/api.php",
        body: bytes = b"",
        content_type: str = "application/x-www-form-urlencoded",
        host: str = "",
        **headers: str,
    ) -> ApiAnswer:
        sent = {"host": host or self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if method == "POST":
            sent["content-type"] = content_type
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        made = ask(
            RequestHandler(self.worlds), path, method=method, query=query, headers=sent, body=body, client=ADDRESS
        )
        answer = ApiAnswer(made.status, made.headers, made.body)
        for name, value in answer.headers:
            if name == "set-cookie":
                key, _, content = value.partition(";")[0].partition("=")
                self.cookies[key] = content
        return answer

    def token(self, kind: str = "csrf") -> str:
        token: str = self.query(meta="tokens", type=kind)["tokens"][f"{kind}token"]
        return token

    def log_in(self, name: str = "Admin", password: str = "dockerpass") -> "Api":
        answer = self.post(action="login", lgname=name, lgpassword=password, lgtoken=self.token("login")).json
        assert answer["login"]["result"] == "Success"
        return self

    def write(self, action: str, **parameters: Any) -> Any:
        return self.post(action=action, token=self.token(), **parameters).json[action]


def _query(parameters: dict[str, Any]) -> str:
    return urlencode({"format": "json", "formatversion": 2, **parameters})


def client(*more: CatalogPage, rules: tuple[dict[str, Any], ...] = (), **options: Any) -> Api:
    clock = Clock(now=lambda: NOW)
    checked = tuple(Rule.model_validate(rule) for rule in rules)
    world = World(1, (*PAGES, *more), checked, clock, options=ProcessOptions(**options))
    return Api(Worlds(world, clock))


@pytest.fixture
def api() -> Api:
    return client()


@pytest.fixture
def admin(api: Api) -> Api:
    return api.log_in()


@pytest.fixture
def make_api() -> Callable[..., Api]:
    return client


@pytest.fixture
def make_page() -> Callable[..., CatalogPage]:
    return page
