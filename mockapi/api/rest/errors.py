"""The error answers of MediaWiki's REST API, in its words and the order of its members; messages in English only.

error data │ with `x-restbase-compat`: type, title, method, detail, uri │ errorKey │ messageTranslations │ httpCode …
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from mockapi.api.rest.envelope import JSON_TYPE, Fields, compatible, json_text, sealed
from mockapi.api.rest.path import uri
from mockapi.server.reply import Headers, Reply
from mockapi.server.request import Request
from mockapi.wiki.pages.coding import Coding

_NO_REQUEST: Final = Request("GET", "", "", "", {}, "")
_ALLOWED_REQUEST_HEADERS: Final = (
    b"Accept, Accept-Language, Content-Language, Content-Type, Accept-Encoding, DNT, Origin, User-Agent, "
    b"Api-User-Agent, Access-Control-Max-Age, Authorization, If-Mach, If-None-Match, If-Modified-Since"
)  # "If-Mach" is what MediaWiki sends
_PHP_REASONS: Final = {413: "Request Entity Too Large"}


class RestError(Exception):
    """An error with a message key. `first` are the members before it; `message` is the key of the text, where that is
    another than the error's. `by_rule` is whether a rule wants the error.
    """

    def __init__(
        self, code: int, key: str, english: str, *, first: Fields | None = None, message: str | None = None
    ) -> None:
        super().__init__(english)
        self.code = code
        self.key = key
        self.english = english
        self.first: Fields = first or {}
        self.message = message or key
        self.by_rule = False


def nonexistent_revision(revision: object) -> RestError:
    """There is no such revision, or not any more."""
    return RestError(404, "rest-nonexistent-revision", f"The specified revision ({revision}) does not exist")


def denied_revision(revision: object) -> RestError:
    """403: the text of the revision is hidden from this user."""
    text = f"User doesn't have access to the requested revision ({revision})."
    return RestError(403, "rest-permission-denied-revision", text)


def unavailable_revision() -> RestError:
    """What the flavour `fragment` gets of a revision that is saved."""
    text = "The specified revision is deleted or suppressed."
    return RestError(
        404, "rest-specified-revision-unavailable", text, first={"error-keys": ["parsoid-revision-access"]}
    )


def nonexistent_title(title: str) -> RestError:
    """404: a title that a page could have, and none has."""
    return RestError(404, "rest-nonexistent-title", f"The specified page ({title}) does not exist")


def invalid_title(title: str) -> RestError:
    """No page can have that title; as the routes of the source say it."""
    return RestError(404, "rest-invalid-title", f"The specified title ({title}) does not refer to a wiki page.")


def denied_title(title: str) -> RestError:
    """No page can have that title; as the routes of the HTML say it."""
    return RestError(403, "rest-permission-denied-title", f"The user does not have rights to read title ({title})")


def bad_parameter(code: str, message: str, english: str, *, name: str, value: str | None, data: object) -> RestError:
    """A parameter that is not what it has to be: 400."""
    return RestError(400, code, english, first=_failed(code, name, value, data), message=message)


def bad_body(code: str, english: str, *, name: str, value: str | None) -> RestError:
    """A member of a request's body that is not what it has to be: 400."""
    first = _failed(code, name, value, None)
    return RestError(400, "rest-body-validation-error", f"Invalid request body: {english}", first=first)


def no_match(relative_path: str) -> RestError:
    """A path without a handler; the path is relative to `rest.php`."""
    text = f"The requested relative path ({relative_path}) did not match any known handler"
    return RestError(404, "rest-no-match", text)


def error_reply(error: RestError, request: Request, request_id: str, *, coding: Coding | None = None) -> Reply:
    """As JSON; with RESTBase's fields too for a request that has `X-RESTBase-Compat: true`."""
    fields = {
        **error.first,
        **(_compatible(error, request) if compatible(request) else {}),
        "errorKey": error.key,
        "messageTranslations": {"en": error.english},
        **_status_fields(error.code),
    }
    return replace(_json(error.code, fields, request_id, coding=coding), by_rule=error.by_rule)


def rest_error(code: int, key: str, english: str, request_id: str, *, first: Fields | None = None) -> Reply:
    """An error whatever the request is."""
    return error_reply(RestError(code, key, english, first=first), _NO_REQUEST, request_id)


def rest_exception(exception: str, request_id: str) -> Reply:
    """500 for an exception of class `exception` that was not caught."""
    message = f"Error: exception of type {exception}"
    return _json(500, {"message": message, **_status_fields(500)}, request_id)


def rest_status(code: int, request_id: str) -> Reply:
    """An error that says its status and no more."""
    return _json(code, _status_fields(code), request_id)


def method_reply(request: Request, request_id: str, allowed: Sequence[str], *, coding: Coding | None = None) -> Reply:
    """405, or the 204 that OPTIONS gets."""
    listed = ", ".join(allowed)
    if request.method == "OPTIONS":
        own = (
            (b"access-control-allow-methods", listed.encode()),
            (b"access-control-allow-headers", _ALLOWED_REQUEST_HEADERS),
        )
        return sealed(204, own, b"", request_id, php_type=True)
    among = "the allowed method" if len(allowed) == 1 else "one of the allowed methods"
    text = f"The request method ({request.method}) was not {among} for this path ({listed})"
    fields = {"messageTranslations": {"en": text}, **_status_fields(405)}
    return _json(405, fields, request_id, coding=coding, own=(JSON_TYPE, (b"allow", listed.encode())))


def reason(code: int) -> str:
    """The phrase of a status, as PHP and so MediaWiki have it."""
    known = HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else "Unknown Error"
    return _PHP_REASONS.get(code, known)


def _failed(code: str, name: str, value: str | None, data: object) -> Fields:
    return {
        "error": "parameter-validation-failed",
        "name": name,
        "value": value,
        "failureCode": code,
        "failureData": data,
    }


def _compatible(error: RestError, request: Request) -> Mapping[str, str]:
    return {
        "type": f"MediaWikiError/{reason(error.code).replace(' ', '_')}",
        "title": error.message,
        "method": request.method.lower(),
        "detail": error.english,
        "uri": uri(request),
    }


def _status_fields(code: int) -> dict[str, object]:
    return {"httpCode": code, "httpReason": reason(code)}


def _json(
    code: int, fields: Fields, request_id: str, *, coding: Coding | None = None, own: Headers = (JSON_TYPE,)
) -> Reply:
    return sealed(code, own, json_text(fields), request_id, coding=coding)
