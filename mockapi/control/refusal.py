"""Why the control did not do what it was asked, and the answer that says so: a list of {path, problem, hint}."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from located_config import problem
from located_config.near import near_miss
from located_config.place import shown
from located_config.problem import described


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: `path` is like `rules[0].do.status`, `hint` says what to do if that is known."""

    path: str
    problem: str
    hint: str | None = None

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.problem}" + (f"; {self.hint}" if self.hint else "")


def problems(error: ValidationError, root: Any) -> list[Problem]:
    """The problems of `error`, which arose from validating a value as `root` (a model, or an annotation of models)."""
    return for_client(problem.problems(error, root))


def for_client(faults: Iterable[problem.Problem]) -> list[Problem]:
    """For the body of an answer, each with its place in what the client sent."""
    return [Problem(shown(fault.location), fault.text, fault.remedy) for fault in faults]


class Refusal(Exception):  # noqa: N818 - an answer, named for what it is
    """An answer of `status` with a list of problems as its body."""

    def __init__(self, status: int, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.status = status
        self.problems = problems


def refusals(document: Callable[[], Mapping[str, Any]]) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    """The handler for a Refusal, for parameters that do not fit, and for what is no route of the OpenAPI document."""

    async def respond(request: Request, refusal: Exception) -> JSONResponse:
        headers: dict[str, str] | None = None
        match refusal:
            case Refusal():
                status, problems = refusal.status, list(refusal.problems)
            case RequestValidationError():
                status = 422
                # The first step only says which part of the request has the parameter.
                problems = for_client(described(error, None, location=error["loc"][1:]) for error in refusal.errors())
            case HTTPException():
                status, headers = refusal.status_code, {}
                routes = _routes(document())
                if allowed := routes.get(_route(request.url.path, routes), []):
                    headers["Allow"] = ", ".join(allowed)
                known = ", ".join(f"{method} {path}" for path, methods in routes.items() for method in methods)
                problems = [Problem(request.url.path, str(refusal.detail).lower(), f"routes: {known}")]
            case _:
                raise refusal
        return JSONResponse([asdict(problem) for problem in problems], status, headers)

    return respond


def _routes(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """The methods of each path of the control."""
    return {
        path: [method.upper() for method in operations]
        for path, operations in document["paths"].items()
        if not path.startswith(("/w/", "/api/"))
    }


def _route(path: str, routes: Mapping[str, object]) -> str:
    """Which of `routes` a path is; itself when it is none."""
    forms = ((route, re.sub(r"\\{[^}]*\\}", ".+", re.escape(route))) for route in routes)
    return next((route for route, form in forms if re.fullmatch(form, path)), path)


def only(*names: str) -> Callable[[Request], None]:
    """A dependency that refuses query parameters other than `names`; a misspelt filter would match everything."""

    def check(request: Request) -> None:
        unknown = [name for name in request.query_params if name not in names]
        if unknown:
            raise Refusal(422, [Problem(name, "unknown parameter", near_miss(name, names)) for name in unknown])

    return check
