"""`action=delete`: takes a page away from readers."""

from typing import Final

from mockapi.api.action.call import Call, refused
from mockapi.api.action.module import Action
from mockapi.api.action.pages import page_title, require
from mockapi.api.action.parameters import WATCHLIST, Arguments, Kind, Parameter
from mockapi.wiki.written import WriteError

PARAMETERS: Final = (
    Parameter("title"),
    Parameter("pageid", Kind.INTEGER),
    Parameter("reason"),
    Parameter("tags", several=True),
    Parameter("deletetalk", Kind.FLAG),
    Parameter("watch", Kind.FLAG, deprecated=True),
    WATCHLIST,
    Parameter("unwatch", Kind.FLAG, deprecated=True),
    Parameter("oldimage"),
    Parameter("token", required=True),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `delete`. Raises ApiError without the right, or when there is no such page."""
    title = page_title(call, arguments)
    require(call, "delete")
    try:
        result = call.world.overlay(call.wiki).delete(title, reason=arguments.text("reason"))
    except WriteError as error:
        raise refused(error) from None
    call.wrote = True
    call.result.add("delete", {"title": result.title, "reason": result.reason, "logid": result.log_id})


ACTION: Final = Action("delete", PARAMETERS, run, posted=True, writes=True, token="csrf")
