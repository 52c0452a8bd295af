"""The error that a rule wants of the Action API, for the requests that get it in MediaWiki.

Which requests those are, and the words, are MediaWiki 1.43's: whether the action writes, takes a token, checks a limit
or a block, or whether the client asked for the check. Wikibase's actions have codes of their own for some of these.
"""

from collections.abc import Mapping
from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.errors import (
    ApiError,
    ErrorMessage,
    assertion_failed,
    bad_token,
    lagged,
    named_assertion_failed,
    uncaught,
)
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments
from mockapi.api.action.tree import Tree
from mockapi.api.error_words import ERROR_WORDS
from mockapi.faults.error import EXCEPTION, OF_WRITES

_READ_ONLY_REASON: Final = (
    "The database has been automatically locked while the replica database servers catch up to the primary"
)
_LIMITED: Final = frozenset({"edit", "move", "delete", "undelete"})
_REFUSED_TO_BLOCKED: Final = _LIMITED | {"revisiondelete", "userrights"}
_ACTIONS: Final = {
    "ratelimited": _LIMITED,
    "blocked": _REFUSED_TO_BLOCKED,
    "autoblocked": _REFUSED_TO_BLOCKED,
    "protectedpage": frozenset({"edit"}),
    "editconflict": frozenset({"edit"}),
}
_BLOCK: Final[Mapping[str, Tree]] = {
    "blockid": 1,
    "blockedby": "Admin",
    "blockedbyid": 1,
    "blockreason": "",
    "blockedtimestamp": "2026-01-01T00:00:00Z",
    "blockexpiry": "infinite",
    "blockpartial": False,
    "blocknocreate": True,
    "blockanononly": False,
    "blockemail": False,
    "blockowntalk": True,
    "blockedtimestampformatted": "00:00, 1 January 2026",
}


def check_planned(call: Call, action: Action, main: Arguments) -> None:
    """Raises the ApiError that a rule wants, if this request can get it."""
    code = call.plan.error
    error = None if code is None else _error(code, call, action, main)
    if error is not None:
        error.by_rule = True
        raise error


def _error(code: str, call: Call, action: Action, main: Arguments) -> ApiError | None:
    """None where the request cannot get it."""
    if code.startswith(EXCEPTION):
        return uncaught(code.removeprefix(EXCEPTION), call.request_id)
    if code in OF_WRITES and not action.writes:
        return None
    match code:
        case "maxlag":
            most = main.integer("maxlag")
            return None if most is None else lagged(most + 1, most)
        case "assertnameduserfailed":
            named = main.text("assertuser")
            return None if named is None else named_assertion_failed(named)
        case "assertanonfailed" | "assertbotfailed" | "assertuserfailed":
            asserted = code.removeprefix("assert").removesuffix("failed")
            return assertion_failed(asserted) if main.text("assert") == asserted else None
        case "badtoken":
            return None if action.token is None else _of_action(action, bad_token())
        case "readonly":
            return _worded(code, {"readonlyreason": _READ_ONLY_REASON})
    if action.name not in _ACTIONS[code]:
        return None
    return _of_action(action, _worded(code, {"blockinfo": _BLOCK} if code in {"blocked", "autoblocked"} else {}))


def _worded(code: str, data: Mapping[str, Tree]) -> ApiError:
    words = ERROR_WORDS[code]
    return ApiError(code, words.english, data=data, message=ErrorMessage(words.key))


def _of_action(action: Action, error: ApiError) -> ApiError:
    error.module = action.name
    return error
