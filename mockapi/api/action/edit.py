"""`action=edit`: makes or changes a page, whole or a section of it."""

import hashlib
from functools import partial
from typing import Final

from mockapi.api.action.call import Call, refused
from mockapi.api.action.errors import ApiError, at_least_one_required
from mockapi.api.action.module import Action
from mockapi.api.action.page_actions import page_title
from mockapi.api.action.parameters import WATCHLIST, Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.edits.merge import EditBase
from mockapi.wiki.edits.results import EditResult, WriteError
from mockapi.wiki.edits.source import content_model_of, section_of, with_section
from mockapi.wiki.facts import facts
from mockapi.wiki.namespaces import SYSTEM_MESSAGE, USER
from mockapi.wiki.timestamps import iso, seconds
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wikibase.entity_id import CONTENT_MODELS

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


_TEXTS: Final = ("text", "appendtext", "prependtext", "undo")

PARAMETERS: Final = (
    Parameter("title"),
    Parameter("pageid", Kind.INTEGER),
    Parameter("section"),
    Parameter("sectiontitle"),
    Parameter("text"),
    Parameter("summary"),
    Parameter("tags", several=True),
    Parameter("minor", Kind.FLAG),
    Parameter("notminor", Kind.FLAG),
    Parameter("bot", Kind.FLAG),
    Parameter("baserevid", Kind.INTEGER),
    Parameter("basetimestamp", Kind.TIMESTAMP),
    Parameter("starttimestamp", Kind.TIMESTAMP),
    Parameter("recreate", Kind.FLAG),
    Parameter("createonly", Kind.FLAG),
    Parameter("nocreate", Kind.FLAG),
    Parameter("watch", Kind.FLAG, deprecated=True),
    Parameter("unwatch", Kind.FLAG, deprecated=True),
    WATCHLIST,
    Parameter("md5"),
    Parameter("prependtext"),
    Parameter("appendtext"),
    Parameter("undo", Kind.INTEGER, unimplemented=True),
    Parameter("undoafter", Kind.INTEGER, unimplemented=True),
    Parameter("redirect", Kind.FLAG),
    Parameter("contentformat"),
    Parameter("contentmodel", allowed=("wikitext", "javascript", "json", "css", "text", *CONTENT_MODELS.values())),
    Parameter("returnto"),
    Parameter("returntoquery"),
    Parameter("token", required=True),
    Parameter("captchaword"),
    Parameter("captchaid"),
)


async def run(call: Call, arguments: Arguments) -> None:
    """Adds `edit`. Raises ApiError for an undo, which the mock cannot do, and for what the wiki refuses."""
    if all(arguments.values[name] is None for name in _TEXTS):
        raise at_least_one_required([arguments.full(name) for name in _TEXTS])
    title = page_title(call, arguments)
    answer: dict[str, Tree] = {}
    if arguments.flag("redirect"):
        leads_to = _target(call, title)
        if leads_to is not None:
            answer["redirects"] = [{"from": title.text, "to": leads_to.text}]
            title = leads_to
    if arguments.values["undo"] is not None:
        text = "The edit could not be undone due to conflicting intermediate edits."
        raise ApiError("undofailure", text)
    _check_md5(arguments)
    check_edit(call, title)
    try:
        result = _save(call, arguments, title)
    except WriteError as error:
        raise refused(error) from None
    if call.user is None:
        call.keep_session()
    call.wrote = True
    call.result.add("edit", answer | _shown(result))


def _save(call: Call, arguments: Arguments, title: Title) -> EditResult:
    section, text, summary = arguments.text("section"), arguments.text("text"), arguments.text("summary") or ""
    section_title = into = None
    if section == "new":
        section_title = arguments.text("sectiontitle")
        if section_title is None:
            section_title, summary = summary, ""
    elif section is not None:
        text = _text_of_section(call, title, section, text)
        into = partial(with_section, section)
    return call.overlay.edit(
        title,
        text,
        by=call.author,
        prepend=arguments.text("prependtext") or "",
        append=arguments.text("appendtext") or "",
        section_title=section_title,
        into=into,
        summary=summary,
        minor=arguments.flag("minor") and call.may("minoredit"),
        content_model=arguments.text("contentmodel"),
        base=_base(call, arguments),
        createonly=arguments.flag("createonly"),
        nocreate=arguments.flag("nocreate"),
    )


def _base(call: Call, arguments: Arguments) -> EditBase:
    # MediaWiki takes neither a 0 nor an empty time for a base.
    named = call.form.values.get(arguments.full("basetimestamp")) not in {None, "", "0"}
    moment = arguments.moment("basetimestamp")
    return EditBase(arguments.integer("baserevid") or None, seconds(moment) if moment and named else None)


def _text_of_section(call: Call, title: Title, section: str, text: str | None) -> str:
    """The text that a section gets: `text`, else what it is on the page. Raises ApiError for one that there is not."""
    page = call.wiki.page(title)
    current = section_of("" if page is None else facts(call.world.seed, call.wiki.latest(page)).text, section)
    if current is None:
        raise ApiError("nosuchsection", f"There is no section {section}.")
    return current if text is None else text


def _target(call: Call, title: Title) -> Title | None:
    page = call.wiki.page(title)
    target = None if page is None else facts(call.world.seed, call.wiki.latest(page)).redirect_target
    try:
        return None if target is None else call.wiki.title(target)
    except InvalidTitle:
        return None


def _check_md5(arguments: Arguments) -> None:
    expected = arguments.text("md5")
    if expected is None:
        return
    around = (arguments.text("prependtext") or "") + (arguments.text("appendtext") or "")
    text = around or arguments.text("text") or ""
    if hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() != expected:
        raise ApiError("badmd5", "The supplied MD5 hash was incorrect.")


def _shown(result: EditResult) -> dict[str, Tree]:
    answer: dict[str, Tree] = {"new": True} if result.new else {}
    answer |= {
        "result": "Success",
        "pageid": result.page_id,
        "title": result.title,
        "contentmodel": result.content_model,
    }
    if result.new_rev_id is None or result.timestamp is None:
        answer["nochange"] = True
    else:
        answer |= {"oldrevid": result.old_rev_id, "newrevid": result.new_rev_id, "newtimestamp": iso(result.timestamp)}
    return {**answer, "watched": True}


ACTION: Final = Action("edit", PARAMETERS, run, posted=True, writes=True, token="csrf")
