"""What the control answers when it refuses: places, what is wrong there, and what to do."""

import asyncio
import json
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query
from fastapi.exceptions import RequestValidationError
from starlette.types import Message

from mockapi.control.refusal import refusals


@pytest.fixture
def app() -> FastAPI:
    routes = APIRouter()

    @routes.get("/list/{number}")
    async def listed(number: int, since: Annotated[int, Query(ge=0)], switch: bool = False) -> None:
        """Never reached."""

    app = FastAPI()
    app.include_router(routes)
    app.add_exception_handler(RequestValidationError, refusals(dict))
    return app


def answered(app: FastAPI, path: str, query: bytes) -> tuple[int, Any]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": []}
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize(
    ("path", "query", "place", "problem"),
    [
        ("/list/1", b"since=-1", "since", "must be greater than or equal to 0 (got '-1')"),
        ("/list/1", b"", "since", "is missing"),
        ("/list/1", b"since=0&switch=perhaps", "switch", "must be true or false (got 'perhaps')"),
        ("/list/x", b"since=0", "number", "must be a whole number"),
    ],
)
def test_a_parameter_that_does_not_fit_is_told_as_what_is_wrong_in_a_body(
    app: FastAPI, path: str, query: bytes, place: str, problem: str
) -> None:
    status, (refused,) = answered(app, path, query)
    assert (status, refused["path"]) == (422, place)
    assert problem in refused["problem"]
