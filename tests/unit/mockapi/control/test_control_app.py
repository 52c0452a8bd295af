"""The control as requests meet it: each that changes something is counted, with who made it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.rules.model import Rule
from mockapi.server.app import create_app
from mockapi.world import ProcessOptions, World, Worlds
from tests.unit.mockapi.asgi import ask
from tests.unit.mockapi.conftest import make_page

GONE = {"name": "gone", "do": {"status": 404}}
SLOW = {"name": "slow", "do": {"latency": "40ms"}}


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
