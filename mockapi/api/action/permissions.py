"""Who may edit what: the pages that not everybody may."""

from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError
from mockapi.wiki.namespaces import SYSTEM_MESSAGE, USER
from mockapi.wiki.source import content_model_of
from mockapi.wiki.title import Title

_CODE: Final = {"css": ("css", "CSS"), "javascript": ("js", "JavaScript"), "json": ("json", "JSON")}


def check_edit(call: Call, title: Title) -> None:
    """Raises ApiError for who asks may not edit the page: the wiki's own messages and code, and that of others."""
    if title.namespace_id == SYSTEM_MESSAGE and not call.may("editinterface"):
        raise ApiError(
            "protectednamespace-interface",
            "This page provides interface text for the software on this wiki, and is protected to prevent abuse. "
            "To add or change translations for all wikis, please use [https://translatewiki.net/ translatewiki.net], "
            "the MediaWiki localisation project.",
        )
    kind, name = _CODE.get(content_model_of(title), ("", ""))
    if kind and title.namespace_id == SYSTEM_MESSAGE and not call.may(f"editsite{kind}"):
        text = f"You do not have permission to edit this {name} page because it may affect all visitors."
        raise ApiError(f"site{kind}protected", text)
    if kind and title.namespace_id == USER and not _is_own(call, title) and not call.may(f"edituser{kind}"):
        text = (
            f"You do not have permission to edit this {name} page because it contains another user's personal settings."
        )
        raise ApiError(f"custom{kind}protected", text)


def _is_own(call: Call, title: Title) -> bool:
    user = call.user
    return user is not None and title.key.partition("/")[0].replace("_", " ") == user.name
