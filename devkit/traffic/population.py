"""All pages of the traffic: who exists, who can be edited, who is deleted or hidden.

A change needs a page in the right condition. When none is left, a page with an earlier life comes in, one that lived
(or was deleted, or hidden) before the traffic began; so no change ever has to be dropped, and every life stays
plausible. Page ids count on from the first: named pages, then the population, then pages that come later.
"""

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import NamedTuple

from devkit.traffic.life import PageLife, Place, draw_sha1
from devkit.traffic.moments import EPOCH
from devkit.traffic.records import GeneratedPage
from devkit.traffic.users import NAMED_PAGE_EDITOR, User
from devkit.traffic.vocabulary import languages

_NAMESPACES = {0: "", 1: "Talk:", 2: "User:", 4: "Project:", 6: "File:", 10: "Template:", 14: "Category:"}
_NAMESPACE_WEIGHTS = (70, 8, 6, 4, 5, 4, 3)
_NAMED_SIZE_BYTES = 20_000
_NAMED_PRIOR_REVISIONS = 2
_TRIES = 8


class _OtherModel(NamedTuple):
    model: str
    format: str
    namespace_id: int
    pattern: str


_OTHER_MODELS = (
    _OtherModel("javascript", "text/javascript", 8, "MediaWiki:{}.js"),
    _OtherModel("css", "text/css", 8, "MediaWiki:{}.css"),
    _OtherModel("json", "application/json", 2, "User:{}/data.json"),
    _OtherModel("Scribunto", "text/plain", 828, "Module:{}"),
)


class Pool:
    """Pages in one condition; a page is in at most one pool. Drawing costs the same however many there are."""

    def __init__(self) -> None:
        self._pages: list[PageLife] = []
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: PageLife) -> None:
        """The caller makes sure that the page is in no other pool."""
        self._places[page.page_id] = len(self._pages)
        self._pages.append(page)

    def remove(self, page: PageLife) -> bool:
        """Whether the page was there, and is no more."""
        place = self._places.get(page.page_id)
        if place is None:
            return False
        self._take(place)
        return True

    def take(self, rng: Random) -> PageLife | None:
        """Removes a page by chance and returns it; None when there is none."""
        if not self._pages:
            return None
        return self._take(rng.randrange(len(self._pages)))

    def look(self, rng: Random) -> PageLife | None:
        """A page by chance, which stays; None when there is none."""
        return rng.choice(self._pages) if self._pages else None

    def _take(self, place: int) -> PageLife:
        last = self._pages[-1]
        self._pages[place], self._pages[-1] = last, self._pages[place]
        self._places[last.page_id] = place
        page = self._pages.pop()
        del self._places[page.page_id]
        return page


