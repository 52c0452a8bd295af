"""The ids of a capture as ids that the mock knows: `rev_id = page_id * 4096 + n`.

Pages count from 1 in the order in which they appear. The revisions of a page that any event names, as its own, as a
parent or as where content is from, count from 1 in the order of their ids.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle
from typing import Any

from devkit.traffic.canary import CANARY_DOMAIN
from devkit.traffic.life import REVISIONS_PER_PAGE
from devkit.traffic.moments import EPOCH
from devkit.traffic.records import GeneratedPage, GeneratedRevision

MOST_REVISIONS = REVISIONS_PER_PAGE - 1
_TITLE_CHARACTERS = 320
"""The mock takes no longer ones."""

CapturedPage = tuple[str, int]
"""Wiki and page id as they were captured."""


@dataclass
class _Page:
    page_id: int
    revisions: dict[int, tuple[int, datetime]] = field(default_factory=dict)
    """Parent and time by the captured id; 0 is no parent."""
    namespace_id: int = 0
    title: str = ""
    content_model: str = "wikitext"
    numbers: dict[int, int] = field(default_factory=dict)


class IdMap:
    """Of all `events`, in their order. `wikis` are those of the scenario with their domains: a captured wiki that is
    not among them is played as one of them, each in its turn.
    """

    def __init__(self, events: Iterator[Mapping[str, Any]], wikis: Mapping[str, str]) -> None:
        self._wikis, self._turn = wikis, cycle(wikis)
        self._of_wiki: dict[str, str] = {}
        self._pages: dict[CapturedPage, _Page] = {}
        for event in events:
            self._note(event)
        for page in self._pages.values():
            first = page.page_id * REVISIONS_PER_PAGE
            page.numbers = {rev_id: first + n for n, rev_id in enumerate(sorted(page.revisions), 1)}

    @property
    def crowded(self) -> list[tuple[CapturedPage, int]]:
        """The pages with more revisions than the mock has ids for, and how many they have."""
        return [(one, len(page.revisions)) for one, page in self._pages.items() if len(page.revisions) > MOST_REVISIONS]

    def place_of(self, wiki: str, page_id: int) -> tuple[str, int] | None:
        """Wiki and page id as they are played; None for a page of which there is no event."""
        page = self._pages.get((wiki, page_id))
        return None if page is None else (self._of_wiki[wiki], page.page_id)

    def mapped(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the event with the ids that are played."""
        copied: dict[str, Any] = _copied(event, self._changes(event))
        return copied

    def pages(self) -> tuple[GeneratedPage, ...]:
        """What the mock has to know: each page with a revision, with its last title."""
        return tuple(self._generated(wiki, page) for (wiki, _), page in self._pages.items() if page.revisions)

    def _note(self, event: Mapping[str, Any]) -> None:
        if (place := page_of(event)) is None:
            return
        if place[0] not in self._of_wiki:
            self._of_wiki[place[0]] = place[0] if place[0] in self._wikis else next(self._turn)
        page = self._page(place)
        shown, revision = event["page"], event.get("revision")
        page.title = _text(shown.get("page_title")) or page.title
        namespace_id = whole(shown.get("namespace_id"))
        page.namespace_id = namespace_id if namespace_id is not None and namespace_id >= 0 else page.namespace_id
        slot = _inside(revision, "content_slots", "main")
        page.content_model = _text(slot.get("content_model")) or page.content_model
        for one in _revisions(event):
            rev_id, parent_id = whole(one.get("rev_id")), whole(one.get("rev_parent_id")) or 0
            if rev_id is not None and rev_id > 0:
                _, before = page.revisions.get(rev_id, (0, EPOCH))
                page.revisions[rev_id] = parent_id, _moment(one.get("rev_dt")) or before
            for other in (parent_id, *(whole(slot.get("origin_rev_id")) or 0 for slot in _slots(one))):
                if other > 0:
                    page.revisions.setdefault(other, (0, EPOCH))

    def _page(self, place: CapturedPage) -> _Page:
        return self._pages.setdefault(place, _Page(len(self._pages) + 1))

    def _changes(self, event: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """By the identity of each object in the event that changes: its new members."""
        place = page_of(event)
        if place is None:
            return {}
        wiki, page = self._of_wiki[place[0]], self._pages[place]
        changes: dict[int, dict[str, Any]] = {id(event): {"wiki_id": wiki}}
        if isinstance(meta := event.get("meta"), dict) and "domain" in meta:
            changes[id(meta)] = {"domain": self._wikis[wiki]}
        for one in _pages(event):
            if (other := whole(one.get("page_id"))) is not None:
                changes[id(one)] = {"page_id": self._page((place[0], other)).page_id}
        for one in _revisions(event):
            changes[id(one)] = _renumbered(one, ("rev_id", "rev_parent_id"), page.numbers)
            for slot in _slots(one):
                changes[id(slot)] = _renumbered(slot, ("origin_rev_id",), page.numbers)
        return changes

    def _generated(self, wiki: str, page: _Page) -> GeneratedPage:
        played = self._of_wiki[wiki]
        return GeneratedPage(
            wiki=played,
            domain=self._wikis[played],
            page_id=page.page_id,
            namespace_id=page.namespace_id,
            title=page.title[:_TITLE_CHARACTERS] or f"Page {page.page_id}",
            content_model=page.content_model,
            revisions=tuple(
                # A history that was merged may have a parent with a higher id, which the mock does not take.
                GeneratedRevision(number, page.numbers.get(parent, 0) if parent < rev_id else 0, moment)
                for rev_id, number in page.numbers.items()
                for parent, moment in (page.revisions[rev_id],)
            ),
        )


def page_of(event: Any) -> CapturedPage | None:
    """Wiki and page id of a page change; None for what is none, and for a canary."""
    if not isinstance(event, dict) or not isinstance(page := event.get("page"), dict):
        return None
    wiki, page_id = event.get("wiki_id"), whole(page.get("page_id"))
    if not isinstance(wiki, str) or page_id is None or _inside(event, "meta").get("domain") == CANARY_DOMAIN:
        return None
    return wiki, page_id


def whole(value: Any) -> int | None:
    """A whole number, as JSON Schema has it: 5.0 is one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _pages(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    page = _inside(event, "page")
    yield page
    yield _inside(page, "redirect_page_link")
    yield _inside(event, "created_redirect_page")
    yield _inside(event, "prior_state", "page")


def _revisions(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield _inside(event, "revision")
    yield _inside(event, "prior_state", "revision")


def _slots(revision: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [slot for slot in _inside(revision, "content_slots").values() if isinstance(slot, dict)]


def _renumbered(part: Mapping[str, Any], names: tuple[str, ...], numbers: Mapping[int, int]) -> dict[str, Any]:
    found = {name: numbers.get(old) for name in names if (old := whole(part.get(name))) is not None}
    return {name: number for name, number in found.items() if number is not None}


def _inside(value: Any, *names: str) -> dict[str, Any]:
    """The object at that place; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, dict) else {}


def _copied(value: Any, changes: Mapping[int, Mapping[str, Any]]) -> Any:
    if isinstance(value, dict):
        own = changes.get(id(value), {})
        return {name: own[name] if name in own else _copied(one, changes) for name, one in value.items()}
    return [_copied(one, changes) for one in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
