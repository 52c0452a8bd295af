from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from ruamel.yaml import YAML

from mockapi.clock import Clock
from mockapi.control.docs import docs_page
from mockapi.control.fault_list import GROUPS, described, rule_example
from mockapi.control.journal_routes import journal_routes
from mockapi.control.openapi import document
from mockapi.control.page_routes import watch_routes
from mockapi.control.rule_routes import RULE, RULES, SWITCH, rule_routes
from mockapi.control.state_routes import NEW_STATE, state_routes
from mockapi.faults.registry import FAULTS
from mockapi.rules.model import Do, Rule
from mockapi.world import World, Worlds

LISTED = {fault.name: fault for fault in described()}


@pytest.fixture(scope="module")
def openapi_document() -> dict[str, Any]:
    clock = Clock()
    worlds = Worlds(World(1, [], (), clock), clock)
    app = FastAPI()
    app.include_router(watch_routes(worlds))
    for routes in (state_routes(worlds), rule_routes(worlds), journal_routes(worlds)):
        app.include_router(routes, prefix="/__mock")
    return document(app.routes, (NEW_STATE, RULE, RULES, SWITCH))


def operations(openapi_document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, one) for path, item in openapi_document["paths"].items() for method, one in item.items()]


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for one in value for name in references(one)}
    if not isinstance(value, dict):
        return set()
    here = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return here.union(*(references(one) for one in value.values()))


def test_control_and_wiki_are_in_it(openapi_document: dict[str, Any]) -> None:
    paths = openapi_document["paths"]
    assert set(paths["/__mock/rules"]) == {"get", "put", "post", "delete"}
    assert set(paths["/__mock/rules/{name}"]) == {"get", "put", "patch", "delete"}
    assert {"/metrics", "/w/api.php", "/w/rest.php/v1/revision/{id}/html"} <= set(paths)
    assert all(one["tags"] and one["summary"] for _, _, one in operations(openapi_document))


def test_all_that_is_referred_to_is_there(openapi_document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in openapi_document["components"]["schemas"]}
    assert references(openapi_document) <= known
    assert len(references(openapi_document)) > 10


def test_what_changes_something_says_what_it_takes_and_how_it_refuses(openapi_document: dict[str, Any]) -> None:
    bodies = [
        one for _, method, one in operations(openapi_document) if method in ("put", "patch") or "requestBody" in one
    ]
    assert len(bodies) == 5
    for one in bodies:
        assert one["requestBody"]["content"]["application/json"]["examples"]
        assert {"413", "415", "422"} <= set(one["responses"])


def test_every_parameter_of_a_path_is_declared(openapi_document: dict[str, Any]) -> None:
    for path, _, one in operations(openapi_document):
        declared = {parameter["name"] for parameter in one.get("parameters", ()) if parameter["in"] == "path"}
        assert {part.strip("{}") for part in path.split("/") if part.startswith("{")} == declared, path


def test_the_page_has_all_of_it_and_needs_nothing_from_elsewhere(openapi_document: dict[str, Any]) -> None:
    page = docs_page(openapi_document)
    for path, method, _ in operations(openapi_document):
        assert f"<b>{method.upper()}</b> {path}</code>" in page
    assert all(f"<code>{name}</code>" in page for name in FAULTS)
    assert "<script" not in page
    assert not [part for part in page.split('src="')[1:] + page.split('href="')[1:] if part.startswith(("http", "//"))]


def test_the_page_escapes_what_it_shows(openapi_document: dict[str, Any]) -> None:
    path = "/__mock/<b>&"
    operation = {"tags": ["a<b"], "summary": "s<b", "responses": {"200": {"description": "d<b"}}}
    page = docs_page({**openapi_document, "paths": {path: {"get": operation}}})
    assert "<b>&" not in page
    assert all(f"{letter}&lt;b" in page for letter in "asd")


def test_every_key_of_do_is_a_fault_that_is_described() -> None:
    assert set(LISTED) == set(Do.model_fields)
    assert {fault.group for fault in LISTED.values()} == set(GROUPS)


def test_they_come_group_by_group_and_say_whether_they_depend_on_load() -> None:
    groups = [fault.group for fault in described()]
    assert groups == sorted(groups, key=list(GROUPS).index)
    assert (LISTED["capacity"].deterministic, LISTED["status"].deterministic) == (False, True)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_its_example_is_a_rule(name: str) -> None:
    document: dict[str, Any] = YAML(typ="safe", pure=True).load(rule_example(LISTED[name]))
    rule = Rule.model_validate(document)
    assert getattr(rule.do, name) is not None


@pytest.mark.parametrize("name", sorted(LISTED))
def test_its_parameters_are_those_that_are_checked(name: str) -> None:
    """What is none of them is an unknown key."""
    fault = LISTED[name]
    if not fault.parameters:
        return
    with pytest.raises(ValidationError) as raised:
        Rule.model_validate({"name": "x", "do": {name: {"no such key": 1}}, "ttl": "30s"})
    assert "extra_forbidden" in {error["type"] for error in raised.value.errors()}
    assert all(parameter.form != "anything" for parameter in fault.parameters)


@pytest.mark.parametrize(
    ("fault", "name", "form", "required"),
    [
        ("capacity", "parses", "whole number from 1", True),
        ("capacity", "overflow", "503 or 429", False),
        ("status", "code", "whole number from 200 to 599", True),
        ("latency", "p50", "duration", False),
    ],
)
def test_a_parameter_says_what_it_may_be(fault: str, name: str, form: str, required: bool) -> None:
    (parameter,) = [one for one in LISTED[fault].parameters if one.name == name]
    assert (parameter.form, parameter.required) == (form, required)
    assert LISTED["gateway_timeout"].parameters == ()


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("truncate", "size or share or {after, end, length}"),
        ("bandwidth", "size"),
        ("gateway_timeout", "duration"),
        ("status", "whole number or {code, body, retry_after, retry_after_as, headers}"),
    ],
)
def test_a_quantity_is_called_by_its_name(name: str, form: str) -> None:
    assert LISTED[name].form == form
