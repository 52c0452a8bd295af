"""The control as requests meet it: each that changes something is counted, with who made it."""

import asyncio
import json
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.rules.model import Rule
from mockapi.server.app import create_app
from mockapi.world import ProcessOptions, World, Worlds

GONE = {"name": "gone", "do": {"status": 404}}
SLOW = {"name": "slow", "do": {"latency": "40ms"}}


@pytest.fixture
def worlds() -> Worlds:
    clock = Clock(now=lambda: datetime(2026, 11, 22, tzinfo=UTC))
    return Worlds(World(1, [], (Rule.model_validate(GONE),), clock), clock)


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
    asyncio.run(asked(worlds, method, path, body, {"User-Agent": "curl/8.5"}))
    (change,) = asyncio.run(asked(worlds, "GET", "/__mock/journal/changes"))
    assert (change["n"], change["action"], change["rules"]) == (1, action, rules)
    assert (change["client"], change["author"]) == ("127.0.0.1", "curl/8.5")
    assert asyncio.run(asked(worlds, "GET", "/__mock/journal/counts"))["revision"] == 1


def test_a_client_may_call_itself_something_else(worlds: Worlds) -> None:
    headers = {"User-Agent": "curl/8.5", "X-Changed-By": "devkit fault"}
    asyncio.run(asked(worlds, "POST", "/__mock/rules", SLOW, headers))
    (change,) = asyncio.run(asked(worlds, "GET", "/__mock/journal/changes"))
    assert change["author"] == "devkit fault"


def test_a_catalog_that_does_not_fit_the_base_url_is_refused(worlds: Worlds) -> None:
    clock = worlds.clock
    options = ProcessOptions(base_url="http://127.0.0.1:8090")
    based = Worlds(World(1, [], (Rule.model_validate(GONE),), clock, options=options), clock)
    revisions = [{"rev_id": 4097, "parent_id": 0, "timestamp": "2026-01-01T00:00:00Z"}]
    catalog = [
        {
            "wiki": f"{code}wiki",
            "domain": f"{code}.wikipedia.org",
            "page_id": 1,
            "namespace_id": 0,
            "title": "A",
            "revisions": revisions,
        }
        for code in ("de", "en")
    ]
    (problem,) = asyncio.run(asked(based, "PUT", "/__mock/state", {"seed": 2, "catalog": catalog}))
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
    asyncio.run(asked(worlds, method, path, body))
    assert worlds.changes.revision == 0


async def asked(
    worlds: Worlds, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
) -> Any:
    """The answer's JSON, None for no body."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
        "client": ("127.0.0.1", 5),
        "query_string": b"",
    }
    messages: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        payload = b"" if body is None else json.dumps(body).encode()
        return {"type": "http.request", "body": payload, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    await create_app(worlds)(scope, receive, send)
    answer = b"".join(message.get("body", b"") for message in messages)
    return json.loads(answer) if answer else None
