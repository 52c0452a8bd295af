"""Bodies and parameters that the control takes, and what it answers when it refuses."""

import asyncio
import re
from collections.abc import MutableMapping
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, TypeAdapter, ValidationError

from mockapi.control import json_body as given_module
from mockapi.control.json_body import JsonBody
from mockapi.control.refusal import Problem, Refusal, problems, refusals
from mockapi.control.rule_routes import RULE, RULES, SWITCH
from mockapi.control.state_routes import NEW_STATE
from mockapi.rules.model import Rule
from tests.unit.mockapi.asgi import ask

GIVEN = {"rule": RULE, "rules": RULES, "switch": SWITCH, "state": NEW_STATE}


def request(*pieces: bytes, content_type: str | None = None, leaves: bool = False) -> Request:
    headers = [] if content_type is None else [(b"content-type", content_type.encode())]
    messages: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": piece, "more_body": True} for piece in pieces
    ]
    end = {"type": "http.disconnect"} if leaves else {"type": "http.request", "body": b"", "more_body": False}
    coming = iter([*messages, end])

    async def receive() -> MutableMapping[str, Any]:
        return next(coming)

    return Request({"type": "http", "method": "PUT", "headers": headers}, receive)


def refused(given: JsonBody[Any], asked: Request) -> Refusal:
    with pytest.raises(Refusal) as raised:
        asyncio.run(given.read(asked))
    return raised.value


def test_a_body_in_pieces_is_read_whole() -> None:
    rule = asyncio.run(RULE.read(request(b'{"name": "x", "do"', b': {"status": 404}}')))
    assert rule == Rule.model_validate({"name": "x", "do": {"status": 404}})


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8", "a/b+json", "text/json"]
)
def test_what_says_that_it_is_json_is_read(content_type: str) -> None:
    assert asyncio.run(SWITCH.read(request(b'{"enabled": true}', content_type=content_type))).enabled


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", "nonsense"]
)
def test_what_says_that_it_is_something_else_is_not(content_type: str) -> None:
    refusal = refused(SWITCH, request(b'{"enabled": true}', content_type=content_type))
    assert (refusal.status, refusal.problems[0].path) == (415, "content-type")


def test_a_client_that_leaves_is_no_defect() -> None:
    assert refused(SWITCH, request(b'{"ena', leaves=True)).status == 400


def test_a_body_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_module, "MOST_BODY_BYTES", 10)
    assert refused(SWITCH, request(b"123456", b"123456", b"never read")).status == 413


@pytest.mark.parametrize("name", GIVEN)
def test_its_examples_are_what_it_takes(name: str) -> None:
    body = GIVEN[name].described["content"]["application/json"]
    assert body["examples"]
    for example in body["examples"].values():
        JsonBody(name, GIVEN[name]._shape, {})._adapter.validate_python(example["value"])


@pytest.mark.parametrize("text", ["40ms", "1.5s", "0s", "2m", "1h", "10us"])
def test_a_time_is_described_as_it_is_written(text: str) -> None:
    pattern = RULES.definitions["Rule-Input"]["properties"]["ttl"]["anyOf"][0]["pattern"]
    assert re.search(pattern, text)
    assert not re.search(pattern, "PT2S")


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


@pytest.mark.parametrize(
    ("path", "query", "place", "problem"),
    [
        ("/list/1", "since=-1", "since", "must be greater than or equal to 0 (got '-1')"),
        ("/list/1", "", "since", "is missing"),
        ("/list/1", "since=0&switch=perhaps", "switch", "must be true or false (got 'perhaps')"),
        ("/list/x", "since=0", "number", "must be a whole number"),
    ],
)
def test_a_parameter_that_does_not_fit_is_told_as_what_is_wrong_in_a_body(
    app: FastAPI, path: str, query: str, place: str, problem: str
) -> None:
    answer = ask(app, path, query=query)
    (refused,) = answer.json
    assert (answer.status, refused["path"]) == (422, place)
    assert problem in refused["problem"]


class Wheel(BaseModel, extra="forbid"):
    spokes: int


def test_problems_of_an_answer_have_path_and_hint() -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(tuple[Wheel, ...]).validate_python([{"spokes": 1}, {"spoke": 2}])
    assert problems(raised.value, tuple[Wheel, ...]) == [Problem("[1].spoke", "unknown key", "did you mean 'spokes'?")]


def test_as_one_line() -> None:
    assert str(Problem("a.b", "wrong", "mend it")) == "a.b: wrong; mend it"
    assert str(Problem("", "wrong")) == "wrong"
