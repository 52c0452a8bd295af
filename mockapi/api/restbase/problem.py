"""Errors as RESTBase says them: `application/problem+json`, with nothing of MediaWiki's."""

from typing import Final

from mockapi.api.rest.envelope import json_text
from mockapi.api.restbase.sent import sent
from mockapi.server.reply import Headers, Held, Reply
from mockapi.server.request import Request

_TYPES: Final = "https://mediawiki.org/wiki/HyperSwitch/errors/"
_HEADERS: Final[Headers] = (
    (b"content-type", b"application/problem+json"),
    (b"cache-control", b"private, max-age=0, s-maxage=0, must-revalidate"),
)


class RestbaseProblem(Exception):  # noqa: N818 - an answer to the client, no error of the mock
    """An error; `kind` is the end of its type."""

    def __init__(self, code: int, kind: str, title: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.kind = kind
        self.title = title
        self.detail = detail


def not_found(detail: str = "Page or revision not found.") -> RestbaseProblem:
    """There is no such page or revision."""
    return RestbaseProblem(404, "not_found", "Not found.", detail)


def denied(revision: object) -> RestbaseProblem:
    """403: the text of the revision is hidden."""
    text = f"Access is restricted for revision {revision}"
    return RestbaseProblem(403, "access_denied#revision", "Access to resource denied", text)


def problem_reply(problem: RestbaseProblem, request: Request, domain: str, request_id: str) -> Reply:
    """The answer that says `problem`; the service's own paths begin with the domain."""
    fields = {
        "type": _TYPES + problem.kind,
        "title": problem.title,
        "method": request.method.lower(),
        "detail": problem.detail,
        "uri": f"/{domain}/v1{request.raw_path.removeprefix('/api/rest_v1')}",
    }
    return sent(problem.code, _HEADERS, Held(json_text(fields)), request_id)
