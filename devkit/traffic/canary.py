"""Canaries: made-up events sent through a stream now and then, to show that it flows even without traffic.

They are complete and valid, name a wiki that does not exist, and are known by `meta.domain` alone.
"""

from datetime import datetime
from uuid import UUID

from devkit.traffic.moments import RECEIVED_AFTER, to_milliseconds, to_seconds
from devkit.traffic.page_change import SCHEMA_URI, STREAM, JsonObject

CANARY_DOMAIN = "canary"
CANARY_WIKI = "example"
CANARY_PAGE_ID = 1


def canary_of(when: datetime, event_id: UUID) -> JsonObject:
    """The event of one canary; all are alike but for id and time."""
    moment = to_seconds(when)
    return {
        "$schema": SCHEMA_URI,
        "meta": {
            "stream": STREAM,
            "dt": to_milliseconds(when + RECEIVED_AFTER),
            "id": str(event_id),
            "domain": CANARY_DOMAIN,
        },
        "changelog_kind": "update",
        "page_change_kind": "edit",
        "dt": moment,
        "wiki_id": CANARY_WIKI,
        "page": {
            "page_id": CANARY_PAGE_ID,
            "page_title": "Coal_mine",
            "namespace_id": 0,
            "is_redirect": False,
        },
        "performer": {"user_text": "Canary", "user_id": 1},
        "revision": {
            "rev_id": 2,
            "rev_parent_id": 1,
            "rev_dt": moment,
            "rev_size": 100,
            "is_minor_edit": False,
            "comment": "chirp",
            "is_content_visible": True,
            "is_editor_visible": True,
            "is_comment_visible": True,
            "content_slots": {
                "main": {
                    "slot_role": "main",
                    "content_model": "wikitext",
                    "content_format": "text/x-wiki",
                    "content_size": 100,
                    "origin_rev_id": 2,
                }
            },
        },
    }
