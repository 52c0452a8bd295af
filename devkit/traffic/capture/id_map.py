"""The ids of a capture as ids that the mock knows: `rev_id = page_id * 4096 + n`.

    events, one after the other ──> CapturedPages ── wikis of the scenario ──> IdMap

Pages count from 1 in the order in which they appear. The revisions of a page that any event names, as its own, as a
parent or as where content is from, count from 1 in the order of their ids.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import cycle
from typing import Any

from devkit.traffic.canary import CANARY_DOMAIN
from devkit.traffic.life import REVISIONS_PER_PAGE
from devkit.traffic.moments import EPOCH
from devkit.traffic.records import GeneratedPage, GeneratedRevision

MOST_REVISIONS = REVISIONS_PER_PAGE - 1
_TITLE_CHARACTERS = 320
"""The mock takes no longer ones."""
_RECENT_PAGES = 1024

CapturedPage = tuple[str, int]
"""Wiki and page id as they were captured."""


@dataclass(slots=True)
class _Page:
    first_ms: int
    revisions: dict[int, tuple[int, datetime]] = field(default_factory=dict)
    """Parent and time by the captured id; 0 is no parent."""
    namespace_id: int = 0
    title: str = ""
    titled_ms: int = 0
    content_model: str = "wikitext"


class CapturedPages:
    """What the events of a capture say of pages. They may be noted in any order that keeps that of each partition."""

    def __init__(self) -> None:
        self.by_place: dict[CapturedPage, _Page] = {}

    def note(self, event: Any, timestamp_ms: int) -> None:
        """An event that is no page change is ignored. A page gets the title of its latest event."""
        if (place := page_of(event)) is None:
            return
        if (page := self.by_place.get(place)) is None:
            # One text for all: each event that was parsed has its own of its wiki.
            page = self.by_place[sys.intern(place[0]), place[1]] = _Page(timestamp_ms)
        page.first_ms = min(page.first_ms, timestamp_ms)
        page_fields, revision = event["page"], event.get("revision")
        if timestamp_ms >= page.titled_ms:
            page.titled_ms = timestamp_ms
            page.title = _text(page_fields.get("page_title")) or page.title
            namespace_id = whole(page_fields.get("namespace_id"))
            page.namespace_id = namespace_id if namespace_id is not None and namespace_id >= 0 else page.namespace_id
        slot = _inside(revision, "content_slots", "main")
        page.content_model = _text(slot.get("content_model")) or page.content_model
        for fields in _revisions(event):
            rev_id, parent_id = whole(fields.get("rev_id")), whole(fields.get("rev_parent_id")) or 0
            if rev_id is not None and rev_id > 0:
                _, before = page.revisions.get(rev_id, (0, EPOCH))
                page.revisions[rev_id] = parent_id, _moment(fields.get("rev_dt")) or before
            for other in (parent_id, *(whole(slot.get("origin_rev_id")) or 0 for slot in _slots(fields))):
                if other > 0:
                    page.revisions.setdefault(other, (0, EPOCH))

    def in_time(self) -> list[tuple[CapturedPage, _Page]]:
        """The pages in the order in which they appeared."""
        return sorted(self.by_place.items(), key=lambda item: item[1].first_ms)

    @property
    def crowded(self) -> list[tuple[CapturedPage, int]]:
        """The pages with more revisions than the mock has ids for, and how many they have."""
        return [
            (place, len(page.revisions))
            for place, page in self.by_place.items()
            if len(page.revisions) > MOST_REVISIONS
        ]

    @property
    def titles(self) -> tuple[str, ...]:
        """As they are in the end, of all pages with a revision."""
        pages = enumerate(self.in_time(), 1)
        return tuple(dict.fromkeys(_played_title(page, number) for number, (_, page) in pages if page.revisions))


class IdMap:
    """Of all `pages`. `wikis` are those of the scenario with their domains: a captured wiki that is not among them is
    played as one of them, each in its turn.
    """

    def __init__(self, pages: CapturedPages, wikis: Mapping[str, str]) -> None:
        turn, in_time = cycle(wikis), pages.in_time()
        self._wikis, self._pages = wikis, pages
        self._ids = {place: number for number, (place, _) in enumerate(in_time, 1)}
        captured = dict.fromkeys(wiki for (wiki, _), _ in in_time)
        self._of_wiki = {wiki: wiki if wiki in wikis else next(turn) for wiki in captured}
        self._numbers = lru_cache(maxsize=_RECENT_PAGES)(self._numbered)

    def place_of(self, wiki: str, page_id: int) -> tuple[str, int] | None:
        """Wiki and page id as they are played; None for a page of which there is no event."""
        played = self._ids.get((wiki, page_id))
        return None if played is None else (self._of_wiki[wiki], played)

    def mapped(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the event with the ids that are played."""
        copied: dict[str, Any] = _copied(event, self._changes(event))
        return copied

    def pages(self) -> tuple[GeneratedPage, ...]:
        """The pages for the mock: each page with a revision, with its last title."""
        return tuple(self._generated(place, page) for place, page in self._pages.in_time() if page.revisions)

    def _changes(self, event: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """The new members of each object in the event that changes, by the object's identity."""
        place = page_of(event)
        if place is None:
            return {}
        wiki, numbers = self._of_wiki[place[0]], self._numbers(place)
        changes: dict[int, dict[str, Any]] = {id(event): {"wiki_id": wiki}}
        if isinstance(meta := event.get("meta"), dict) and "domain" in meta:
            changes[id(meta)] = {"domain": self._wikis[wiki]}
        for fields in _pages(event):
            if (other := whole(fields.get("page_id"))) is not None:
                changes[id(fields)] = {"page_id": self._id((place[0], other))}
        for fields in _revisions(event):
            changes[id(fields)] = _renumbered(fields, ("rev_id", "rev_parent_id"), numbers)
            for slot in _slots(fields):
                changes[id(slot)] = _renumbered(slot, ("origin_rev_id",), numbers)
        return changes

    def _id(self, place: CapturedPage) -> int:
        """One that is only named, as where a page was moved from, has the next id when it is played first."""
        return self._ids.setdefault(place, len(self._ids) + 1)

    def _numbered(self, place: CapturedPage) -> dict[int, int]:
        """The ids of its revisions as they are played, by those that were captured."""
        first = self._ids[place] * REVISIONS_PER_PAGE
        return {rev_id: first + n for n, rev_id in enumerate(sorted(self._pages.by_place[place].revisions), 1)}

    def _generated(self, place: CapturedPage, page: _Page) -> GeneratedPage:
        played, page_id, numbers = self._of_wiki[place[0]], self._ids[place], self._numbered(place)
        return GeneratedPage(
            wiki=played,
            domain=self._wikis[played],
            page_id=page_id,
            namespace_id=page.namespace_id,
            title=_played_title(page, page_id),
            content_model=page.content_model,
            revisions=tuple(
                # A history that was merged may have a parent with a higher id, which the mock does not take.
                GeneratedRevision(number, numbers.get(parent, 0) if parent < rev_id else 0, moment)
                for rev_id, number in numbers.items()
                for parent, moment in (page.revisions[rev_id],)
            ),
        )


def _played_title(page: _Page, page_id: int) -> str:
    """The title that the mock has."""
    return page.title[:_TITLE_CHARACTERS] or f"Page {page_id}"


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
    renumbered = {name: numbers.get(old) for name in names if (old := whole(part.get(name))) is not None}
    return {name: number for name, number in renumbered.items() if number is not None}


def _inside(value: Any, *names: str) -> dict[str, Any]:
    """The object at that place; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, dict) else {}


def _copied(value: Any, changes: Mapping[int, Mapping[str, Any]]) -> Any:
    if isinstance(value, dict):
        own = changes.get(id(value), {})
        return {name: own[name] if name in own else _copied(member, changes) for name, member in value.items()}
    return [_copied(item, changes) for item in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
