"""Whether a claim check was removed rightly: a later event of its page deletes the page, or hides something of it."""

from collections.abc import Iterable

import orjson

from devkit.observe.audit.source_event import SourceEvent, place

_VISIBLE = ("is_content_visible", "is_editor_visible", "is_comment_visible")


def may_suppress(events: Iterable[SourceEvent], by: str, event: SourceEvent) -> bool:
    """Whether the source event that `by` names, as `topic/partition/offset`, suppresses what was published of `event`.

    A hidden revision suppresses its own and its child's, as a child's diff has its text.
    """
    found = next((one for one in events if place(one.position) == by), None)
    if found is None or (found.partition, found.key) != (event.partition, event.key):
        return False
    if found.entry.offset <= event.entry.offset:
        return False
    try:
        hiding, shown = orjson.loads(found.value), orjson.loads(event.value)["revision"]
        if hiding["page_change_kind"] == "delete":
            return True
        revision = hiding["revision"]
        is_hidden = any(revision.get(flag) is False for flag in _VISIBLE)
        return is_hidden and revision["rev_id"] in (shown["rev_id"], shown.get("rev_parent_id"))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False
