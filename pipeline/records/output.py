"""The enriched event: the source event, with the latest HTML in the main slot and the diff to the parent's HTML.

The HTML stands in `revision.content_slots.main.content_body`, so an output without the diff is a page/change 1.2.0
event. The diff is this pipeline's own addition to the schema, a top-level object:

    html_diff: {base_rev_id: int, format: "unified", body: str}

Id and time are functions of the source event, so that a replay repeats the record byte for byte.
"""

import uuid
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.records.page_change import PageChange

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:html-content-change")


@dataclass(frozen=True, slots=True)
class Content:
    """What was fetched for an event: the latest HTML, and the diff where there is a parent revision."""

    html: str
    parent_id: int | None = None
    diff: str | None = None

    def decoded_bytes(self) -> int:
        """UTF-8 bytes of HTML and diff, before escaping."""
        return len(self.html.encode()) + len((self.diff or "").encode())


def output_value(event: PageChange, content: Content | None, *, stream: str) -> bytes:
    """The value of the output record; without content the body fields are absent and the rest is the same.

    A body that the source event already had is not passed on either: it may be hidden, and it is not HTML.
    """
    meta = event.raw["meta"]
    output: dict[str, Any] = event.raw | {
        "meta": meta
        | {
            "stream": stream,
            "id": str(uuid.uuid5(_NAMESPACE, event.event_id)),
            "dt": meta.get("dt", event.raw["dt"]),
        }
    }
    revision = event.raw["revision"]
    if "content_slots" in revision:
        slots = {role: _without_body(slot) for role, slot in revision["content_slots"].items()}
        if content is not None:
            slots["main"]["content_body"] = content.html
        output["revision"] = revision | {"content_slots": slots}
    if content is not None and content.diff is not None:
        output["html_diff"] = {"base_rev_id": content.parent_id, "format": "unified", "body": content.diff}
    return orjson.dumps(output)


def _without_body(slot: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in slot.items() if name != "content_body"}
