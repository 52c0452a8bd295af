"""What the REST API says about pages and revisions: members in MediaWiki's order.

The licence is empty, as on a wiki that names none.
"""

from typing import Any, Final

from mockapi.api.rest.redirects import written_target
from mockapi.api.rest.visibility import Visible
from mockapi.wiki.catalog import Located
from mockapi.wiki.facts import delta, facts
from mockapi.wiki.timestamps import iso
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki, revision_of

Members = dict[str, Any]
"""Members of a JSON object, in their order."""

_LICENSE: Final = {"url": "", "title": ""}


def page_members(wiki: Wiki, seen: Visible) -> Members:
    """Of a page whose current revision is `seen`."""
    page, revision = seen.located.page, seen.located.revision
    return {
        "id": page.page_id,
        **_name(wiki.title_of(page)),
        "latest": {"id": revision.rev_id, "timestamp": iso(revision.timestamp)},
        "content_model": page.content_model,
        "license": _LICENSE,
    }


def message_members(title: Title) -> Members:
    """Of a system message that has no page."""
    return {
        "id": 0,
        **_name(title),
        "latest": {"id": 0, "timestamp": None},
        "content_model": "wikitext",
        "license": _LICENSE,
    }


def revision_members(wiki: Wiki, seed: int, seen: Visible) -> Members:
    """Of a revision; user and comment are null when they are hidden."""
    located = seen.located
    page, revision = located.page, located.revision
    known = facts(seed, located)
    return {
        "id": revision.rev_id,
        "size": known.size,
        "minor": known.minor,
        "timestamp": iso(revision.timestamp),
        "content_model": page.content_model,
        "page": {"id": page.page_id, **_name(wiki.title_of(page))},
        "license": _LICENSE,
        "user": None if "user" in seen.hidden else {"id": known.user_id or None, "name": known.user},
        "comment": None if "comment" in seen.hidden else known.comment,
        "delta": delta(seed, located),
    }


def compatible_members(wiki: Wiki, seed: int, seen: Visible, *, redirect: bool) -> Members:
    """Of a revision as RESTBase listed it. The id of a hidden user stays, as in MediaWiki."""
    located = seen.located
    known = facts(seed, located)
    item = {
        "title": wiki.title_of(located.page).dbkey,
        "page_id": located.page.page_id,
        "rev": located.revision.rev_id,
        "tid": "DUMMY",
        "namespace": located.page.namespace_id,
        "user_id": known.user_id,
        "user_text": None if "user" in seen.hidden else known.user,
        "comment": None if "comment" in seen.hidden else known.comment,
        "timestamp": iso(located.revision.timestamp),
        "tags": _tags(located),
        "restrictions": [f"{part}hidden" for part in ("comment", "user") if part in seen.hidden],
        "page_language": wiki.language,
        "redirect": redirect,
    }
    return {"items": [item]}


def _tags(located: Located) -> list[str]:
    """The one that MediaWiki gives of itself to a page that becomes a redirect."""
    if written_target(located) is None:
        return []
    parent = revision_of(located.page, located.revision.parent_id)
    new = parent is None or written_target(Located(located.page, parent)) is None
    return ["mw-new-redirect"] if new else []


def _name(title: Title) -> Members:
    return {"key": title.dbkey, "title": title.text}
