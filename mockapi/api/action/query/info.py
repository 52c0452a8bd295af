"""`prop=info`: what there is to know about pages without reading them, also about those that do not exist."""

import html
from typing import Final

from mockapi.api.action.call import CacheMode, Call
from mockapi.api.action.errors import ApiError, bad_continue
from mockapi.api.action.module import Continue, QueryModule
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.query.page_set import PageSet
from mockapi.api.action.query.revision_info import second_of
from mockapi.api.action.tree import Tree
from mockapi.wiki.catalog import Located
from mockapi.wiki.edits.source import content_model_of
from mockapi.wiki.facts import facts
from mockapi.wiki.namespaces import FILE
from mockapi.wiki.timestamps import iso
from mockapi.wiki.title import Title, article_path, edit_path

_PROPS: Final = (
    "protection", "talkid", "watched", "watchers", "visitingwatchers", "notificationtimestamp", "subjectid",
    "associatedpage", "url", "readable", "preload", "preloadcontent", "editintro", "displaytitle", "varianttitles",
    "linkclasses",
)  # fmt: skip
_PUBLIC: Final = frozenset(
    {"protection", "talkid", "subjectid", "associatedpage", "url", "preload", "displaytitle", "varianttitles"}
)
_RIGHT_TO_LEFT: Final = frozenset(
    {"ar", "arc", "arz", "azb", "ckb", "dv", "fa", "he", "lrc", "mzn", "ps", "sd", "ug", "ur", "yi"}
)

PARAMETERS: Final = (
    Parameter("prop", allowed=_PROPS, several=True, deprecated_values=frozenset({"readable", "preload"})),
    Parameter("linkcontext", default="Main Page"),
    Parameter("testactions", several=True),
    Parameter("testactionsdetail", allowed=("boolean", "full", "quick"), default="boolean"),
    Parameter("testactionsautocreate", Kind.FLAG),
    Parameter("preloadcustom"),
    Parameter("preloadparams", several=True),
    Parameter("preloadnewsection", Kind.FLAG),
    Parameter("editintrostyle", default="moreframes"),
    Parameter("editintroskip", several=True),
    Parameter("editintrocustom"),
    Parameter("continue"),
)


async def run(call: Call, arguments: Arguments, pages: PageSet, query: dict[str, Tree]) -> Continue:  # noqa: ARG001
    """Adds to the nodes of the pages, the missing ones among them."""
    props = arguments.many("prop") or ()
    if {"preloadcontent", "editintro"} & set(props) and len(pages.good) + len(pages.missing) > 1:
        raise ApiError(
            "invalidparammix",
            'Multiple pages or revisions were supplied, but "inprop=preloadcontent" and "inprop=editintro" may only be '
            "used with a single page and revision.",
        )
    listed: list[tuple[Title, int, Located | None]] = [
        *((title, number, None) for number, title in pages.missing.items()),
        *((call.wiki.title_of(located.page), page_id, located) for page_id, located in pages.good.items()),
    ]
    listed.sort(key=lambda entry: (entry[0].namespace_id, entry[0].key.encode()))
    start = _start(arguments)
    for title, number, located in listed:
        if start is not None and (title.namespace_id, title.key.encode()) < start:
            continue
        info = _info(call, arguments, title, located)
        if not call.result.fits(info):
            return {"incontinue": f"{title.namespace_id}|{title.key}"}
        pages.nodes[number].update(info)
    return {}


def cache(call: Call, arguments: Arguments) -> CacheMode:  # noqa: ARG001 - one of the forms of `QueryModule.cache`
    """Private for what depends on who asks."""
    asks_about_itself = arguments.many("testactions") or set(arguments.many("prop") or ()) - _PUBLIC
    return "private" if asks_about_itself else "public"


def _start(arguments: Arguments) -> tuple[int, bytes] | None:
    text = arguments.text("continue")
    if text is None:
        return None
    number, separator, key = text.partition("|")
    if not (separator and number.isascii() and number.isdigit() and len(number) < 10):
        raise bad_continue()
    return int(number), key.encode()


def _info(call: Call, arguments: Arguments, title: Title, located: Located | None) -> dict[str, Tree]:
    language = call.wiki.language
    info: dict[str, Tree] = {
        "contentmodel": content_model_of(title) if located is None else located.page.content_model,
        "pagelanguage": language,
        "pagelanguagehtmlcode": language,
        "pagelanguagedir": "rtl" if language in _RIGHT_TO_LEFT else "ltr",
    }
    if located is not None:
        known = facts(call.world.seed, located)
        info |= {"touched": iso(second_of(located)), "lastrevid": located.revision.rev_id, "length": known.size}
        if known.redirect_target is not None:
            info["redirect"] = True
        if located.revision == located.page.revisions[0]:
            info["new"] = True
    for prop in _PROPS_IN_ORDER:
        if prop in (arguments.many("prop") or ()):
            info |= _about(call, prop, title, located)
    actions = arguments.many("testactions")
    if actions:
        info["actions"] = {action: call.may(action) for action in actions}
    return info


_PROPS_IN_ORDER: Final = (
    "protection", "watched", "notificationtimestamp", "talkid", "subjectid", "associatedpage", "url", "readable",
    "preload", "displaytitle", "varianttitles", "linkclasses",
)  # fmt: skip


def _about(call: Call, prop: str, title: Title, located: Located | None) -> dict[str, Tree]:
    match prop:
        case "protection":
            return {"protection": [], "restrictiontypes": _restriction_types(title, located)}
        case "watched":
            return {"watched": False}
        case "notificationtimestamp":
            return {"notificationtimestamp": ""}
        case "talkid" if title.namespace_id % 2 == 0:
            return _id_of_associate(call, "talkid", title)
        case "subjectid" if title.namespace_id % 2 == 1:
            return _id_of_associate(call, "subjectid", title)
        case "associatedpage":
            return {"associatedpage": _associate(call, title).text}
        case "url":
            return _addresses(call, title)
        case "readable":
            return {"readable": True}
        case "preload":
            return {"preload": ""}
        case "displaytitle":
            return {"displaytitle": html.escape(title.text, quote=False)}
        case "varianttitles" if located is not None:
            return {"varianttitles": {call.wiki.language: title.text}}
        case "linkclasses" if located is not None:
            return {"linkclasses": []}
        case _:
            return {}


def _restriction_types(title: Title, located: Located | None) -> list[Tree]:
    if located is None:
        return ["create"]
    return ["edit", "move", "upload"] if title.namespace_id == FILE else ["edit", "move"]


def _associate(call: Call, title: Title) -> Title:
    return call.wiki.in_namespace(title, title.namespace_id ^ 1)


def _id_of_associate(call: Call, name: str, title: Title) -> dict[str, Tree]:
    page = call.wiki.page(_associate(call, title))
    return {} if page is None else {name: page.page_id}


def _addresses(call: Call, title: Title) -> dict[str, Tree]:
    address = call.wiki.server + article_path(title)
    return {"fullurl": address, "editurl": call.wiki.server + edit_path(title), "canonicalurl": address}


MODULE: Final = QueryModule("info", "in", PARAMETERS, run, cache)
