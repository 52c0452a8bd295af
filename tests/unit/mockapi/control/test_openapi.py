from typing import Any

import pytest
from fastapi import FastAPI

from mockapi.clock import Clock
from mockapi.control.docs import docs_page
from mockapi.control.journal_routes import journal_routes
from mockapi.control.openapi import document
from mockapi.control.page_routes import watch_routes
from mockapi.control.rule_routes import RULE, RULES, SWITCH, rule_routes
from mockapi.control.state_routes import NEW_STATE, state_routes
from mockapi.faults.registry import FAULTS
from mockapi.world import World, Worlds


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    clock = Clock()
    worlds = Worlds(World(1, [], (), clock), clock)
    app = FastAPI()
    app.include_router(watch_routes(worlds))
    for routes in (state_routes(worlds), rule_routes(worlds), journal_routes(worlds)):
        app.include_router(routes, prefix="/__mock")
    return document(app.routes, (NEW_STATE, RULE, RULES, SWITCH))


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, one) for path, item in described["paths"].items() for method, one in item.items()]


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for one in value for name in references(one)}
    if not isinstance(value, dict):
        return set()
    here = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return here.union(*(references(one) for one in value.values()))


def test_control_and_wiki_are_in_it(described: dict[str, Any]) -> None:
    paths = described["paths"]
    assert set(paths["/__mock/rules"]) == {"get", "put", "post", "delete"}
    assert set(paths["/__mock/rules/{name}"]) == {"get", "put", "patch", "delete"}
    assert {"/metrics", "/w/api.php", "/w/rest.php/v1/revision/{id}/html"} <= set(paths)
    assert all(one["tags"] and one["summary"] for _, _, one in operations(described))


def test_all_that_is_referred_to_is_there(described: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert references(described) <= known
    assert len(references(described)) > 10


def test_what_changes_something_says_what_it_takes_and_how_it_refuses(described: dict[str, Any]) -> None:
    bodies = [one for _, method, one in operations(described) if method in ("put", "patch") or "requestBody" in one]
    assert len(bodies) == 5
    for one in bodies:
        assert one["requestBody"]["content"]["application/json"]["examples"]
        assert {"413", "415", "422"} <= set(one["responses"])


def test_every_parameter_of_a_path_is_declared(described: dict[str, Any]) -> None:
    for path, _, one in operations(described):
        declared = {parameter["name"] for parameter in one.get("parameters", ()) if parameter["in"] == "path"}
        assert {part.strip("{}") for part in path.split("/") if part.startswith("{")} == declared, path


def test_the_page_has_all_of_it_and_needs_nothing_from_elsewhere(described: dict[str, Any]) -> None:
    page = docs_page(described)
    for path, method, _ in operations(described):
        assert f"<b>{method.upper()}</b> {path}</code>" in page
    assert all(f"<code>{name}</code>" in page for name in FAULTS)
    assert "<script" not in page
    assert not [part for part in page.split('src="')[1:] + page.split('href="')[1:] if part.startswith(("http", "//"))]


def test_the_page_escapes_what_it_shows(described: dict[str, Any]) -> None:
    path = "/__mock/<b>&"
    operation = {"tags": ["a<b"], "summary": "s<b", "responses": {"200": {"description": "d<b"}}}
    page = docs_page({**described, "paths": {path: {"get": operation}}})
    assert "<b>&" not in page
    assert all(f"{letter}&lt;b" in page for letter in "asd")
