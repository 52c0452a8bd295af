"""What `prop=revisions` tells of one revision, in MediaWiki's order of members.

The text stands in a slot, or, when the client does not name slots, on the revision itself: the old shape.
"""

import html
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.errors import ApiError
from mockapi.api.action.query.visibility import HiddenParts, hidden
from mockapi.api.action.tree import Content, Record, Tree
from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.edits.source import section_of
from mockapi.wiki.facts import Facts, facts
from mockapi.wiki.timestamps import iso, seconds
from mockapi.wiki.title import InvalidTitle, article_path, edit_path
from mockapi.wiki.wiki import Wiki

_FORMATS: Final = {
    "wikitext": "text/x-wiki",
    "javascript": "text/javascript",
    "css": "text/css",
    "json": "application/json",
    "text": "text/plain",
}
_OF_SLOTS: Final = frozenset({"content", "contentmodel", "slotsize", "slotsha1"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client wants to know: the values of `rvprop`, and of `rvslots` (None: the old shape)."""

    props: frozenset[str]
    slots: tuple[str, ...] | None
    section: str | None = None

    @property
    def needs_slots(self) -> bool:
        """Whether anything about the text is wanted."""
        return bool(self.props & _OF_SLOTS)


def revision_info(call: Call, located: Located, wanted: Wanted) -> dict[str, Tree]:
    """The revision's node. Raises ApiError for a section that is not there, in the old shape."""
    known, hides, props = facts(call.world.seed, located), hidden(call, located), wanted.props
    revision = located.revision
    info: dict[str, Tree] = {}
    if "ids" in props:
        info |= {"revid": revision.rev_id, "parentid": revision.parent_id}
    if "flags" in props:
        info["minor"] = known.minor
    if props & {"user", "userid"}:
        info |= _user(known, hides, props)
    if "timestamp" in props:
        info["timestamp"] = iso(second_of(located))
    if "size" in props:
        info["size"] = known.size
    if "sha1" in props:
        info |= _sha1(known, hides)
    if "roles" in props:
        info["roles"] = ["main"]
    if wanted.needs_slots:
        info |= _slots(known, hides, wanted)
    if props & {"comment", "parsedcomment"}:
        info |= _comment(call, known, hides, props)
    if "tags" in props:
        info["tags"] = []
    if hides.suppressed and _shows_hidden(hides, wanted):
        info["suppressed"] = True
    return info


def second_of(located: Located) -> datetime:
    """The revision's time without fractions, as the API shows it."""
    return seconds(located.revision.timestamp)


def _user(known: Facts, hides: HiddenParts, props: frozenset[str]) -> dict[str, Tree]:
    sight = hides.sight("user")
    info: dict[str, Tree] = {} if sight == "open" else {"userhidden": True}
    if sight == "hidden":
        return info
    if "user" in props:
        info["user"] = known.user
    if known.anonymous:
        info["anon"] = True
    if "userid" in props:
        info["userid"] = known.user_id
    return info


def _sha1(known: Facts, hides: HiddenParts) -> dict[str, Tree]:
    match hides.sight("text"):
        case "open":
            return {"sha1": known.sha1}
        case "seen":
            return {"sha1hidden": True, "sha1": known.sha1}
        case _:
            return {"sha1hidden": True}


def _comment(call: Call, known: Facts, hides: HiddenParts, props: frozenset[str]) -> dict[str, Tree]:
    sight = hides.sight("comment")
    info: dict[str, Tree] = {} if sight == "open" else {"commenthidden": True}
    if sight == "hidden":
        return info
    if "comment" in props:
        info["comment"] = known.comment
    if "parsedcomment" in props:
        info["parsedcomment"] = comment_html(call.wiki, known.located.page, known.comment)
    return info


def _slots(known: Facts, hides: HiddenParts, wanted: Wanted) -> dict[str, Tree]:
    slot = _slot(known, hides, wanted)
    if wanted.slots is not None:
        return {"slots": Record({"main": slot} if "main" in wanted.slots else {})}
    if "nosuchsection" in slot:
        rev_id = known.located.revision.rev_id
        raise ApiError("nosuchsection", f"There is no section {wanted.section} in revision {rev_id}.")
    return slot


def _slot(known: Facts, hides: HiddenParts, wanted: Wanted) -> dict[str, Tree]:
    props, model, sight = wanted.props, known.located.page.content_model, hides.sight("text")
    slot: dict[str, Tree] = {}
    if "slotsize" in props:
        slot["size"] = known.size
    if "slotsha1" in props:
        slot |= _sha1(known, hides)
    if "contentmodel" in props:
        slot["contentmodel"] = model
    if "content" not in props:
        return slot
    if sight != "open":
        slot["texthidden"] = True
    if sight == "hidden":
        return slot
    text = known.text if wanted.section is None else section_of(known.text, wanted.section)
    if text is None:
        return {**slot, "nosuchsection": True}
    content_format = _FORMATS.get(model, "text/plain")
    if wanted.slots is None:
        return {**slot, "contentformat": content_format, "contentmodel": model, "content": Content(text)}
    return {**slot, "contentmodel": model, "contentformat": content_format, "content": Content(text)}


def _shows_hidden(hides: HiddenParts, wanted: Wanted) -> bool:
    """Whether something that is wanted is hidden."""
    props = wanted.props
    return (
        ("user" in hides.parts and bool(props & {"user", "userid"}))
        or ("comment" in hides.parts and bool(props & {"comment", "parsedcomment"}))
        or ("text" in hides.parts and bool(props & {"sha1", "slotsha1", "content"}))
    )


_SECTION: Final = re.compile(r"/\*\s*(.*?)\s*\*/(.*)", re.DOTALL)
_LINK: Final = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")


def comment_html(wiki: Wiki, page: CatalogPage, comment: str) -> str:
    """Escaped, with `[[…]]` as links, and `/* section */` as a link into `page`."""
    match = _SECTION.match(comment)
    if match is None:
        return _links(wiki, comment)
    title, section, rest = wiki.title_of(page), _escaped(match[1]), _links(wiki, match[2])
    address = html.escape(article_path(title)) + "#" + section.replace(" ", "_")
    link = f'<a href="{address}" title="{_escaped(title.text)}">→<bdi dir="ltr">{section}</bdi></a>'
    return f'<span class="autocomment">{link}{": " if rest.strip() else ""}</span>{rest}'


def _links(wiki: Wiki, text: str) -> str:
    pieces, end = [], 0
    for link in _LINK.finditer(text):
        pieces += [_escaped(text[end : link.start()]), _link(wiki, link)]
        end = link.end()
    return "".join([*pieces, _escaped(text[end:])])


def _link(wiki: Wiki, link: re.Match[str]) -> str:
    try:
        title = wiki.title(link[1])
    except InvalidTitle:
        return _escaped(link[0])
    shown, name = _escaped(link[2] or link[1]), _escaped(title.text)
    if wiki.page(title) is not None or not title.can_exist:
        return f'<a href="{html.escape(article_path(title))}" title="{name}">{shown}</a>'
    address = html.escape(edit_path(title) + "&redlink=1")
    return f'<a href="{address}" class="new" title="{name} (page does not exist)">{shown}</a>'


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace('"', "&quot;")
