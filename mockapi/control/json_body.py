"""What is given to the control in a body: checked as a whole before anything changes."""

from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect

from located_config.schema import AsWritten
from mockapi.control.refusal import Problem, Refusal, problems

MOST_BODY_BYTES: Final = 256 * 1024 * 1024
_MODEL_REF: Final = "#/components/schemas/{model}-Input"

T = TypeVar("T")


class JsonBody(Generic[T]):
    """A body that must fit `shape`, a model or an annotation of models. `name` and `examples` are for the OpenAPI
    document.
    """

    def __init__(self, name: str, shape: Any, examples: Mapping[str, object]) -> None:
        self.reference = f"#/components/requestBodies/{name}"
        self._shape = shape
        self._adapter: TypeAdapter[T] = TypeAdapter(shape)
        self._examples = examples

    async def read(self, request: Request) -> T:
        """The body of `request`. Raises Refusal: 415 for what says that it is no JSON, 413, else 422."""
        _require_json(request.headers.get("content-type"))
        try:
            return self._adapter.validate_json(await _body(request))
        except ValidationError as error:
            raise Refusal(422, problems(error, self._shape)) from None

    @property
    def extra(self) -> dict[str, Any]:
        """What a route says of it in `openapi_extra`. The schema takes longer to make than a start should."""
        return {"requestBody": {"$ref": self.reference}}

    @property
    def described(self) -> dict[str, Any]:
        """What stands in the place of `reference` in the OpenAPI document; its models stand under `definitions`."""
        content = {
            "schema": self._schema()[0],
            "examples": {name: {"value": value} for name, value in self._examples.items()},
        }
        return {"required": True, "content": {"application/json": content}}

    @property
    def definitions(self) -> dict[str, Any]:
        """The schemas of its models by the names under which `described` refers to them."""
        return {f"{name}-Input": schema for name, schema in self._schema()[1].items()}

    def _schema(self) -> tuple[dict[str, Any], dict[str, Any]]:
        schema = self._adapter.json_schema(ref_template=_MODEL_REF, schema_generator=AsWritten)
        definitions = schema.pop("$defs", {})
        return schema, definitions


def _require_json(content_type: str | None) -> None:
    media_type = (content_type or "application/json").partition(";")[0].strip().lower()
    if media_type not in ("application/json", "text/json") and not media_type.endswith("+json"):
        hint = "send JSON as application/json; with curl: --json @FILE, or -H 'Content-Type: application/json'"
        raise Refusal(415, [Problem("content-type", f"{media_type!r} is not JSON", hint)])


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BODY_BYTES:
                raise Refusal(413, [Problem("", f"more than {MOST_BODY_BYTES} bytes", "send less at once")])
    except ClientDisconnect:
        # Not read.
        raise Refusal(400, [Problem("", "the client disconnected before the end of its body")]) from None
    return bytes(body)
