"""The enriched event: the source event, with what was fetched in the main slot.

It stands in `revision.content_slots.main.content_body`. An output of content-enrichment is a page/change event of its
source's version; html-enrichment adds an object at the top level, the diff to the parent's HTML, by a schema of its own
(`pipeline/schemas`):

    html_diff: {base_rev_id: int, format: "unified", body: str}

Id and time are functions of the source event, so that a replay repeats the record byte for byte.
"""

import uuid
from dataclasses import dataclass, field
from typing import Any

import orjson

from pipeline.records.page_change import PageChange
from pipeline.schemas import HTML_CHANGE_URI

_HTML = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:html-content-change")
_SOURCE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:content-change")


@dataclass(frozen=True, slots=True)
class HtmlContent:
    """The latest HTML, and the diff where there is a parent revision. `declared_bytes` as in `Fetched`; `html_bytes`
    are those of the HTML in UTF-8, where they are known.
    """

    html: str
    parent_id: int | None = None
    diff: str | None = None
    declared_bytes: int | None = field(default=None, kw_only=True)
    html_bytes: int | None = field(default=None, kw_only=True, compare=False, repr=False)

    def decoded_bytes(self) -> int:
        """UTF-8 bytes of HTML and diff, before escaping."""
        html_bytes = len(self.html.encode()) if self.html_bytes is None else self.html_bytes
        return html_bytes + len((self.diff or "").encode())


@dataclass(frozen=True, slots=True)
class SourceContent:
    """The source of a revision's main slot. `declared_bytes` as in `Fetched`."""

    text: str
    declared_bytes: int | None = field(default=None, kw_only=True)

    def decoded_bytes(self) -> int:
        """UTF-8 bytes of the source, before escaping."""
        return len(self.text.encode())


def html_value(event: PageChange, content: HtmlContent | None, *, stream: str) -> bytes:
    """The value of html-enrichment's record; without content the body fields are absent and the rest is the same."""
    output = enriched(event, None if content is None else content.html, stream=stream, namespace=_HTML)
    output["$schema"] = HTML_CHANGE_URI
    if content is not None and content.diff is not None:
        output["html_diff"] = {"base_rev_id": content.parent_id, "format": "unified", "body": content.diff}
    return orjson.dumps(output)


def source_value(event: PageChange, content: SourceContent | None, *, stream: str) -> bytes:
    """The value of content-enrichment's record, likewise."""
    return orjson.dumps(enriched(event, None if content is None else content.text, stream=stream, namespace=_SOURCE))


def enriched(event: PageChange, body: str | None, *, stream: str, namespace: uuid.UUID) -> dict[str, Any]:
    """The event for another stream, its main slot with a body or, as all other slots, without. Ids are unique within a
    namespace: each job has its own. A body needs an event with a main slot.

    A body that the source event already had, of now or of before the change, is not passed on: it may be hidden, and it
    is not what the job fetched.
    """
    meta = event.raw["meta"]
    output: dict[str, Any] = event.raw | {
        "meta": meta
        | {
            "stream": stream,
            "id": str(uuid.uuid5(namespace, event.event_id)),
            "dt": meta.get("dt", event.raw["dt"]),
        }
    }
    output["revision"] = revision = _without_bodies(event.raw["revision"])
    if body is not None:
        revision["content_slots"]["main"]["content_body"] = body
    prior = event.raw.get("prior_state", {})
    if "revision" in prior:
        output["prior_state"] = prior | {"revision": _without_bodies(prior["revision"])}
    return output


def _without_bodies(revision: dict[str, Any]) -> dict[str, Any]:
    """A copy, and so are its slots; one without slots stays without."""
    if "content_slots" not in revision:
        return dict(revision)
    slots = revision["content_slots"].items()
    bare = {role: {name: value for name, value in slot.items() if name != "content_body"} for role, slot in slots}
    return revision | {"content_slots": bare}
