"""Writes: `POST /v1/page` makes a page, `PUT /v1/page/{title}` makes or changes one.

The JSON of a request is checked as a whole before anything happens. Writes go into memory, as those of the Action API
do, with a session's token. A client without a session writes under its address, with the token that everybody has.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote

import orjson

from mockapi.api import status as statuses
from mockapi.api.endpoint import Context
from mockapi.api.error_words import ERROR_WORDS
from mockapi.api.rest.envelope import JSON_TYPE, coding_of, json_text, sealed_long
from mockapi.api.rest.errors import RestError, bad_body, error_reply, method_reply, nonexistent_title
from mockapi.api.rest.metadata import page_members
from mockapi.api.rest.path import REST_ROOT
from mockapi.api.rest.planned_error import by_rule, planned_exception
from mockapi.api.rest.visibility import NOT_CACHED, PRIVATE, Visible, session_of
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Headers, Reply
from mockapi.server.request import Request
from mockapi.wiki.edits.merge import EditBase
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.facts import facts
from mockapi.wiki.people import Author
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World

_NO_TYPE: Final = "application/x-www-form-urlencoded"
_MODELS: Final = frozenset({"wikitext", "css", "javascript", "json", "text"})


@dataclass(frozen=True, slots=True)
class Draft:
    """What to write. `title` is None where the path has it, `base` is the revision it changes."""

    title: str | None
    source: str
    comment: str
    content_model: str | None
    base: int | None
    token: str | None

    @classmethod
    def read(cls, request: Request, *, titled: bool) -> Self:
        """The draft in the body of `request`: with its title if `titled`, else with its base. Raises RestError."""
        given = _json_object(request)
        source = _required(given, "source")
        title = _required(given, "title") if titled else None
        comment = _required(given, "comment")
        content_model = _text(given, "content_model")
        base = None if titled else _base(given)
        token = _text(given, "token")
        known = ("source", "title" if titled else "latest", "comment", "content_model", "token")
        _refuse_unknown(given, known)
        return cls(title, source, comment, content_model, base, token)

    def check_model(self) -> None:
        """Raises RestError for a content model that no wiki here has."""
        if self.content_model and self.content_model not in _MODELS:
            raise RestError(400, "rest-bad-content-model", f"Bad content model: {self.content_model}")


def _json_object(request: Request) -> Mapping[str, Any]:
    if not request.body:
        text = f"The {request.method} request method expects a request body"
        raise RestError(411, "rest-request-body-expected", text)
    kind = request.headers.get("content-type", _NO_TYPE).partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RestError(415, "rest-unsupported-content-type", f"Unsupported Content-Type: {kind}")
    try:
        given = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        given = None
    if isinstance(given, list):
        return {}
    if not isinstance(given, dict):
        text = "Parsing request body as JSON failed: not a valid JSON object"
        raise RestError(400, "rest-json-body-parse-error", text)
    return given


def _required(given: Mapping[str, Any], name: str) -> str:
    value = _text(given, name)
    if value is None:
        raise bad_body("missingparam", f'The "{name}" parameter must be set.', name=name, value=None)
    return value


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    shown = orjson.dumps(value).decode()
    text = f'Parameter "{name}" accepts only a string value, but got {shown}'
    raise bad_body("needstring", text, name=name, value=shown)


def _base(given: Mapping[str, Any]) -> int | None:
    latest = given.get("latest")
    if latest is None:
        return None
    shown = orjson.dumps(latest).decode()
    if not isinstance(latest, Mapping):
        text = "Invalid value for parameter <var>latest</var>: array expected."
        raise bad_body("notarray", text, name="latest", value=shown)
    base = latest.get("id")
    if isinstance(base, bool) or not isinstance(base, int):
        raise bad_body("schema-validation-failed", "Invalid value for provided schema", name="latest", value=shown)
    return base


def _refuse_unknown(given: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        first = {
            "error": "parameter-validation-failed",
            "failureCode": "extraneous-body-fields",
            "name": unknown[0],
            "failureData": unknown,
        }
        text = f"Extraneous fields found in request body: {', '.join(unknown)}"
        raise RestError(400, "rest-extraneous-body-fields", text, first=first)


_PATH: Final = re.compile(r"/w/rest\.php/(?:content/)?v1/page")
_METHODS: Final = ("POST",)
_AS_IN_TITLES: Final = ";@$!*(),~:"
_KEYS: Final = {"invalid-json-data": "invalid-json-data", **{code: words.key for code, words in ERROR_WORDS.items()}}
_STATUS: Final = {
    "articleexists": 409,
    "editconflict": 409,
    "missingtitle": 404,
    "protectedpage": 403,
    "ratelimited": 429,
}


@dataclass(frozen=True, slots=True)
class CreateRoute:
    """`/v1/page`, which takes POST and nothing else."""

    wiki: Wiki | None
    targets: tuple[Target, ...]
    key: str = "create"
    renders: bool = False

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for a path that is not this route's."""
        if not _PATH.fullmatch(request.raw_path):
            return None
        wiki = world.wikis.serving(request.host)
        return cls(wiki, (Target(wiki=wiki.name if wiki else None),))

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """Without words of a resource: it is yet to be made."""
        return statuses.reply(status, request_id)

    async def reply(self, context: Context) -> Reply:
        """201 with the new page, or why there is none."""
        if (failed := planned_exception(context)) is not None:
            return failed
        request = context.request
        if request.method not in _METHODS:
            return method_reply(request, context.request_id, _METHODS, coding=coding_of(context))
        try:
            draft = Draft.read(request, titled=True)
            if self.wiki is None:
                raise nonexistent_title(draft.title or "")
            return await write(context, self.wiki, draft.title or "", draft)
        except RestError as error:
            return error_reply(error, request, context.request_id, coding=coding_of(context))


