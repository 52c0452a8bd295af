"""The OpenAPI document: the control as its routes are, and the wiki's routes that only read, as MediaWiki has them.

Clients and fuzzers take it from `/openapi.json`; `docs` makes a page of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from mockapi.api.action.query.query import META, PROP
from mockapi.api.action.registry import ACTIONS
from mockapi.control.json_body import JsonBody

_ID: Final = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "Revision id: page_id · 4096 + n; 28674 is the second one of page 7",
    "schema": {"type": "integer"},
    "example": 28674,
}
_TITLE: Final = {
    "name": "title",
    "in": "path",
    "required": True,
    "description": "Page title; spaces and underscores mean the same",
    "schema": {"type": "string", "minLength": 1},
    "example": "Main Page",
}
_REVISION: Final = {"name": "revision", "in": "path", "required": True, "schema": {"type": "integer"}, "example": 28674}
_HEADERS: Final = [
    {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}},
    {"name": "Accept-Language", "in": "header", "schema": {"type": "string"}},
    {"name": "X-Request-Id", "in": "header", "description": "Attempts are counted by it", "schema": {"type": "string"}},
]
_HTML: Final[dict[str, Any]] = {"text/html": {}}
_JSON: Final = {"application/json": {"schema": {"type": "object"}}}


def _read(summary: str, content: dict[str, Any], *parameters: dict[str, Any], tag: str = "REST API") -> dict[str, Any]:
    answers = {
        "200": {"description": "As it is, unless a rule has another answer", "content": content},
        "304": {"description": "Not changed since the ETag of If-None-Match"},
        "404": {"description": "Unknown page or revision", "content": _JSON},
        "default": {"description": "An error of the wiki, or a rule's answer"},
    }
    operation = {"tags": [tag], "summary": summary, "parameters": [*parameters, *_HEADERS], "responses": answers}
    return {"get": operation}


def _rest() -> dict[str, Any]:
    forms = {
        "": ("with its source", _JSON),
        "/bare": ("and where its HTML is", _JSON),
        "/html": ("as HTML", _HTML),
        "/with_html": ("with its HTML", _JSON),
    }
    things = {"revision/{id}": ("A revision", _ID), "page/{title}": ("A page", _TITLE)}
    return {
        f"/w/rest.php/{root}{thing}{form}": _read(f"{what} {how}", content, parameter)
        for root in ("v1/", "content/v1/")
        for thing, (what, parameter) in things.items()
        for form, (how, content) in forms.items()
    }


def _parameter(
    name: str, *, example: object = None, allowed: list[str] | None = None, what: str = ""
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"} if allowed is None else {"type": "string", "enum": allowed}
    parameter: dict[str, Any] = {"name": name, "in": "query", "schema": schema}
    return parameter | ({"example": example} if example is not None else {}) | ({"description": what} if what else {})


_ACTION: Final = _read(
    "The Action API",
    _JSON,
    _parameter(
        "action", example="query", allowed=sorted(action.name for action in ACTIONS.values() if not action.writes)
    ),
    _parameter("format", example="json", allowed=["json"]),
    _parameter("formatversion", example="2", allowed=["1", "2"]),
    _parameter("prop", example="revisions", what=", ".join(PROP)),
    _parameter("meta", what=", ".join(META)),
    _parameter("revids", example="28674", what="Revision ids, separated by |"),
    _parameter("titles", what="Page titles, separated by |"),
    _parameter("pageids", what="Page ids, separated by |"),
    _parameter("rvprop", example="ids|timestamp|content"),
    _parameter("rvslots", example="main"),
    _parameter("rvlimit"),
    _parameter("maxlag", what="Seconds; replicas that are further behind are an error with Retry-After"),
    tag="Action API",
)

WIKI_PATHS: Final[dict[str, Any]] = {
    **_rest(),
    "/api/rest_v1/page/html/{title}": _read("A page as RESTBase gave it", _HTML, _TITLE, tag="RESTBase"),
    "/api/rest_v1/page/html/{title}/{revision}": _read(
        "A revision as RESTBase gave it", _HTML, _TITLE, _REVISION, tag="RESTBase"
    ),
    "/w/api.php": _ACTION,
}
"""Path items by path."""


_ABOUT: Final = (
    "A mock of MediaWiki's HTTP API with deterministic pages and injectable faults. The wiki is chosen by the Host "
    "header; on an address, by the revision, or the only wiki there is. What the control refuses, it refuses as a list "
    "of {path, problem, hint}, and nothing is half-applied."
)
_PROBLEMS: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["path", "problem", "hint"],
        "properties": {
            "path": {"type": "string"},
            "problem": {"type": "string"},
            "hint": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    },
}
_REFUSAL: Final = {
    "description": "Refused; nothing has changed",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problems"}}},
}


def document(routes: Sequence[BaseRoute], given: Sequence[JsonBody[Any]]) -> dict[str, Any]:
    """The document for the control's `routes`, whose bodies are among `given`, and for the wiki's."""
    described = get_openapi(title="mockapi", version="1", summary="A mock MediaWiki", description=_ABOUT, routes=routes)
    schemas: dict[str, Any] = described.setdefault("components", {}).setdefault("schemas", {})
    for body in given:
        schemas.update(body.definitions)
    schemas["Problems"] = _PROBLEMS
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    bodies = {body.reference: body for body in given}
    for operations in described["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                operation["requestBody"] = bodies[operation["requestBody"]["$ref"]].described
            _add_refusals(operation)
    described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    described["security"] = [{}, {"token": []}]
    described["paths"] = {**described["paths"], **WIKI_PATHS}
    return described


def _add_refusals(operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    statuses = {"422"}
    if "requestBody" in operation:
        statuses |= {"413", "415"}
    if any(parameter["in"] == "path" for parameter in operation.get("parameters", ())):
        statuses.add("404")
    answers |= dict.fromkeys(sorted(statuses), _REFUSAL)


Document = Callable[[], Mapping[str, Any]]
"""Gives the document for a request; it is the same each time."""
