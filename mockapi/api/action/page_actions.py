"""`delete`, `undelete` and `move`, and how an action names its page: by title or by id, but not by both."""

from typing import Final

from mockapi.api.action.call import Call, refused
from mockapi.api.action.errors import ApiError, missing_title, no_such_page_id, not_together, one_of_required
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import WATCHLIST, Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.title import Title


def page_title(
    call: Call, arguments: Arguments, by_title: str = "title", by_id: str = "pageid", *, special: bool = False
) -> Title:
    """The title of the page, which need not exist if it is named by it. Raises ApiError, also for a special page
    unless `special`.
    """
    text, page_id = arguments.text(by_title), arguments.integer(by_id)
    if text is not None and page_id is not None:
        raise not_together([arguments.full(by_title), arguments.full(by_id)])
    if text is not None:
        return call.title(text) if special else writable(call.title(text))
    if page_id is None:
        raise one_of_required([arguments.full(by_title), arguments.full(by_id)])
    page = call.wiki.page_by_id(page_id)
    if page is None:
        raise no_such_page_id(page_id)
    return call.wiki.title_of(page)


def writable(title: Title) -> Title:
    """The title, if a page can have it. Raises ApiError."""
    if not title.can_exist:
        raise ApiError("pagecannotexist", "Namespace doesn't allow actual pages.")
    return title


def require(call: Call, right: str) -> None:
    """Raises ApiError unless who asks has a right that administrators have."""
    if not call.may(right):
        raise ApiError(
            "permissiondenied",
            "The action you have requested is limited to users in the group: "
            f"[[{call.wiki.sitename}:Administrators|Administrators]].",
        )


_DELETE_PARAMETERS: Final = (
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


async def _run_delete(call: Call, arguments: Arguments) -> None:
    """Adds `delete`. Raises ApiError without the right, or when there is no such page."""
    title = page_title(call, arguments)
    require(call, "delete")
    try:
        result = call.overlay.delete(title, by=call.author, reason=arguments.text("reason"))
    except WriteError as error:
        raise refused(error) from None
    call.wrote = True
    call.result.add("delete", {"title": title.text, "reason": result.reason, "logid": result.log_id})


DELETE: Final = Action("delete", _DELETE_PARAMETERS, _run_delete, posted=True, writes=True, token="csrf")


_UNDELETE_PARAMETERS: Final = (
    Parameter("title", required=True),
    Parameter("reason", default=""),
    Parameter("tags", several=True),
    Parameter("timestamps", several=True),
    Parameter("fileids", Kind.INTEGER, several=True),
    Parameter("undeletetalk", Kind.FLAG),
    WATCHLIST,
    Parameter("token", required=True),
)


async def _run_undelete(call: Call, arguments: Arguments) -> None:
    """Adds `undelete`, with the number of revisions. Raises ApiError without the right, or with nothing to restore."""
    require(call, "undelete")
    title = writable(call.title(arguments.text("title") or ""))
    try:
        reason = arguments.text("reason") or ""
        revisions = call.overlay.undelete(title, by=call.author, reason=reason)
    except WriteError as error:
        raise refused(error) from None
    answer: dict[str, Tree] = {"title": title.text, "revisions": revisions, "fileversions": 0}
    answer["reason"] = reason
    call.wrote = True
    call.result.add("undelete", answer)


UNDELETE: Final = Action("undelete", _UNDELETE_PARAMETERS, _run_undelete, posted=True, writes=True, token="csrf")


_MOVE_PARAMETERS: Final = (
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


async def _run_move(call: Call, arguments: Arguments) -> None:
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
        result = call.overlay.move(
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


MOVE: Final = Action("move", _MOVE_PARAMETERS, _run_move, posted=True, writes=True, token="csrf")
