"""The OpenAPI document: the control as its routes are, and the wiki's routes that only read, as MediaWiki has them.

Clients and fuzzers take it from `/openapi.json`; `docs` makes a page of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from mockapi.control.given_body import Given
from mockapi.control.wiki_paths import WIKI_PATHS

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


def document(routes: Sequence[BaseRoute], given: Sequence[Given[Any]]) -> dict[str, Any]:
    """The document for the control's `routes`, whose bodies are among `given`, and for the wiki's."""
    described = get_openapi(title="mockapi", version="1", summary="A mock MediaWiki", description=_ABOUT, routes=routes)
    schemas: dict[str, Any] = described.setdefault("components", {}).setdefault("schemas", {})
    for one in given:
        schemas.update(one.definitions)
    schemas["Problems"] = _PROBLEMS
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operations in described["paths"].values():
        for operation in operations.values():
            _tell_refusals(operation)
    described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    described["security"] = [{}, {"token": []}]
    described["paths"] = {**described["paths"], **WIKI_PATHS}
    return described


def _tell_refusals(operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    statuses = {"422"}
    if "requestBody" in operation:
        statuses |= {"413", "415"}
    if any(parameter["in"] == "path" for parameter in operation.get("parameters", ())):
        statuses.add("404")
    answers |= dict.fromkeys(sorted(statuses), _REFUSAL)


Document = Callable[[], Mapping[str, Any]]
"""Gives the document for a request; it is the same each time."""
