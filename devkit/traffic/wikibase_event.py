"""A change written as the event of the stream that its kind has, member by member as MediaWiki's EventBus fills it.

stream            $schema                           time of the change
revision-create   /mediawiki/revision/create/2.0.0  `dt` and `rev_timestamp`, of the revision
page-delete       /mediawiki/page/delete/1.0.0      `meta.dt` alone
page-suppress     /mediawiki/page/delete/1.0.0      `meta.dt` alone; without a performer
page-undelete     /mediawiki/page/undelete/1.0.0    `meta.dt` alone
"""

from datetime import datetime
from uuid import UUID

from devkit.traffic.canary import CANARY_DOMAIN, CANARY_PAGE_ID, CANARY_WIKI
from devkit.traffic.life import PageLife, Place, Revision
from devkit.traffic.moments import RECEIVED_AFTER, to_milliseconds, to_seconds
from devkit.traffic.page_change import Change, JsonObject, page_uri
from devkit.traffic.users import User
from devkit.traffic.wikibase_topics import WikibaseStream, stream_name
from pipeline.schemas import PAGE_DELETE_URI, PAGE_UNDELETE_URI, REVISION_CREATE_URI

_CANARY = User("Canary", ("*",), user_id=1)
_SCHEMAS = {
    "revision-create": REVISION_CREATE_URI,
    "page-delete": PAGE_DELETE_URI,
    "page-suppress": PAGE_DELETE_URI,
    "page-undelete": PAGE_UNDELETE_URI,
}


def event_of_stream(stream: WikibaseStream, change: Change) -> JsonObject:
    """The event of a change that the stream has; `change.kind` is not looked at."""
    page = change.page
    event: JsonObject = {
        "$schema": _SCHEMAS[stream],
        "meta": _meta(stream, change),
        "database": page.wiki,
        "page_id": page.page_id,
        "page_title": page.place.title,
        "page_namespace": page.place.namespace_id,
        "page_is_redirect": page.redirect_to is not None,
        "rev_id": page.latest.rev_id,
    }
    if change.performer is not None:
        event["performer"] = _performer(change.performer)
    if stream == "revision-create":
        return event | _revision(page, page.latest)
    if stream != "page-undelete":
        event["rev_count"] = len(page.revisions) if change.revision_count is None else change.revision_count
    if change.reason is not None:
        event["comment"] = event["parsedcomment"] = change.reason
    return event


def wikibase_canary(stream: WikibaseStream, when: datetime, event_id: UUID, sha1: str) -> JsonObject:
    """The canary of a stream; all are alike but for id, time and `sha1`."""
    page = PageLife(CANARY_WIKI, CANARY_DOMAIN, CANARY_PAGE_ID, Place(0, "Coal_mine"))
    page.revise(when, _CANARY, "chirp", 100, sha1)
    return event_of_stream(stream, Change("edit", page, when, event_id, str(event_id), _CANARY))


def _meta(stream: WikibaseStream, change: Change) -> JsonObject:
    page = change.page
    return {
        "stream": stream_name(stream),
        "dt": to_milliseconds(change.received or change.moment + RECEIVED_AFTER),
        "id": str(change.event_id),
        "domain": page.domain,
        "uri": page_uri(page.domain, page.place.title),
        "request_id": change.request_id,
    }


def _revision(page: PageLife, revision: Revision) -> JsonObject:
    moment = to_seconds(revision.timestamp)
    fields: JsonObject = {
        "dt": moment,
        "rev_timestamp": moment,
        "rev_sha1": revision.sha1,
        "rev_minor_edit": revision.is_minor,
        "rev_len": revision.size_bytes,
        "rev_content_model": page.content_model,
        "rev_content_format": page.content_format,
        "comment": revision.comment,
        "parsedcomment": revision.comment,
        "rev_content_changed": True,
        "rev_slots": {
            "main": {
                "rev_slot_content_model": page.content_model,
                "rev_slot_sha1": revision.sha1,
                "rev_slot_size": revision.size_bytes,
                "rev_slot_origin_rev_id": revision.content_rev_id,
            }
        },
    }
    if revision.parent_id:
        fields["rev_parent_id"] = revision.parent_id
    return fields


def _performer(user: User) -> JsonObject:
    fields: JsonObject = {"user_text": user.text, "user_groups": list(user.groups), "user_is_bot": user.is_bot}
    if user.user_id is not None:
        fields["user_id"] = user.user_id
    if user.registered is not None:
        fields["user_registration_dt"] = to_seconds(user.registered)
    if user.edit_count is not None:
        fields["user_edit_count"] = user.edit_count
    return fields
