"""Plays an action: main parameters, the action's own, token, lag, method, and then the action itself.

The order is MediaWiki's, since it decides which of several things that are wrong a client is told of.
"""

from datetime import timedelta
from typing import Final

from mockapi.api.action.call import Call, lag_seconds
from mockapi.api.action.errors import (
    ApiError,
    assertion_failed,
    bad_token,
    lagged,
    must_be_in_body,
    must_be_posted,
    named_assertion_failed,
)
from mockapi.api.action.mediawiki_modules import ACTION, FORMAT
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter, Signature
from mockapi.api.action.planned_error import check_planned
from mockapi.api.action.registry import ACTIONS
from mockapi.api.action.tree import Tree
from mockapi.wiki.timestamps import iso

PARAMETERS: Final = (
    Parameter("action", allowed=tuple(ACTIONS), of_mediawiki=ACTION, default="help"),
    Parameter("format", allowed=("json", "jsonfm", "none"), of_mediawiki=FORMAT, default="jsonfm"),
    Parameter("maxlag", Kind.INTEGER),
    Parameter("smaxage", Kind.INTEGER, default="0", least=0),
    Parameter("maxage", Kind.INTEGER, default="0", least=0),
    Parameter("assert", allowed=("anon", "bot", "user")),
    Parameter("assertuser"),
    Parameter("requestid"),
    Parameter("servedby", Kind.FLAG),
    Parameter("curtimestamp", Kind.FLAG),
    Parameter("responselanginfo", Kind.FLAG),
    Parameter("origin"),
    Parameter("crossorigin", Kind.FLAG),
    Parameter("uselang", default="user"),
    Parameter("variant"),
    Parameter("errorformat", allowed=("plaintext", "wikitext", "html", "raw", "none", "bc"), default="bc"),
    Parameter("errorlang", default="uselang"),
    Parameter("errorsuselocal", Kind.FLAG),
)

_SIGNATURE: Final = Signature("", PARAMETERS)
_OF_THE_FORMAT: Final = frozenset({"callback", "utf8", "ascii", "formatversion"})
_BEGIN_A_SESSION: Final = frozenset({"login", "createaccount"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


async def play(call: Call) -> tuple[Action, Arguments]:
    """Fills the call's result; gives the action and the main arguments. Raises ApiError."""
    for name, value in requested(call).items():
        call.result.add(name, value)
    main = _SIGNATURE.read(call, "main")
    _check_asserted(call, main)
    action = ACTIONS[main.text("action") or "help"]
    arguments = _arguments(call, action)
    _check_lag(call.plan.state.lag, main.integer("maxlag"))
    if call.request.method not in _METHODS:
        raise ApiError("invalidmethod", "Invalid HTTP method. Consider using GET or POST.", status=405)
    if action.posted and not call.form.posted:
        raise must_be_posted(action.name)
    check_planned(call, action, main)
    if call.form.posted and not call.request.headers.get("content-type"):
        text = 'A POST request was made without a "Content-Type" header. This does not work reliably.'
        call.result.deprecate("main", text, "post-without-content-type")
    try:
        await action.run(call, arguments)
    except ApiError as error:
        error.module = error.module or action.name
        raise
    _warn_of_unknown(call)
    return action, main


def _arguments(call: Call, action: Action) -> Arguments:
    """Those of the action itself, once its token is checked."""
    try:
        arguments = action.signature.read(call, action.name)
        if action.token is not None:
            _check_token(call, action, arguments)
    except ApiError as error:
        error.module = action.name
        raise
    return arguments


def requested(call: Call) -> dict[str, Tree]:
    """The members that a client may ask for beside any answer."""
    values = call.form.values
    members: dict[str, Tree] = {}
    if "requestid" in values:
        members["requestid"] = values["requestid"]
    if "curtimestamp" in values:
        members["curtimestamp"] = iso(call.now)
    if "responselanginfo" in values:
        members |= {"uselang": call.wiki.language, "errorlang": call.wiki.language}
    return members


def _check_asserted(call: Call, main: Arguments) -> None:
    user, asserted = call.user, main.text("assert")
    match asserted:
        case "anon" if user is not None:
            raise assertion_failed(asserted)
        case "user" if user is None:
            raise assertion_failed(asserted)
        case "bot" if not call.may("bot"):
            raise assertion_failed(asserted)
    named = main.text("assertuser")
    if named is not None and (user is None or user.name != named):
        raise named_assertion_failed(named)


def _check_lag(behind: timedelta | None, most: int | None) -> None:
    """Raises ApiError when the replicas are further behind than `most` seconds, which a client gives as `maxlag`."""
    if most is not None and (lag := lag_seconds(behind)) > most:
        raise lagged(lag, most)


def _check_token(call: Call, action: Action, arguments: Arguments) -> None:
    name = arguments.full("token")
    if name in call.form.in_query:
        raise must_be_in_body([name])
    token = arguments.text("token")
    if action.token in _BEGIN_A_SESSION:
        call.keep_session()
    if action.token is not None and (token is None or not call.accounts.accepts(action.token, call.session, token)):
        raise bad_token()


def _warn_of_unknown(call: Call) -> None:
    unknown = [name for name in call.form.names if name not in call.used and name not in _OF_THE_FORMAT]
    if unknown:
        noun = "parameter" if len(unknown) == 1 else "parameters"
        text = f"Unrecognized {noun}: {', '.join(unknown)}."
        call.result.warn("main", "unrecognizedparams", text)
