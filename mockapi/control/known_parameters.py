"""Refuses query parameters that a route does not have: a filter that is misspelt would otherwise find everything."""

from collections.abc import Callable

from fastapi import Request

from located_config.near import near_miss
from mockapi.control.refusal import Refusal
from mockapi.problems import Problem


def only(*names: str) -> Callable[[Request], None]:
    """A dependency of a route whose query parameters are `names`."""

    def check(request: Request) -> None:
        unknown = [name for name in request.query_params if name not in names]
        if unknown:
            raise Refusal(422, [Problem(name, "unknown parameter", near_miss(name, names)) for name in unknown])

    return check
