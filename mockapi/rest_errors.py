"""The error answers of MediaWiki's REST API: compact JSON in its key order, with its headers in their order.

Only 404 carries a Content-Length; the others go out chunked, as MediaWiki's do. Messages are there in English only.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import orjson

from mockapi.reply import Headers, Reply

JsonScalar = str | int | None
JsonFields = Mapping[str, JsonScalar | Sequence[str] | Mapping[str, str]]

ALLOWED_METHODS = ("HEAD", "GET")

_ALLOWED_REQUEST_HEADERS = (
    b"Accept, Accept-Language, Content-Language, Content-Type, Accept-Encoding, DNT, Origin, User-Agent, "
    b"Api-User-Agent, Access-Control-Max-Age, Authorization, If-Mach, If-None-Match, If-Modified-Since"
)  # "If-Mach" is what MediaWiki sends


def rest_error(code: int, key: str, english: str, request_id: str, *, first: JsonFields | None = None) -> Reply:
    """An error with a message key; `first` holds the members that precede it."""
    fields = {**(first or {}), "errorKey": key, "messageTranslations": {"en": english}}
    return _json(code, {**fields, **_status_fields(code)}, request_id)


def rest_exception(exception: str, request_id: str) -> Reply:
    """500 for an exception of class `exception` that nobody caught."""
    message = f"Error: exception of type {exception}"
    return _json(500, {"message": message, **_status_fields(500)}, request_id)


def rest_status(code: int, request_id: str) -> Reply:
    """An error that says its status and no more."""
    return _json(code, _status_fields(code), request_id)


def no_match(relative_path: str, request_id: str) -> Reply:
    """404 for a path without a handler; the path is relative to `rest.php`."""
    text = f"The requested relative path ({relative_path}) did not match any known handler"
    return rest_error(404, "rest-no-match", text, request_id)


def bad_integer(name: str, value: str, request_id: str) -> Reply:
    """400 for a parameter that is not a 64-bit integer."""
    first: JsonFields = {
        "error": "parameter-validation-failed",
        "name": name,
        "value": value,
        "failureCode": "badinteger",
        "failureData": None,
    }
    text = f'Invalid value "{value}" for integer parameter "{name}".'
    return rest_error(400, "badinteger", text, request_id, first=first)


def method_not_allowed(method: str, request_id: str) -> Reply:
    """405, or the 204 that OPTIONS gets."""
    allowed = ", ".join(ALLOWED_METHODS)
    if method == "OPTIONS":
        return Reply(
            204,
            (
                (b"x-content-type-options", b"nosniff"),
                (b"access-control-allow-methods", allowed.encode()),
                (b"access-control-allow-headers", _ALLOWED_REQUEST_HEADERS),
                (b"x-request-id", request_id.encode("latin-1")),
            ),
            b"",
        )
    text = f"The request method ({method}) was not one of the allowed methods for this path ({allowed})"
    fields = {"messageTranslations": {"en": text}, **_status_fields(405)}
    return _json(405, fields, request_id, extra=((b"allow", allowed.encode()),))


def _status_fields(code: int) -> dict[str, JsonScalar]:
    # PHP's name for 413 is the older one, and it is what clients have seen.
    reason = "Request Entity Too Large" if code == 413 else _reason(code)
    return {"httpCode": code, "httpReason": reason}


def _reason(code: int) -> str:
    return HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else "Unknown Error"


def _json(code: int, fields: JsonFields, request_id: str, *, extra: Headers = ()) -> Reply:
    body = orjson.dumps(dict(fields))
    length: Headers = ((b"content-length", str(len(body)).encode()),) if code == 404 else ()
    return Reply(
        code,
        (
            (b"x-content-type-options", b"nosniff"),
            *extra,
            (b"content-type", b"application/json"),
            (b"vary", b"x-restbase-compat"),
            *length,
            (b"x-request-id", request_id.encode("latin-1")),
        ),
        body,
    )
