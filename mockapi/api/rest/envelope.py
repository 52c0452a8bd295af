"""What every answer of the REST API has around it: headers in MediaWiki's order, JSON as PHP writes it, gzip.

    nosniff │ those of the answer │ vary │ content-encoding │ content-length │ PHP's content-type │ x-request-id

Content-Length is there for 200 and 404 only; the others go out chunked, as MediaWiki's do.
"""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from mockapi.faults import body as body_fault
from mockapi.server.reply import Body, Headers, Held, Reply
from mockapi.server.request import Request
from mockapi.wiki.pages.coding import Coding, encoded

if TYPE_CHECKING:
    from mockapi.api.endpoint import Context
    from mockapi.api.rest.visibility import Visible

Fields = Mapping[str, Any]
"""Members of a JSON object, in their order."""

NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
JSON_TYPE: Final = (b"content-type", b"application/json")
VARY: Final = (b"vary", b"x-restbase-compat")
BY_LANGUAGE: Final = (b"vary", b"Accept-Language, x-restbase-compat")

_PHP_TYPE: Final = (b"content-type", b"text/html; charset=UTF-8")
_MEASURED: Final = frozenset({200, 404})
_OFF_LOOP_BYTES: Final = 128 * 1024


def json_text(value: Fields | str) -> bytes:
    """JSON as MediaWiki writes it: compact, UTF-8, `/` as it is."""
    text = orjson.dumps(value)
    if b"\xe2\x80" in text:
        # PHP escapes these two line ends, orjson does not.
        text = text.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return text


def compatible(request: Request) -> bool:
    """Whether the client wants what RESTBase gave where that differs."""
    return request.headers.get("x-restbase-compat") == "true"


def coding_of(context: "Context") -> Coding | None:
    """How the answer to a request is encoded: as MediaWiki does it, unless the plan wants something else."""
    plan = context.plan
    if plan.body is None and plan.delivery.coding is None and "accept-encoding" not in context.request.headers:
        return None
    return body_fault.coding(plan, context.request.accepts)


def sealed(
    status: int, own: Headers, data: bytes, request_id: str, *, coding: Coding | None = None, php_type: bool = False
) -> Reply:
    """An answer whose own headers are `own`, `vary` among them if it is not the usual one. `php_type`: PHP adds its
    content type, since the answer has none.
    """
    if coding is None or not data:
        return enclosed(status, own, Held(data), request_id, php_type=php_type)
    packed = Held(b"".join(encoded(coding, (data,))), len(data))
    return enclosed(status, own, packed, request_id, coding=coding, php_type=php_type)


async def sealed_long(status: int, own: Headers, data: bytes, request_id: str, *, coding: Coding | None) -> Reply:
    """The same for data of any length."""
    seal = partial(sealed, status, own, data, request_id, coding=coding)
    return seal() if len(data) < _OFF_LOOP_BYTES else await asyncio.to_thread(seal)


async def kept_json(
    context: "Context",
    own: Headers,
    seen: "Visible",
    about: Hashable,
    members: Callable[[], Fields],
    *,
    document: Body | None = None,
) -> Reply:
    """Status 200 with `members`, which are written once: they depend on the page, on what is seen of it, on `about`
    and on the `document` alone.
    """
    page, coding = seen.located.page, coding_of(context)
    key = (page.wiki, seen.located.revision.rev_id, seen.hidden, about)
    body = await context.world.pages.envelope(key, (page, document), coding, lambda: json_text(members()))
    return enclosed(200, own, body, context.request_id, coding=coding)


def enclosed(
    status: int, own: Headers, body: Body, request_id: str, *, coding: Coding | None = None, php_type: bool = False
) -> Reply:
    """An answer whose body is encoded already; `coding` says how."""
    length = body.wire_bytes if status in _MEASURED else None
    headers = (
        NOSNIFF,
        *own,
        *(() if BY_LANGUAGE in own else (VARY,)),
        *(() if coding is None else ((b"content-encoding", coding.encode()),)),
        *(() if length is None else ((b"content-length", str(length).encode()),)),
        *((_PHP_TYPE,) if php_type else ()),
        (b"x-request-id", request_id.encode("latin-1")),
    )
    return Reply(status, headers, body)
