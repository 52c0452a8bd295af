"""A change of the mock's feed as an event of mediawiki/page/change, field by field as MediaWiki's EventBus has it.

A deletion or a visibility change that suppresses, or that ends a suppression, names no performer. A suppressed deletion
keeps its reason, as EventBus has it. The event's id is a function of the change, so an event that is published again is
the same, byte by byte; `request_id` is that of the write.
"""

from datetime import UTC
from uuid import NAMESPACE_URL, UUID, uuid5

from devkit.event_bus.bus_record import BusRecord
from devkit.event_bus.mock_feed import ChangedPage, ChangedRevision, FeedEntry, FeedPlace, FeedUser, PageChange
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import PageLife, Place, Revision, Visibility, format_sha1
from devkit.traffic.page_change import STREAM, Change, Kind, event_of, kafka_key
from devkit.traffic.users import User

_FORMATS = {
    "wikitext": "text/x-wiki",
    "javascript": "text/javascript",
    "css": "text/css",
    "json": "application/json",
    "text": "text/plain",
    "Scribunto": "text/plain",
}
_JSON = "application/json"  # what all content models of Wikibase have


def page_change_record(feed: str, entry: FeedEntry) -> BusRecord:
    """The record for a change."""
    change = entry.change
    return BusRecord(
        STREAM, kafka_key(change.wiki, change.page.page_id), json_bytes(event_of(change_of_entry(feed, entry)))
    )


def change_of_entry(feed: str, entry: FeedEntry) -> Change:
    """The change that events are made of; `feed` is that of the entry."""
    change = entry.change
    makes_revision = change.kind in ("create", "edit", "move")
    return Change(
        kind=_kind_of(change),
        page=_page(change, change.page, change.revision),
        moment=(change.revision.timestamp if makes_revision else change.at).astimezone(UTC),
        event_id=event_id(feed, entry.n),
        request_id=change.request_id,
        performer=None if _is_suppression(change) else _user(change.performer),
        reason=change.reason,
        prior_revision=_revision(change.before) if makes_revision and change.before else None,
        prior_flags={} if makes_revision else _prior_flags(change),
        prior_place=_place(change.place_before) if change.place_before else None,
        created_redirect=_page(change, change.created_redirect) if change.created_redirect else None,
        received=change.at.astimezone(UTC),
        is_suppressed=change.kind == "delete" and _is_suppression(change),
        revision_count=change.page.revision_count,
    )


def event_id(feed: str, n: int) -> UUID:
    """`meta.id` of the event of change `n`."""
    return uuid5(NAMESPACE_URL, f"{feed}/{n}/event")


def _kind_of(change: PageChange) -> Kind:
    return "visibility_change" if change.kind == "visibility" else change.kind


def _is_suppression(change: PageChange) -> bool:
    """Whether who did it is kept secret. A deletion that does not suppress has nothing before it."""
    if change.before is None or change.kind not in ("delete", "visibility"):
        return False
    return change.revision.suppressed or change.before.suppressed


def _page(change: PageChange, page: ChangedPage, revision: ChangedRevision | None = None) -> PageLife:
    return PageLife(
        wiki=change.wiki,
        domain=change.domain,
        page_id=page.page_id,
        place=_place(page),
        content_model=page.content_model,
        content_format=_FORMATS.get(page.content_model, _JSON),
        redirect_to=_place(page.redirect) if page.redirect else None,
        revisions=[_revision(revision)] if revision else [],
        has_structured_data=False,
    )


def _place(place: FeedPlace) -> Place:
    return Place(place.namespace_id, place.title)


def _revision(revision: ChangedRevision) -> Revision:
    return Revision(
        rev_id=revision.rev_id,
        parent_id=revision.parent_id,
        timestamp=revision.timestamp.astimezone(UTC),
        editor=_user(revision.user),
        comment=revision.comment,
        is_minor=revision.minor,
        size_bytes=revision.size,
        sha1=format_sha1(int(revision.sha1, 16)),
        content_rev_id=revision.content_rev_id,
        visibility=_visibility(revision),
    )


def _visibility(revision: ChangedRevision) -> Visibility:
    hidden = revision.hidden
    return Visibility(content="text" not in hidden, editor="user" not in hidden, comment="comment" not in hidden)


def _prior_flags(change: PageChange) -> dict[str, bool]:
    """The flags as they were: those that changed, and all for a suppressed deletion."""
    if change.before is None:
        return {}
    before, now = _visibility(change.before).flags(), _visibility(change.revision).flags()
    return {name: flag for name, flag in before.items() if change.kind == "delete" or now[name] != flag}


def _user(user: FeedUser) -> User:
    return User(user.name, user.groups, is_bot="bot" in user.groups, user_id=user.id or None)
