"""Why the control did not do what it was asked, and the answer that says so."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from mockapi.problems import Problem


class Refusal(Exception):  # noqa: N818 - an answer, named for what it is
    """An answer of `status` with a list of problems as its body."""

    def __init__(self, status: int, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.status = status
        self.problems = problems


def refusals(routers: Sequence[APIRouter]) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    """The handler for a Refusal, for parameters that do not fit, and for what none of `routers` knows."""
    known = f"routes: {', '.join(_routes(routers))}"

    async def respond(request: Request, refusal: Exception) -> JSONResponse:
        match refusal:
            case Refusal():
                status, problems = refusal.status, list(refusal.problems)
            case RequestValidationError():
                status = 422
                problems = [
                    Problem(str(error["loc"][-1]), f"{error['msg']} (got {error['input']!r})")
                    for error in refusal.errors()
                ]
            case HTTPException():
                status = refusal.status_code
                problems = [Problem(request.url.path, str(refusal.detail).lower(), known)]
            case _:
                raise refusal
        return JSONResponse([asdict(problem) for problem in problems], status)

    return respond


def _routes(routers: Sequence[APIRouter]) -> list[str]:
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return [f"{method} {route.path}" for route in routes for method in sorted(route.methods or ())]