async def write(context: Context, wiki: Wiki, text: str, draft: Draft) -> Reply:
    """Writes `draft` to the page called `text` and says what is there now: 201 for a new page. Raises RestError."""
    author = _author(context, wiki, draft.token)
    draft.check_model()
    _check_planned(context)
    try:
        title = wiki.title(text)
    except InvalidTitle:
        raise _refused("invalidtitle", f'Bad title "{text}".') from None
    try:
        result = context.world.overlay(wiki, context.request_id).edit(
            title,
            draft.source,
            by=author,
            summary=draft.comment,
            content_model=draft.content_model or None,
            base=EditBase(draft.base or None),
            createonly=not draft.base,
            nocreate=bool(draft.base),
        )
    except WriteError as error:
        if error.code == "articleexists" and draft.title is None:
            raise _there_already(text) from None
        raise _refused(error.code, error.english) from None
    return await _written(context, wiki, title, new=result.new, creates=draft.title is not None)


async def _written(context: Context, wiki: Wiki, title: Title, *, new: bool, creates: bool) -> Reply:
    page = wiki.page(title)
    if page is None:
        raise AssertionError(title)
    located = wiki.latest(page)
    about = page_members(wiki, Visible(located, frozenset()))
    members = {name: about[name] for name in ("id", "title", "key", "latest", "license", "content_model")}
    members["source"] = facts(context.world.seed, located).text
    place: Headers = ()
    if creates:
        path = f"{wiki.server}{REST_ROOT}/v1/page/{quote(title.dbkey, safe=_AS_IN_TITLES)}"
        place = ((b"location", path.encode()),)
    cache = PRIVATE if session_of(context, wiki) else NOT_CACHED
    own = (JSON_TYPE, *place, cache)
    return await sealed_long(
        201 if new else 200, own, json_text(members), context.request_id, coding=coding_of(context)
    )


def _author(context: Context, wiki: Wiki, token: str | None) -> Author:
    accounts, session = context.world.accounts(wiki), session_of(context, wiki)
    if not token:
        text = "The <var>token</var> parameter is required unless using a CSRF-safe authentication method."
        raise RestError(403, "rest-badtoken", text, message="rest-badtoken-missing")
    if not accounts.accepts("csrf", session, token):
        if session is None:
            raise RestError(403, "rest-badtoken", "CSRF error - no session.", message="rest-badtoken-nosession")
        raise _bad_token()
    user = accounts.user_of(session)
    return Author(context.request.client, 0) if user is None else Author(user.name, user.id)


def _check_planned(context: Context) -> None:
    """Raises the RestError that a rule wants, if a write can get it."""
    code = context.plan.error
    if code == "badtoken":
        raise by_rule(_bad_token())
    if code is not None and code in ERROR_WORDS:
        raise by_rule(_refused(code, ERROR_WORDS[code].english))


def _bad_token() -> RestError:
    return RestError(403, "rest-badtoken", "The CSRF token provided is invalid.")


def _there_already(text: str) -> RestError:
    english = (
        f'The page "{text}" cannot be created since it already exists. To update the existing page, provide the base '
        'revision ID in the structure under "latest" key in the request body.'
    )
    return RestError(409, "rest-update-cannot-create-page", english)


def _refused(code: str, english: str) -> RestError:
    """What the Action API calls `code`."""
    key = _KEYS.get(code, f"apierror-{code}")
    if code in _STATUS:
        return RestError(_STATUS[code], key, english)
    return RestError(400, key, english, first={"actionModuleErrorCode": code})
