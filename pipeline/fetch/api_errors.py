"""What the error codes of MediaWiki's two APIs mean for a fetch. The page of error types is made from this table.

A code is an `errorKey` or one of the `error-keys` of the REST API, or the `error.code` of the Action API; the two share
message keys, of which the Action API drops `apierror-`. A code that the table does not have is final, and the status
says which error it is.
"""

from dataclasses import dataclass
from typing import Literal

from pipeline.records.error_types import ErrorType

Meaning = Literal["later", "misrouted"] | ErrorType
"""`later`: MediaWiki is busy or unhealthy, and the same request may succeed soon. `misrouted`: something before
MediaWiki changed the request. Any other is final, as an error of that type.
"""


@dataclass(frozen=True, slots=True)
class ApiErrors:
    """Codes with one meaning; a code that ends with `*` is a prefix. `source`: where MediaWiki has them."""

    meaning: Meaning
    codes: tuple[str, ...]
    source: str


API_ERRORS: tuple[ApiErrors, ...] = (
    ApiErrors("later", ("maxlag",), "`ApiMain::checkMaxLag`: replicas or the job queue lag"),
    ApiErrors(
        "later",
        ("ratelimited", "actionthrottledtext"),
        "`ApiMessageTrait`, and message keys of `PermissionStatus`: the client's rate limit",
    ),
    ApiErrors("later", ("rest-rate-limit-exceeded",), "`RestAuthorizeTrait`: the client's rate limit"),
    ApiErrors(
        "later",
        ("pool-*", "poolcounter-*", "view-pool-*", "concurrency-limit"),
        "`PoolCounterWork`, `PoolCounterClient`, `ParserOutputAccess`, `ApiParse`: too many requests of that kind at "
        "once, or none that counts them",
    ),
    ApiErrors("later", ("readonly", "readonlytext"), "`ApiMessageTrait`: the database is locked for a while"),
    ApiErrors("later", ("internal_api_error_*",), "`ApiMain`: an exception of MediaWiki's"),
    ApiErrors(
        "misrouted",
        ("rest-no-match", "rest-prefix-mismatch", "rest-bad-prefix", "rest-unknown-module", "rest-wrong-method"),
        "`Rest\\Router`: path or method are not those that were sent",
    ),
    ApiErrors("revision_not_found", ("rest-nonexistent-revision", "rest-nonexistent-title"), "`RevisionContentHelper`"),
    ApiErrors(
        "revision_not_found",
        ("wikibase-entitydata-bad-revision", "wikibase-entitydata-not-found"),
        "Wikibase's `EntityDataRequestHandler`, by the words of its error page",
    ),
    ApiErrors(
        "access_denied",
        ("rest-permission-*", "rest-read-denied", "readapidenied", "permissiondenied"),
        "`RevisionContentHelper`, `RestAuthorizeTrait`, `ApiMain::checkExecutePermissions`",
    ),
    ApiErrors("content_refused_by_upstream", ("rest-resource-limit-exceeded",), "`HtmlOutputRendererHelper`"),
)

_EXACT = {code: row.meaning for row in API_ERRORS for code in row.codes if not code.endswith("*")}
_BEGINNINGS = {code[:-1]: row.meaning for row in API_ERRORS for code in row.codes if code.endswith("*")}


def meaning_of(code: str) -> Meaning | None:
    """None for a code that the table does not have."""
    code = code.removeprefix("apierror-")
    if code in _EXACT:
        return _EXACT[code]
    return next((meaning for beginning, meaning in _BEGINNINGS.items() if code.startswith(beginning)), None)


def error_type_of(code: str) -> ErrorType | None:
    """The error in which a fetch ends; None where the status says it."""
    meaning = meaning_of(code)
    return None if meaning == "later" or meaning == "misrouted" else meaning
