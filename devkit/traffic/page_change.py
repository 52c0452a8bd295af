"""A change written as an event of mediawiki/page/change 1.2.0, member by member as MediaWiki's EventBus fills it.

    kind               changelog  moment (`dt`)     prior_state
    create             insert     of the revision   none
    edit               update     of the revision   the whole revision before
    move               update     of the revision   what differs of the page; the whole revision before
    delete             delete     of the deletion   when suppressed: the flags as they were
    undelete           insert     of restoring      none
    visibility_change  update     of the change     the changed flags as they were

What is hidden from readers is absent: an editor or a comment that is hidden, nearly everything of a suppressed
deletion.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from urllib.parse import quote
from uuid import UUID

from pydantic import JsonValue

from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import PageLife, Place, Revision
from devkit.traffic.moments import RECEIVED_AFTER, to_milliseconds, to_seconds
from devkit.traffic.users import User

SCHEMA_URI = "/mediawiki/page/change/1.2.0"
STREAM = "mediawiki.page_change.v1"

Kind = Literal["create", "edit", "move", "delete", "undelete", "visibility_change"]
JsonObject = dict[str, JsonValue]

_CHANGELOG_KIND: dict[Kind, str] = {
    "create": "insert",
    "edit": "update",
    "move": "update",
    "delete": "delete",
    "undelete": "insert",
    "visibility_change": "update",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a page; `page` is as it stands after it."""

    kind: Kind
    page: PageLife
    moment: datetime
    """For a change that makes a revision, the revision's."""
    event_id: UUID
    request_id: str
    performer: User | None
    """None when suppressed."""
    reason: str | None = None
    """Only moves, deletions and restorations carry one."""
    prior_revision: Revision | None = None
    prior_flags: dict[str, bool] = field(default_factory=dict)
    prior_place: Place | None = None
    created_redirect: PageLife | None = None
    is_suppressed: bool = False
    received: datetime | None = None
    """When the stream has it; None for `RECEIVED_AFTER` the moment."""
    revision_count: int | None = None
    """Of the page; None for as many as `page` lists."""


def event_of(change: Change) -> JsonObject:
    """The event as JSON members, in the order in which EventBus writes them."""
    page = change.page
    revision_count = len(page.revisions) if change.revision_count is None else change.revision_count
    event: JsonObject = {
        "$schema": SCHEMA_URI,
        "meta": _meta(change),
        "changelog_kind": _CHANGELOG_KIND[change.kind],
        "page_change_kind": change.kind,
        "dt": to_seconds(change.moment),
        "wiki_id": page.wiki,
        "page": _page(page, revision_count=revision_count if change.kind == "delete" else None),
    }
    if change.performer is not None:
        event["performer"] = change.performer.fields()
    event["revision"] = _suppressed(page.latest) if change.is_suppressed else _revision(page, page.latest)
    if change.reason is not None:
        event["comment"] = change.reason
    if (redirect := change.created_redirect) is not None:
        event["created_redirect_page"] = {**_place(redirect.page_id, redirect.place), "is_redirect": True}
    if prior := _prior_state(change):
        event["prior_state"] = prior
    return event


def kafka_key(wiki: str, page_id: int) -> bytes:
    """The key of a page's events: all of them meet in one partition."""
    return json_bytes({"wiki_id": wiki, "page_id": page_id})


def page_uri(domain: str, title: str) -> str:
    """The page's address; ASCII only."""
    return f"https://{domain}/wiki/{quote(title, safe='/:()!,*@;')}"


def _meta(change: Change) -> JsonObject:
    page = change.page
    return {
        "stream": STREAM,
        "dt": to_milliseconds(change.received or change.moment + RECEIVED_AFTER),
        "id": str(change.event_id),
        "domain": page.domain,
        "uri": page_uri(page.domain, page.place.title),
        "request_id": change.request_id,
    }


def _place(page_id: int, place: Place) -> JsonObject:
    return {"page_id": page_id, "page_title": place.title, "namespace_id": place.namespace_id}


def _page(page: PageLife, revision_count: int | None) -> JsonObject:
    fields: JsonObject = {**_place(page.page_id, page.place), "is_redirect": page.redirect_to is not None}
    if (target := page.redirect_to) is not None:
        fields["redirect_page_link"] = {
            "page_title": target.title,
            "namespace_id": target.namespace_id,
            **({} if page.target_id is None else {"page_id": page.target_id}),
            "is_redirect": False,
        }
    if revision_count is not None:
        fields["revision_count"] = revision_count
    return fields


def _revision(page: PageLife, revision: Revision) -> JsonObject:
    fields: JsonObject = {"rev_id": revision.rev_id}
    if revision.parent_id:
        fields["rev_parent_id"] = revision.parent_id
    fields |= {
        "rev_dt": to_seconds(revision.timestamp),
        "is_minor_edit": revision.is_minor,
        "rev_sha1": revision.sha1,
        "rev_size": revision.size_bytes,
    }
    if revision.visibility.comment:
        fields["comment"] = revision.comment
    if revision.visibility.editor:
        fields["editor"] = revision.editor.fields()
    fields |= revision.visibility.flags()
    fields["content_slots"] = _content_slots(page, revision)
    return fields


def _suppressed(revision: Revision) -> JsonObject:
    """What is left of the last revision when a page is deleted and hidden from administrators as well."""
    fields: JsonObject = {"rev_id": revision.rev_id}
    if revision.parent_id:
        fields["rev_parent_id"] = revision.parent_id
    fields |= {"rev_dt": to_seconds(revision.timestamp), "is_minor_edit": revision.is_minor}
    fields |= dict.fromkeys(revision.visibility.flags(), False)
    return fields


def _content_slots(page: PageLife, revision: Revision) -> JsonObject:
    slots: JsonObject = {
        "main": {
            "slot_role": "main",
            "content_model": page.content_model,
            "content_sha1": revision.sha1,
            "content_size": revision.size_bytes,
            "content_format": page.content_format,
            "origin_rev_id": revision.content_rev_id,
        }
    }
    if page.place.namespace_id == 6 and page.has_structured_data:
        # A file's structured data: a slot beside main whose model is not wikitext, and must not count.
        slots["mediainfo"] = {
            "slot_role": "mediainfo",
            "content_model": "wikibase-mediainfo",
            "content_sha1": page.revisions[0].sha1,
            "content_size": 120,
            "content_format": "application/json",
            "origin_rev_id": page.revisions[0].rev_id,
        }
    return slots


def _prior_state(change: Change) -> JsonObject:
    prior: JsonObject = {}
    if (place := change.prior_place) is not None:
        now = change.page.place
        differing: JsonObject = {"page_title": place.title}
        if place.namespace_id != now.namespace_id:
            differing["namespace_id"] = place.namespace_id
        prior["page"] = differing
    if change.prior_revision is not None:
        prior["revision"] = _revision(change.page, change.prior_revision)
    elif change.prior_flags:
        prior["revision"] = dict(change.prior_flags)
    return prior
