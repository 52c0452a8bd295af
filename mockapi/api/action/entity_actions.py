"""Wikibase's `wbsetlabel`, `wbsetsitelink`, `wbcreateredirect` and `wbmergeitems`, on entities that exist.

Each is an edit of the entity's page. Deletion is `delete`, of the page; a whole source, also of a new entity, is for
`edit`, which a real Wikibase refuses.
"""

from typing import Final

from mockapi.api.action.call import Call, refused
from mockapi.api.action.errors import ApiError
from mockapi.api.action.module import Action
from mockapi.api.action.parameters import Arguments, Kind, Parameter
from mockapi.api.action.tree import Tree
from mockapi.wiki.catalog import Located
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.facts import facts
from mockapi.wiki.wikibase.entity_id import ENTITY_ID, entity_id_of, entity_page
from mockapi.wiki.wikibase.entity_rdf import sitelinks_of
from mockapi.wiki.wikibase.entity_source import read_source, redirect_source, with_member

_OF_EVERY_EDIT: Final = (
    Parameter("summary"),
    Parameter("tags", several=True),
    Parameter("bot", Kind.FLAG),
    Parameter("token", required=True),
)


async def _set_label(call: Call, arguments: Arguments) -> None:
    """Adds `entity` with the label; an empty `value` removes it. Raises ApiError."""
    language, value = arguments.text("language") or "", arguments.text("value") or ""
    label: dict[str, Tree] = {"language": language, "value": value}
    _set_member(call, arguments, "labels", language, label)


async def _set_sitelink(call: Call, arguments: Arguments) -> None:
    """Adds `entity` with the sitelink; an empty `linktitle` removes it. Raises ApiError."""
    site, title = arguments.text("linksite") or "", arguments.text("linktitle") or ""
    badges: list[Tree] = [badge for badge in (arguments.text("badges") or "").split("|") if badge]
    _set_member(call, arguments, "sitelinks", site, {"site": site, "title": title, "badges": badges})


def _set_member(call: Call, arguments: Arguments, group: str, key: str, value: dict[str, Tree]) -> None:
    located = _located(call, arguments.text("id") or "")
    entity = _saved(call, arguments, located, with_member(_source(call, located), group, key, value))
    call.result.add("entity", {**entity, group: {key: value}})
    call.result.add("success", 1)


async def _create_redirect(call: Call, arguments: Arguments) -> None:
    """Adds `redirect`, the id of the target. Raises ApiError."""
    source = _located(call, arguments.text("from") or "")
    target = entity_id_of(_located(call, arguments.text("to") or "").page)
    _saved(call, arguments, source, redirect_source(entity_id_of(source.page), target))
    call.result.add("success", 1)
    call.result.add("redirect", target)


async def _merge_items(call: Call, arguments: Arguments) -> None:
    """Moves the sitelinks to the target and lets the other item redirect to it; adds `from` and `to`. Raises ApiError.

    Other than in Wikibase, terms and statements stay behind, and the target's sitelink wins where both have one.
    """
    source, target = _located(call, arguments.text("fromid") or ""), _located(call, arguments.text("toid") or "")
    text, kept = _source(call, target), sitelinks_of(call.world.seed, target)
    for site, (title, badges) in sitelinks_of(call.world.seed, source).items():
        if site not in kept:
            text = with_member(text, "sitelinks", site, {"site": site, "title": title, "badges": list(badges)})
    merged = _saved(call, arguments, target, text)
    redirect = redirect_source(entity_id_of(source.page), entity_id_of(target.page))
    call.result.add("success", 1)
    call.result.add("redirected", 1)
    call.result.add("from", _saved(call, arguments, source, redirect))
    call.result.add("to", merged)


def _located(call: Call, entity: str) -> Located:
    """The current revision of an entity that is no redirect. Raises ApiError."""
    page = entity_page(call.wiki, entity) if ENTITY_ID.fullmatch(entity) else None
    if page is None:
        raise ApiError("no-such-entity", f'Could not find an entity with the ID "{entity}".')
    located = call.wiki.latest(page)
    try:
        target = read_source(located).redirect
    except ValueError as error:
        raise ApiError("cant-load-entity-content", str(error)) from None
    if target is not None:
        raise ApiError("unresolved-redirect", f"{entity} is a redirect to {target}.")
    return located


def _source(call: Call, located: Located) -> str:
    return facts(call.world.seed, located).text


def _saved(call: Call, arguments: Arguments, located: Located, source: str) -> dict[str, Tree]:
    """Saves the source; what answers say of the entity. Raises ApiError."""
    title = call.wiki.title_of(located.page)
    try:
        saved = call.overlay.edit(title, source, by=call.author, summary=arguments.text("summary") or "")
    except WriteError as error:
        raise refused(error) from None
    call.wrote = True
    kind = located.page.content_model.removeprefix("wikibase-")
    return {"id": entity_id_of(located.page), "type": kind, "lastrevid": saved.new_rev_id or saved.old_rev_id}


def _needed(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, required=True) for name in names)


ENTITY_ACTIONS: Final = tuple(
    Action(name, (*parameters, *_OF_EVERY_EDIT), run, posted=True, writes=True, token="csrf")
    for name, parameters, run in (
        ("wbsetlabel", (*_needed("id", "language"), Parameter("value", default="")), _set_label),
        (
            "wbsetsitelink",
            (*_needed("id", "linksite"), Parameter("linktitle", default=""), Parameter("badges")),
            _set_sitelink,
        ),
        ("wbcreateredirect", _needed("from", "to"), _create_redirect),
        ("wbmergeitems", _needed("fromid", "toid"), _merge_items),
    )
)
