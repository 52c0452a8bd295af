"""The entities of a Wikibase that traffic is about, and which of them a change is made to.

Eight of ten entities are items, one is a property, one a lexeme. The item that gets the sitelinks comes first in every
other merge, second in those between; other entities' changes may come between the two. A merge without its second
place is a plain edit.

`pages` names entities by the titles of their pages: `Q42`, `Property:P31`, `Lexeme:L7`.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import cycle
from random import Random

from devkit.errors import UsageError
from devkit.traffic.entity_life import EntityLife, entity_id, entity_page, entity_title
from devkit.traffic.life import PageLife, Place, draw_sha1
from devkit.traffic.moments import EPOCH
from devkit.traffic.records import GeneratedPage
from devkit.traffic.stream import Stream
from devkit.traffic.timetable import Slot, SlotKind
from devkit.traffic.users import draw_users

_LETTERS = "QQQPQQLQQQ"
_SIZE_BYTES = 20_000
_TITLE = re.compile("(Q|Property:P|Lexeme:L)[1-9][0-9]{0,9}")
_LAST_NAMED = 1_000
"""Named entities have smaller numbers, or others that are free."""


class EntityPopulation:
    """Of one run of a generator; every draw comes from `rng`. None of its pages has the id or title of one `beside`."""

    def __init__(self, stream: Stream, rng: Random, beside: Sequence[GeneratedPage]) -> None:
        self._rng = rng
        self.user = draw_users(rng, 1)[0]
        self._wiki, self._domain = next(iter(stream.wikis.items()))
        self._titles = {page.title for page in beside}
        self._next_page_id = max((page.page_id for page in beside), default=0) + 1
        self._last_number = _LAST_NAMED
        self._letters = cycle(_LETTERS)
        self._merges = 0
        self._merge_slots_left = 0
        self._second_of_merge: EntityLife | None = None
        self._named = {title: self._begin(entity_id(title)) for title in stream.pages}
        self._drawn = [self._begin(self._free_id(next(self._letters))) for _ in range(stream.population)]

    def expect(self, slots: Sequence[Slot]) -> None:
        """Before the first choice: all changes that are made."""
        self._merge_slots_left = sum(slot.kind == "merge" for slot in slots)

    def choose(self, slot: Slot) -> EntityLife:
        """The entity that the change is made to; it may be a new one."""
        return self._named[slot.named_page] if slot.named_page else self._draw_for(slot.kind)

    def revise(self, page: PageLife, when: datetime) -> None:
        """Give the page its next revision."""
        page.revise(when, self.user, "", _SIZE_BYTES, draw_sha1(self._rng))

    def other_page(self, place: Place) -> PageLife:
        """A page of the same wiki that is no entity, without a revision."""
        page = PageLife(self._wiki, self._domain, self._next_page_id, place)
        self._next_page_id += 1
        return page

    @property
    def entities(self) -> tuple[EntityLife, ...]:
        """All that there are by now, in order of their pages."""
        return *self._named.values(), *self._drawn

    def generated(self) -> tuple[GeneratedPage, ...]:
        """The pages of all entities, for the mock."""
        return tuple(entity.page.generated() for entity in self.entities)

    def _draw_for(self, kind: SlotKind) -> EntityLife:
        match kind:
            case "create":
                return self._new(next(self._letters))
            case "undelete":
                return self._draw("QPL", is_deleted=True)
            case "redirect":
                entity = self._draw("QL")
                entity.redirect_to(self._draw(entity.id[0], beside=entity))
                return entity
            case "merge":
                return self._draw_for_merge()
        return self._draw("QPL")

    def _draw_for_merge(self) -> EntityLife:
        self._merge_slots_left -= 1
        if self._second_of_merge is not None:
            second, self._second_of_merge = self._second_of_merge, None
            return second
        if not self._merge_slots_left:
            return self._draw("QPL")
        source = self._draw("Q", prefers_stored=True)
        target = self._draw("Q", beside=source)
        target.merge(source)
        source.redirect_to(target)
        first, self._second_of_merge = (source, target) if self._merges % 2 else (target, source)
        self._merges += 1
        return first

    def _draw(
        self, letters: str, *, beside: EntityLife | None = None, is_deleted: bool = False, prefers_stored: bool = False
    ) -> EntityLife:
        """One that can be revised; a new one where there is none."""
        excluded = (beside, self._second_of_merge)
        fit = [
            entity
            for entity in self._drawn
            if entity.id[0] in letters and entity.is_deleted is is_deleted and entity not in excluded
            if not entity.is_redirect and not entity.page.is_full
        ]
        if not fit:
            return self._new(letters[0])
        stored = [entity for entity in fit if entity.in_store is not None] if prefers_stored else []
        return self._rng.choice(stored or fit)

    def _new(self, letter: str) -> EntityLife:
        self._drawn.append(self._begin(self._free_id(letter)))
        return self._drawn[-1]

    def _free_id(self, letter: str) -> str:
        self._last_number += 1
        while entity_title(f"{letter}{self._last_number}") in self._titles:
            self._last_number += 1
        return f"{letter}{self._last_number}"

    def _begin(self, entity: str) -> EntityLife:
        """An entity that exists before the traffic begins."""
        page = entity_page(self._wiki, self._domain, self._next_page_id, entity)
        self._titles.add(page.place.title)
        self._next_page_id += 1
        self.revise(page, EPOCH)
        return EntityLife(entity, page)


def require_entities(stream: Stream, *, noun: str) -> None:
    """Refuse pages and sizes that only page changes have. Raises UsageError; `noun` is what has one size."""
    if stream.revisits is not None:
        raise UsageError("traffic.revisits: of entities it is not known", hint="leave it out; pages can have a share")
    for title, page in stream.pages.items():
        if not _TITLE.fullmatch(title):
            raise UsageError(
                f"traffic.pages: {title!r} is no entity of a Wikibase",
                hint="name it by its page, such as Q42, Property:P31 or Lexeme:L7",
            )
        if page.event_bytes is not None:
            raise UsageError(f"traffic.pages.{title}.event_bytes: {noun} has one size", hint="leave it out")
