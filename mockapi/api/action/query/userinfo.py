"""`meta=userinfo`: who asks, with which groups and rights."""

from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.module import Continue, QueryModule, private
from mockapi.api.action.parameters import Arguments, Parameter
from mockapi.api.action.query.page_set import PageSet
from mockapi.api.action.tree import Record, Tree
from mockapi.wiki.accounts import GROUPS, IMPLICIT, User

_PROPS: Final = (
    "blockinfo", "hasmsg", "groups", "groupmemberships", "implicitgroups", "rights", "changeablegroups", "options",
    "editcount", "ratelimits", "theoreticalratelimits", "email", "realname", "acceptlang", "registrationdate",
    "unreadcount", "centralids", "latestcontrib", "cancreateaccount",
)  # fmt: skip

PARAMETERS: Final = (Parameter("prop", allowed=_PROPS, several=True, all_values=True), Parameter("attachedwiki"))


async def run(call: Call, arguments: Arguments, pages: PageSet, query: dict[str, Tree]) -> Continue:  # noqa: ARG001
    """Adds `userinfo`; its id is 0, with `anon`, for a client without an account."""
    user, wanted = call.user, arguments.many("prop") or ()
    info: dict[str, Tree] = {"id": 0 if user is None else user.id, "name": call.author.name}
    if user is None:
        info["anon"] = True
    for prop in _IN_ORDER:
        if prop in wanted:
            info |= _about(call, prop, user)
    query["userinfo"] = info
    return {}


_IN_ORDER: Final = (
    "hasmsg", "groups", "groupmemberships", "implicitgroups", "rights", "changeablegroups", "options", "editcount",
    "ratelimits", "theoreticalratelimits", "realname", "email", "registrationdate", "unreadcount", "centralids",
    "latestcontrib", "cancreateaccount",
)  # fmt: skip


def _about(call: Call, prop: str, user: User | None) -> dict[str, Tree]:
    match prop:
        case "hasmsg":
            return {"messages": False}
        case "groups":
            return {"groups": list(call.accounts.groups_of(user))}
        case "groupmemberships":
            groups = () if user is None else user.groups
            return {"groupmemberships": [{"group": group, "expiry": "infinity"} for group in groups]}
        case "implicitgroups":
            return {"implicitgroups": ["*"] if user is None else list(IMPLICIT)}
        case "rights":
            return {"rights": list(call.accounts.rights_of(user))}
        case "changeablegroups":
            groups = GROUPS if call.may("userrights") else ()
            nothing: list[Tree] = []
            changeable: dict[str, Tree] = {
                "add": list(groups), "remove": list(groups), "add-self": nothing, "remove-self": nothing
            }  # fmt: skip
            return {"changeablegroups": changeable}
        case "editcount":
            return {"editcount": 0}
        case "realname" | "email":
            return {prop: ""}
        case "ratelimits" | "theoreticalratelimits":
            return {prop: Record({})}
        case "unreadcount":
            return {"unreadcount": 0}
        case "centralids":
            number = 0 if user is None else user.id
            return {"centralids": {"local": number}, "attachedlocal": Record({"local": user is not None})}
        case "cancreateaccount":
            return {"cancreateaccount": True}
        case _:
            return {}


MODULE: Final = QueryModule("userinfo", "ui", PARAMETERS, run, private)
