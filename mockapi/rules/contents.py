"""What rules read of a request's query string and body. Nothing is parsed unless a rule asks for it."""

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from mockapi.rules.when import JsonValue, Present
from mockapi.server.request import Request
from mockapi.server.request_parameters import Pair, body_pairs, query_pairs
from mockapi.values.json_pointer import value_at


class _NotJson:
    """In place of the document of a body that is no JSON."""

    def __str__(self) -> str:
        return "no JSON body"


_NOT_JSON = _NotJson()


def query_values(request: Request, names: Iterable[str]) -> dict[str, str | None]:
    """The last value of each of these parameters of the query string; None for an absent one."""
    return _last(query_pairs(request), names)


def form_values(request: Request, names: Iterable[str]) -> dict[str, str | None]:
    """The last value of each of these parameters of a body that is a form; None for an absent one."""
    return _last(body_pairs(request), names)


def json_fits(request: Request, wanted: Mapping[str, JsonValue]) -> bool:
    """Whether the body is JSON and has what is `wanted` at each pointer."""
    document = _document(request.body)
    return document is not _NOT_JSON and all(_fits_at(document, pointer, value) for pointer, value in wanted.items())


def json_values(request: Request, pointers: Iterable[str]) -> object:
    """What the body has at these pointers, as JSON, for a person; an absent value is left out."""
    document = _document(request.body)
    if document is _NOT_JSON:
        return document
    values = {}
    for pointer in pointers:
        try:
            values[pointer] = value_at(document, pointer)
        except LookupError:
            continue
    return json.dumps(values, ensure_ascii=False)


def _last(pairs: Iterable[Pair], names: Iterable[str]) -> dict[str, str | None]:
    values = {name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, value in pairs}
    return {name: values.get(name) for name in names}


@lru_cache(maxsize=1)
def _document(body: bytes) -> object:
    """Kept for the other rules that look at the same request."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _fits_at(document: object, pointer: str, wanted: JsonValue) -> bool:
    try:
        value = value_at(document, pointer)
    except LookupError:
        return isinstance(wanted, Present) and not wanted.present
    match wanted:
        case Present():
            return wanted.present
        case str():
            return isinstance(value, str) and fnmatchcase(value, wanted)
        case bool() | None:
            return value is wanted
        case _:
            return isinstance(value, int | float) and not isinstance(value, bool) and value == wanted