class Population:
    """Makes pages and keeps them by condition; titles are never used twice on a wiki."""

    def __init__(
        self,
        rng: Random,
        wikis: dict[str, str],
        users: tuple[User, ...],
        named: tuple[str, ...],
        size: int,
        *,
        beside: Sequence[GeneratedPage] = (),
        revisits: float | None = None,
    ) -> None:
        """`revisits` is the share of edits of a page that has changed already."""
        self._revisits = revisits
        self._changed: list[PageLife] = []
        self._rng, self._wikis, self._users = rng, list(wikis.items()), users
        self._first_page_id = 1 + max((page.page_id for page in beside), default=0)
        self._titles = {(page.wiki, page.title) for page in beside}
        self._next_title_number = 2
        self.pages: list[PageLife] = []
        self.live, self.deleted, self.hidden, self.not_wikitext = Pool(), Pool(), Pool(), Pool()
        self.redirects = Pool()
        self.named = {title: self._named(title) for title in named}
        for _ in range(size):
            self.live.add(self._existing())

    def take_live(self) -> PageLife:
        """A wikitext page that can be changed; hand it back with `settle`."""
        return self.live.take(self._rng) or self._existing()

    def take_to_edit(self) -> PageLife:
        """Likewise, by `revisits` one that has changed before."""
        if self._revisits is not None and self._rng.random() < self._revisits and (page := self._changed_before()):
            return page
        return self.take_live()

    def take_deleted(self) -> PageLife:
        """Where none is left, a page with an earlier life, which counts as deleted before the traffic."""
        return self.deleted.take(self._rng) or self._existing()

    def take_not_wikitext(self) -> PageLife:
        """One of few pages of another content model: such pages are edited again and again."""
        if len(self.not_wikitext) < 2 * len(_OTHER_MODELS):
            other = _OTHER_MODELS[len(self.not_wikitext) % len(_OTHER_MODELS)]
            return self._existing(other)
        page = self.not_wikitext.take(self._rng)
        return page if page is not None and not page.is_full else self._existing(_OTHER_MODELS[0])

    def target_of(self, page: PageLife) -> PageLife:
        """Another page of its wiki, which stays as it is."""
        for _ in range(_TRIES):
            target = self.live.look(self._rng)
            if target is not None and target.wiki == page.wiki:
                return target
        target = self._existing(beside=page)
        self.live.add(target)
        return target

    def settle(self, page: PageLife) -> None:
        """A page taken earlier goes back where its condition belongs; a page without room for a revision retires."""
        self._changed.append(page)
        if page.is_full:
            return
        if page.redirect_to is not None:
            self.redirects.add(page)
        elif page.content_model != "wikitext":
            self.not_wikitext.add(page)
        elif not page.latest.visibility.content:
            self.hidden.add(page)
        else:
            self.live.add(page)

    def _changed_before(self) -> PageLife | None:
        """The later a page has changed, and the oftener, the likelier; None where none of some can be changed."""
        for _ in range(_TRIES if self._changed else 0):
            # Each doubling of the age has the same chance: times between the changes of a page have no typical length.
            page = self._changed[-int(len(self._changed) ** self._rng.random())]
            if self.live.remove(page):
                return page
        return None

    def new(self) -> PageLife:
        """A page that begins now; it has no revision yet."""
        wiki, domain = self._rng.choice(self._wikis)
        return self.new_at(wiki, domain, self.free_place(wiki))

    def new_at(self, wiki: str, domain: str, place: Place) -> PageLife:
        """A page that begins now at a place its caller has got: one that a move left, or a free one."""
        page = PageLife(wiki, domain, self._first_page_id + len(self.pages), place)
        self.pages.append(page)
        return page

    def free_place(self, wiki: str, namespace_id: int | None = None) -> Place:
        """A title that was not on this wiki before; it is taken from now on."""
        if namespace_id is None:
            namespace_id = self._rng.choices(tuple(_NAMESPACES), _NAMESPACE_WEIGHTS)[0]
        return self._place(wiki, namespace_id, _NAMESPACES[namespace_id] + "{}")

    def other_namespace(self, page: PageLife) -> int:
        """Any namespace that pages are drawn in but the page's own, each with the same chance."""
        return self._rng.choice([ns for ns in _NAMESPACES if ns != page.place.namespace_id])

    def _place(self, wiki: str, namespace_id: int, pattern: str) -> Place:
        title = pattern.format(name := self._rng.choice(languages()).title(self._rng))
        while (wiki, title) in self._titles:
            title = pattern.format(f"{name}_({self._next_title_number})")
            self._next_title_number += 1
        self._titles.add((wiki, title))
        return Place(namespace_id, title)

    def _existing(self, other: _OtherModel | None = None, beside: PageLife | None = None) -> PageLife:
        """A page with a few revisions from before the traffic; `beside` another one, on its wiki."""
        rng = self._rng
        if beside is not None:
            page = self.new_at(beside.wiki, beside.domain, self.free_place(beside.wiki))
        elif other is None:
            page = self.new()
        else:
            wiki, domain = rng.choice(self._wikis)
            page = self.new_at(wiki, domain, self._place(wiki, other.namespace_id, other.pattern))
            page.content_model, page.content_format = other.model, other.format
        count, language = rng.randint(2, 5), rng.choice(languages())
        for days in sorted((rng.uniform(1, 2000) for _ in range(count)), reverse=True):
            when = EPOCH - timedelta(days=days)
            page.revise(when, rng.choice(self._users), language.summary(rng), rng.randint(200, 90_000), draw_sha1(rng))
        return page

    def _named(self, title: str) -> PageLife:
        """Everything but the hashes is the same under every seed, and a hash has always the same length."""
        wiki, domain = self._wikis[0]
        page = self.new_at(wiki, domain, Place(0, title.replace(" ", "_")))
        self._titles.add((wiki, page.place.title))
        for n in range(_NAMED_PRIOR_REVISIONS):
            when = EPOCH - timedelta(days=_NAMED_PRIOR_REVISIONS - n)
            page.revise(when, NAMED_PAGE_EDITOR, "Earlier work", _NAMED_SIZE_BYTES, draw_sha1(self._rng))
        return page
