"""Which page an action is about: named by its title or by its id, but not by both."""

from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError, no_such_page_id, not_together, one_of_required
from mockapi.api.action.parameters import Arguments
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
