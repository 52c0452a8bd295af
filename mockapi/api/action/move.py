"""`action=move`: gives a page another title, and its talk page too if that is wanted."""

from typing import Final

from mockapi.api.action.call import Call, refused
from mockapi.api.action.errors import ApiError, missing_title
from mockapi.api.action.module import Action
from mockapi.api.action.pages import page_title
from mockapi.api.action.parameters import WATCHLIST, Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.title import Title
from mockapi.wiki.written import WriteError

PARAMETERS: Final = (
    Parameter("from"),
    Parameter("fromid", Kind.INTEGER),
    Parameter("to", required=True),
    Parameter("reason", default=""),
    Parameter("movetalk", Kind.FLAG),
    Parameter("movesubpages", Kind.FLAG),
    Parameter("noredirect", Kind.FLAG),
    WATCHLIST,
    Parameter("ignorewarnings", Kind.FLAG),
    Parameter("tags", several=True),
    Parameter("token", required=True),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `move`, the talk page's included where it moves along. Raises ApiError."""
    source = page_title(call, arguments, "from", "fromid", special=True)
    if call.wiki.page(source) is None:
        raise missing_title()
    target = call.title(arguments.text("to") or "")
    if not call.may("move"):
        text = "You must be a registered user and [[Special:UserLogin|logged in]] to move a page."
        raise ApiError("cantmove-anon", text)
    reason = arguments.text("reason") or ""
    moved = _moved(call, arguments, source, target)
    answer: dict[str, Tree] = {"from": source.text, "to": target.text, "reason": reason, **moved}
    talks = (_talk(call, source), _talk(call, target))
    if arguments.flag("movetalk") and talks[0] is not None and talks[1] is not None and call.wiki.page(talks[0]):
        over = _moved(call, arguments, talks[0], talks[1])["moveoverredirect"]
        answer |= {"talkfrom": talks[0].text, "talkto": talks[1].text, "talkmoveoverredirect": over}
    call.wrote = True
    call.result.add("move", answer)


def _moved(call: Call, arguments: Arguments, source: Title, target: Title) -> dict[str, Tree]:
    try:
        result = call.world.overlay(call.wiki).move(
            source,
            target,
            by=call.author,
            reason=arguments.text("reason") or "",
            noredirect=arguments.flag("noredirect") and call.may("suppressredirect"),
        )
    except WriteError as error:
        raise refused(error) from None
    return {"redirectcreated": result.redirect_created, "moveoverredirect": result.over_redirect}


def _talk(call: Call, title: Title) -> Title | None:
    if title.namespace_id % 2:
        return None
    return call.wiki.in_namespace(title, title.namespace_id + 1)


ACTION: Final = Action("move", PARAMETERS, run, posted=True, writes=True, token="csrf")
