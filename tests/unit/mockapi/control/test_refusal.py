"""What the control answers when it refuses: places, what is wrong there, and what to do."""

from typing import Annotated

import pytest
from fastapi import APIRouter, FastAPI, Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, TypeAdapter, ValidationError

from mockapi.control.refusal import Problem, problems, refusals
from tests.unit.mockapi.asgi import ask


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
