"""Suppression: an event that deletes a page, or hides something of a revision, and what was published of it before.

    delete                                      all that was published of the page            scope `page`
    revision whose text, editor or comment is   what was published of the revision, and of    scope `revision`
    hidden, whichever event says so             its children: their diff has its text

With `claim_check.suppressed: remove`, the removal waits for the event's turn in its page, as claim checks of the page
are written in theirs: claim checks under the page's prefix are listed, and for each a mark is written and the object
removed. Then the event's own record is emitted, with headers that say the scope. A deferred event holds removals behind
it back. A batch that is repeated writes the same record.

An object says by which event it was stored (`claim_origin`): what later events stored, such as an undelete, is kept. A
store that does not answer is tried for a bounded time; then the record is emitted, and `claims suppress` removes the
rest, by what the output topic says. An undelete is fetched and published as any event is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.records.claim_key import PageRevision
from pipeline.records.record import Headers

Scope = Literal["page", "revision"]

SCOPE_HEADER = "suppressed-scope"
_WIKI_HEADER = "suppressed-wiki"
_PAGE_HEADER = "suppressed-page"
_REVISION_HEADER = "suppressed-revision"
_VISIBLE = ("is_content_visible", "is_editor_visible", "is_comment_visible")


@dataclass(frozen=True, slots=True)
class Suppression:
    """What a consumer may not show any more of what was published before; `rev_id` is None for all of a page."""

    wiki_id: str
    page_id: int
    rev_id: int | None

    @property
    def scope(self) -> Scope:
        """How much of the page is meant."""
        return "page" if self.rev_id is None else "revision"

    def covers(self, about: PageRevision) -> bool:
        """Whether something of what is suppressed is in a payload about this revision."""
        if (about.wiki_id, about.page_id) != (self.wiki_id, self.page_id):
            return False
        return self.rev_id is None or self.rev_id in (about.rev_id, about.parent_id)

    def headers(self) -> Headers:
        """For the record of the event: scope, wiki and page, and the revision where that is the scope."""
        revision = () if self.rev_id is None else ((_REVISION_HEADER, str(self.rev_id).encode()),)
        return (
            (SCOPE_HEADER, self.scope.encode()),
            (_WIKI_HEADER, self.wiki_id.encode()),
            (_PAGE_HEADER, str(self.page_id).encode()),
            *revision,
        )

    @classmethod
    def of_headers(cls, headers: Mapping[str, bytes]) -> "Suppression | None":
        """What `headers()` says; None without. Raises KeyError or ValueError where they are no whole."""
        if SCOPE_HEADER not in headers:
            return None
        scope = headers[SCOPE_HEADER].decode()
        if scope not in ("page", "revision"):
            raise ValueError(f"{SCOPE_HEADER} is {scope!r}, not page or revision")
        rev_id = int(headers[_REVISION_HEADER]) if scope == "revision" else None
        return cls(headers[_WIKI_HEADER].decode(), int(headers[_PAGE_HEADER]), rev_id)


def suppression_of(event: Mapping[str, Any]) -> Suppression | None:
    """The suppression in a page change event, or in an output made of one. Raises KeyError, TypeError, ValueError for
    any other event.
    """
    revision = event["revision"]
    deletes = event["page_change_kind"] == "delete"
    if not deletes and all(revision.get(flag) is not False for flag in _VISIBLE):
        return None
    rev_id = None if deletes else int(revision["rev_id"])
    return Suppression(str(event["wiki_id"]), int(event["page"]["page_id"]), rev_id)


def revision_of(event: Mapping[str, Any]) -> PageRevision:
    """Which revision a page change event, or an output made of one, is about. Raises as `suppression_of`."""
    revision = event["revision"]
    parent_id = int(revision.get("rev_parent_id") or 0) or None
    return PageRevision(str(event["wiki_id"]), int(event["page"]["page_id"]), int(revision["rev_id"]), parent_id)
