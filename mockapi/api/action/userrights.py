"""`action=userrights`: puts a user into groups."""

from typing import Final

from mockapi.api.action.call import Call, one_line
from mockapi.api.action.errors import ApiError
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.accounts import AccountError
from mockapi.wiki.rights import GROUPS

PARAMETERS: Final = (
    Parameter("user", required=True),
    Parameter("add", allowed=GROUPS, several=True),
    *(Parameter(name, unimplemented=True) for name in ("userid", "expiry", "remove")),
    Parameter("reason", default=""),
    Parameter("token", required=True),
    Parameter("tags", several=True),
    Parameter("watchuser", Kind.FLAG),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `userrights`: the groups that are new, none without the right. Raises ApiError for an unknown user."""
    allowed = call.may("userrights")
    groups = arguments.many("add") or () if allowed else ()
    try:
        user, added = call.accounts.add_groups(arguments.text("user") or "", groups)
    except AccountError as error:
        raise ApiError(error.code, one_line(error.english)) from None
    call.wrote = allowed
    answer: dict[str, Tree] = {"user": user.name, "userid": user.id, "added": added, "removed": []}
    call.result.add("userrights", {**answer, "watchuser": arguments.flag("watchuser")})


ACTION: Final = Action(
    "userrights",
    PARAMETERS,
    run,
    posted=True,
    writes=True,
    token="userrights",
)
"""It makes administrators for MediaWiki's own tests of its API, which never take a group away."""
