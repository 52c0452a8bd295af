"""The JSON that a write comes with, checked as MediaWiki checks it: the whole of it before anything happens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import orjson

from mockapi.api.rest.errors import RestError, bad_body
from mockapi.server.request import Request

_NO_TYPE: Final = "application/x-www-form-urlencoded"
_MODELS: Final = frozenset({"wikitext", "css", "javascript", "json", "text"})


@dataclass(frozen=True, slots=True)
class Draft:
    """What to write. `title` is None where the path has it, `base` is the revision it changes."""

    title: str | None
    source: str
    comment: str
    content_model: str | None
    base: int | None
    token: str | None

    @classmethod
    def read(cls, request: Request, *, titled: bool) -> Self:
        """The draft in the body of `request`: with its title if `titled`, else with its base. Raises RestError."""
        given = _json_object(request)
        source = _required(given, "source")
        title = _required(given, "title") if titled else None
        comment = _required(given, "comment")
        content_model = _text(given, "content_model")
        base = None if titled else _base(given)
        token = _text(given, "token")
        known = ("source", "title" if titled else "latest", "comment", "content_model", "token")
        _refuse_unknown(given, known)
        return cls(title, source, comment, content_model, base, token)

    def check_model(self) -> None:
        """Raises RestError for a content model that no wiki here has."""
        if self.content_model and self.content_model not in _MODELS:
            raise RestError(400, "rest-bad-content-model", f"Bad content model: {self.content_model}")


def _json_object(request: Request) -> Mapping[str, Any]:
    if not request.body:
        text = f"The {request.method} request method expects a request body"
        raise RestError(411, "rest-request-body-expected", text)
    kind = request.headers.get("content-type", _NO_TYPE).partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RestError(415, "rest-unsupported-content-type", f"Unsupported Content-Type: {kind}")
    try:
        given = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        given = None
    if isinstance(given, list):
        return {}
    if not isinstance(given, dict):
        text = "Parsing request body as JSON failed: not a valid JSON object"
        raise RestError(400, "rest-json-body-parse-error", text)
    return given


def _required(given: Mapping[str, Any], name: str) -> str:
    value = _text(given, name)
    if value is None:
        raise bad_body("missingparam", f'The "{name}" parameter must be set.', name=name, value=None)
    return value


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    shown = orjson.dumps(value).decode()
    text = f'Parameter "{name}" accepts only a string value, but got {shown}'
    raise bad_body("needstring", text, name=name, value=shown)


def _base(given: Mapping[str, Any]) -> int | None:
    latest = given.get("latest")
    if latest is None:
        return None
    shown = orjson.dumps(latest).decode()
    if not isinstance(latest, Mapping):
        text = "Invalid value for parameter <var>latest</var>: array expected."
        raise bad_body("notarray", text, name="latest", value=shown)
    base = latest.get("id")
    if isinstance(base, bool) or not isinstance(base, int):
        raise bad_body("schema-validation-failed", "Invalid value for provided schema", name="latest", value=shown)
    return base


def _refuse_unknown(given: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        first = {
            "error": "parameter-validation-failed",
            "failureCode": "extraneous-body-fields",
            "name": unknown[0],
            "failureData": unknown,
        }
        text = f"Extraneous fields found in request body: {', '.join(unknown)}"
        raise RestError(400, "rest-extraneous-body-fields", text, first=first)
