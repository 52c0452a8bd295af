"""`action=undelete`: brings a deleted page back, with all its revisions."""

from typing import Final

from mockapi.api.action.call import Call, refused
from mockapi.api.action.module import Action
from mockapi.api.action.pages import require, writable
from mockapi.api.action.parameters import WATCHLIST, Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.written import WriteError

PARAMETERS: Final = (
    Parameter("title", required=True),
    Parameter("reason", default=""),
    Parameter("tags", several=True),
    Parameter("timestamps", several=True),
    Parameter("fileids", Kind.INTEGER, several=True),
    Parameter("undeletetalk", Kind.FLAG),
    WATCHLIST,
    Parameter("token", required=True),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `undelete`, with the number of revisions. Raises ApiError without the right, or with nothing to restore."""
    require(call, "undelete")
    title = writable(call.title(arguments.text("title") or ""))
    try:
        result = call.world.overlay(call.wiki).undelete(title, reason=arguments.text("reason") or "")
    except WriteError as error:
        raise refused(error) from None
    answer: dict[str, Tree] = {
        "title": result.title,
        "revisions": result.revisions,
        "fileversions": 0,
        "reason": result.reason,
    }
    call.wrote = True
    call.result.add("undelete", answer)


ACTION: Final = Action(
    "undelete",
    PARAMETERS,
    run,
    posted=True,
    writes=True,
    token="csrf",
)
