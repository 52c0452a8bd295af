"""A status that a rule wants, in the words of who gives such an answer in production.

Envoy speaks for 502, 503 and 504 (plain text, `server: envoy`), the gateway for 429, MediaWiki's REST API (JSON) for
the rest, unless a route has words of its own. A `body` replaces the words.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from mockapi.api import status as statuses
from mockapi.api.rest.errors import RestError, error_reply, rest_error, rest_exception, rest_status
from mockapi.faults.status import NO_CONTENT
from mockapi.plan import StatusAnswer
from mockapi.server.reply import Reply
from mockapi.server.request import Request

_BEFORE_HEADERS: Final = "upstream connect error or disconnect/reset before headers. reset reason:"
_ENVOY: Final = {
    502: f"{_BEFORE_HEADERS} protocol error",
    503: f"{_BEFORE_HEADERS} connection termination",
    504: "upstream request timeout",
}
_GATEWAY_LIMIT: Final = (
    "You are making too many requests to the API.\n"
    "Please follow the best practices at <https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits>.\n"
    "If you are unsure how to get the access you need, contact <bot-traffic@wikimedia.org>.\n"
    "\n"
    "request-id: {request_id}\n"
)
_GATEWAY_RETRY_AFTER: Final = timedelta(seconds=60)

_MEDIAWIKI: Final[dict[int, Callable[[str], Reply]]] = {
    400: lambda request_id: rest_error(
        400, "rest-html-backend-error", "Unable to fetch Parsoid HTML: invalid request", request_id
    ),
    413: lambda request_id: rest_error(
        413,
        "rest-resource-limit-exceeded",
        "Resources limits exceeded processing the request.",
        request_id,
        first={"error-keys": ["parsoid-resource-limit-exceeded"]},
    ),
    500: lambda request_id: rest_exception("RuntimeException", request_id),
}


def reply(status: StatusAnswer, request_id: str, now: datetime | None = None) -> Reply:
    """The answer, whatever was asked. A date counts from `now` (default: now)."""
    return with_retry_after(_words(status, request_id), status, now)


def with_retry_after(answer: Reply, status: StatusAnswer, now: datetime | None = None) -> Reply:
    """`answer` with the header that `status` asks for, or that the gateway's 429 always has."""
    pause = status.retry_after
    if pause is None and status.code == 429 and status.body is None:
        pause = _GATEWAY_RETRY_AFTER
    if pause is None:
        return answer
    if status.retry_after_as == "date":
        value = format_datetime((now or datetime.now(UTC)) + pause, usegmt=True)
    else:
        value = str(pause // timedelta(seconds=1))
    return replace(answer, headers=(*answer.headers, (b"retry-after", value.encode())))


def overflow(code: int, request_id: str) -> Reply:
    """The answer for a request that found the queue full: 503 of a proxy, or 429 of the gateway."""
    if code != 503:
        return reply(StatusAnswer(code=code), request_id)
    answer = _plain(503, f"{_BEFORE_HEADERS} overflow", server=b"envoy")
    return replace(answer, headers=((b"x-envoy-overloaded", b"true"), *answer.headers))


def _words(status: StatusAnswer, request_id: str) -> Reply:
    if status.code == NO_CONTENT:
        return Reply.of(NO_CONTENT, (), b"")
    if status.body is not None:
        server = b"envoy" if status.code in _ENVOY else None
        return _plain(status.code, status.body, server=server, content_type=status.content_type)
    if status.code in _ENVOY:
        return _plain(status.code, _ENVOY[status.code], server=b"envoy")
    if status.code == 429:
        return _plain(429, _GATEWAY_LIMIT.format(request_id=request_id))
    if status.code in _MEDIAWIKI:
        return _MEDIAWIKI[status.code](request_id)
    return rest_status(status.code, request_id)


def _plain(code: int, words: str, *, server: bytes | None = None, content_type: str = "text/plain") -> Reply:
    body = words.encode()
    headers = ((b"content-length", str(len(body)).encode()), (b"content-type", content_type.encode()))
    return Reply.of(code, headers + (((b"server", server),) if server else ()), body)


def status_reply(
    status: StatusAnswer, request: Request, request_id: str, *, missing: RestError, denied: RestError
) -> Reply:
    """404 and 403 as this route says them, the rest as everywhere."""
    error = {404: missing, 403: denied}.get(status.code) if status.body is None else None
    if error is None:
        return statuses.reply(status, request_id)
    return statuses.with_retry_after(error_reply(error, request, request_id), status)
