"""`action=userrights`: puts a user into groups, and takes the user out of others."""

from collections.abc import Sequence
from typing import Final

from mockapi.routes.action.call import Call, one_line
from mockapi.routes.action.errors import ApiError, not_together, one_of_required
from mockapi.routes.action.module import Action
from mockapi.routes.action.parameters import Arguments, Kind, Parameter
from mockapi.routes.action.tree import Numbered
from mockapi.wiki.accounts import User
from mockapi.wiki.rights import GROUPS

PARAMETERS: Final = (
    Parameter("user"),
    Parameter("userid", Kind.INTEGER, deprecated=True),
    Parameter("add", allowed=GROUPS, several=True),
    Parameter("expiry", several=True, default="infinite"),
    Parameter("remove", allowed=GROUPS, several=True),
    Parameter("reason", default=""),
    Parameter("token", required=True),
    Parameter("tags", several=True),
    Parameter("watchuser", Kind.FLAG),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `userrights`: what really changed."""
    user = _user(call, arguments)
    add, remove = arguments.many("add") or (), arguments.many("remove") or ()
    if call.may("userrights"):
        change = call.accounts.change_groups(user.name, add=add, remove=remove)
        added, removed = change.added, change.removed
        call.wrote = True
    else:
        added = removed = ()
    call.result.add(
        "userrights",
        {
            "user": user.name,
            "userid": user.id,
            "added": _by_place(add, added),
            "removed": _by_place(remove, removed),
            "watchuser": arguments.flag("watchuser"),
        },
    )


def _by_place(asked: Sequence[str], done: Sequence[str]) -> Numbered:
    """What was done, each at the place where it was asked for."""
    return Numbered({place: group for place, group in enumerate(asked) if group in done})


def _check(call: Call, arguments: Arguments) -> None:
    _user(call, arguments)


def _user(call: Call, arguments: Arguments) -> User:
    name, user_id = arguments.text("user"), arguments.integer("userid")
    if name is not None and user_id is not None:
        raise not_together(["user", "userid"])
    if name is None and user_id is None:
        raise one_of_required(["user", "userid"])
    if name is not None:
        found = call.accounts.user(name)
    else:
        found = next((user for user in call.accounts.users if user.id == user_id), None)
    if found is None:
        shown = name if name is not None else f"#{user_id}"
        raise ApiError("nosuchuser", one_line(f'There is no user by the name "{shown}".\nCheck your spelling.'))
    return found


ACTION: Final = Action(
    "userrights",
    PARAMETERS,
    run,
    posted=True,
    writes=True,
    token="userrights",
    check=_check,
)
