"""Puts a question to one wiki: fills in that wiki's numbers, and asks."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Final
from urllib.parse import quote, urlencode

from tests.conformance.edits import Wiki
from tests.conformance.questions import PLACEHOLDER, Question
from tests.conformance.wire import Answer

_UNKNOWN_REVISION: Final = 99_999_999
_SHIFTS: Final = {"": timedelta(), "+1h": timedelta(hours=1), "-1h": timedelta(hours=-1)}


class Unanswerable(Exception):  # noqa: N818 - a fact about the wiki, to be reported as its answer
    """The wiki lacks what the question is about."""


def ask(wiki: Wiki, question: Question, *, mock: bool) -> Answer:
    """The answer of a wiki; `mock` says that what is meant for the mock alone holds. Raises Unanswerable."""
    client = wiki.session(question.user)
    path, headers = question.path, dict(question.headers)
    if mock and question.mock is not None:
        path, headers = question.mock["path"], question.mock.get("headers", {})
    fill = _filler(wiki, question)
    target = fill(path)
    if question.query:
        query = urlencode({key: fill(value) for key, value in question.query.items()})
        target += ("&" if "?" in target else "?") + query
    body = None if question.body is None else fill(question.body).encode()
    form = None if question.form is None else {key: fill(value) for key, value in question.form.items()}
    if any("{etag}" in value or "{modified" in value for value in headers.values()):
        kept = {key: value for key, value in headers.items() if "{" not in value}
        headers = _conditions(headers, client.ask(target, headers=kept))
    return client.ask(target, method=question.method, headers=headers, form=form, body=body)


def _filler(wiki: Wiki, question: Question) -> Callable[[str], str]:
    def one(found: re.Match[str]) -> str:
        kind, _, argument = found[1].partition(":")
        match kind:
            case "rev":
                # What was deleted has its number still; what never came to be has one that no wiki gives.
                return str(wiki.ids.revisions.get(argument, _UNKNOWN_REVISION))
            case "page":
                return str(wiki.ids.pages.get(argument, _UNKNOWN_REVISION))
            case "time":
                return wiki.ids.times.get(argument, "2026-01-01T00:00:00Z")
            case "title":
                return quote(argument, safe="")
            case "token" | "json-token":
                try:
                    token = wiki.token(question.user, argument)
                except ValueError as error:
                    raise Unanswerable(str(error)) from None
                return json.dumps(token) if kind == "json-token" else token
            case "many":
                return "|".join(str(_UNKNOWN_REVISION + number) for number in range(int(argument)))
            case "bytes":
                return "x" * int(argument)
        return found[0]

    return lambda text: PLACEHOLDER.sub(one, text)


def _conditions(headers: Mapping[str, str], unconditional: Answer) -> dict[str, str]:
    etag, modified = unconditional.header("ETag"), unconditional.header("Last-Modified")

    def one(found: re.Match[str]) -> str:
        name = found[1]
        if name == "etag":
            if etag is None:
                raise Unanswerable("the answer without conditions has no ETag")
            return etag
        if name.startswith("modified"):
            if modified is None:
                raise Unanswerable("the answer without conditions has no Last-Modified")
            shifted = parsedate_to_datetime(modified) + _SHIFTS[name.removeprefix("modified")]
            return format_datetime(shifted, usegmt=True)
        return found[0]

    return {key: PLACEHOLDER.sub(one, value) for key, value in headers.items()}
