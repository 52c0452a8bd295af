"""One wiki: its pages, found by id, by revision and by title.

    rev_id ──÷ 4096──> page_id ──> CatalogPage <── page_id <── (namespace, key)

`put` is the only change there is: it replaces one page and what the indexes say of it, so that an edit costs the same
in a wiki of ten pages and of a million. Pages are values; who has one keeps it as it was.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from mockapi.wiki.catalog import MAX_REVISION_ID, REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, Located
from mockapi.wiki.namespaces import MAIN, SYSTEM_MESSAGE, Namespaces
from mockapi.wiki.title import InvalidTitle, Title, parse_title

MAIN_PAGE: Final = "Main Page"

_ENGLISH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Aboutsite": "About {{SITENAME}}",
        "Disclaimers": "Disclaimers",
        "Edit": "Edit",
        "Mainpage": MAIN_PAGE,
        "Mainpage-description": "Main page",
        "Newpage-desc": "Start a new page for a topic that has been requested.",
        "Privacy": "Privacy policy",
        "Recentchanges": "Recent changes",
        "Search": "Search",
    }
)


def system_message(title: Title) -> str | None:
    """What the wiki says under `title` when there is no page of that title; None when it is no message."""
    return _ENGLISH.get(title.key) if title.namespace_id == SYSTEM_MESSAGE else None


DOMAIN_PLACEHOLDER: Final = "{domain}"

_SITENAMES: Final = {
    "wikipedia": "Wikipedia",
    "wiktionary": "Wiktionary",
    "wikibooks": "Wikibooks",
    "wikiquote": "Wikiquote",
    "wikisource": "Wikisource",
    "wikinews": "Wikinews",
    "wikiversity": "Wikiversity",
    "wikivoyage": "Wikivoyage",
    "wikidata": "Wikidata",
}
_ORDINARY: Final = re.compile(r"[A-Z0-9][A-Za-z0-9,()'-]*(?:[ _][A-Za-z0-9,()'-]+)*")
_INSTALLED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MAIN_PAGE_TEXT: Final = """'''This wiki works.'''

It exists in the memory of a mock server. Its pages are made up, and what is written here is gone when the server ends.

== Getting started ==
* [https://www.mediawiki.org/wiki/API:REST_API REST API]
* [https://www.mediawiki.org/wiki/API:Main_page Action API]"""


class Wiki:
    """The pages of one wiki, given and written, with a main page where the catalog has none."""

    def __init__(
        self, name: str, domain: str, pages: Iterable[CatalogPage] = (), *, base_url: str | None = None
    ) -> None:
        """Of pages with the same title, the first is found under it. Links lead to `base_url`."""
        given = tuple(pages)
        self.name = name
        self.domain = domain
        self.language = language_of(domain)
        self.server = server_of(domain, base_url)
        self.sitename = _sitename(domain)
        self.namespaces = Namespaces.of(self.sitename, _local_names(given))
        self.main_page = self.title(MAIN_PAGE)
        self.next_page_id = 1
        self.changes = 0
        self._pages: dict[int, CatalogPage] = {}
        self._live: dict[tuple[int, str], int] = {}
        self._archived: dict[tuple[int, str], list[int]] = {}
        for page in given:
            self.put(page)
        lacks_main_page = self.page(self.main_page) is None and not self.deleted(self.main_page)
        if lacks_main_page and self.has_room:
            self.put(self._first_page())

    def __iter__(self) -> Iterator[CatalogPage]:
        """The pages that readers can see."""
        return (page for page in self._pages.values() if not page.deleted)

    @property
    def has_room(self) -> bool:
        """Whether there is an id for another page, above the highest."""
        return (self.next_page_id + 1) * REVISIONS_PER_PAGE - 1 <= MAX_REVISION_ID

    def title(self, text: str) -> Title:
        """The title that `text` means on this wiki. Raises InvalidTitle."""
        return parse_title(text, self.namespaces)

    def title_of(self, page: CatalogPage) -> Title:
        """The title of one of its pages; a catalog's title that no page could have stays as it is."""
        return Title(*self._address(page), self.namespaces.name_of(page.namespace_id))

    def in_namespace(self, title: Title, namespace_id: int) -> Title:
        """The same title in another namespace of this wiki."""
        return Title(namespace_id, title.key, self.namespaces.name_of(namespace_id))

    def page(self, title: Title) -> CatalogPage | None:
        """The page of that title, unless it is deleted."""
        page_id = self._live.get((title.namespace_id, title.key))
        return None if page_id is None else self._pages[page_id]

    def page_by_id(self, page_id: int) -> CatalogPage | None:
        """The page of that id, unless it is deleted."""
        page = self._pages.get(page_id)
        return None if page is None or page.deleted else page

    def deleted(self, title: Title) -> tuple[CatalogPage, ...]:
        """The deleted pages of that title; the one that was deleted last stands last."""
        ids = self._archived.get((title.namespace_id, title.key), ())
        return tuple(self._pages[page_id] for page_id in ids)

    def revision(self, rev_id: int) -> Located | None:
        """The revision of that id; None for one of a deleted page, as for one that never was."""
        page = self.page_by_id(rev_id // REVISIONS_PER_PAGE)
        revision = None if page is None else revision_of(page, rev_id)
        return None if page is None or revision is None else Located(page, revision)

    def latest(self, page: CatalogPage) -> Located:
        """The current revision of `page`."""
        return Located(page, page.revisions[-1])

    def put(self, page: CatalogPage) -> None:
        """Adds `page`, or lets it replace the one with its id. For those who write; readers leave it alone."""
        self.changes += 1
        before = self._pages.get(page.page_id)
        if before is not None:
            self._forget(before)
        self._pages[page.page_id] = page
        self.next_page_id = max(self.next_page_id, page.page_id + 1)
        address = self._address(page)
        if page.deleted:
            self._archived.setdefault(address, []).append(page.page_id)
        else:
            self._live.setdefault(address, page.page_id)

    def _forget(self, page: CatalogPage) -> None:
        address = self._address(page)
        if page.deleted:
            self._archived[address].remove(page.page_id)
        elif self._live.get(address) == page.page_id:
            del self._live[address]

    def _address(self, page: CatalogPage) -> tuple[int, str]:
        """Namespace and key of a page, whose namespace is the one given, whatever its title begins with."""
        title = page.title
        if page.namespace_id == MAIN and _ORDINARY.fullmatch(title):
            # What most titles of a large catalog are, in a tenth of the time.
            return MAIN, title.replace(" ", "_")
        try:
            parsed = self.title(title)
        except InvalidTitle:
            return page.namespace_id, title.replace(" ", "_")
        if parsed.namespace_id == page.namespace_id:
            return page.namespace_id, parsed.key
        return page.namespace_id, title.replace(" ", "_")

    def _first_page(self) -> CatalogPage:
        page_id = self.next_page_id
        revision = CatalogRevision(
            rev_id=page_id * REVISIONS_PER_PAGE + 1,
            parent_id=0,
            timestamp=_INSTALLED_AT,
            text=_MAIN_PAGE_TEXT,
            user="MediaWiki default",
            user_id=0,
            comment="",
        )
        return CatalogPage(
            wiki=self.name,
            domain=self.domain,
            page_id=page_id,
            namespace_id=self.main_page.namespace_id,
            title=self.main_page.text,
            revisions=(revision,),
        )


def server_of(domain: str, base_url: str | None = None) -> str:
    """Scheme and host of all absolute links to a wiki; `base_url` may hold a `{domain}` for the wiki's."""
    return f"https://{domain}" if base_url is None else base_url.replace(DOMAIN_PLACEHOLDER, domain)


def revision_of(page: CatalogPage, rev_id: int) -> CatalogRevision | None:
    """The revision `rev_id` of `page`, whether or not the page is deleted."""
    at = bisect_left(page.revisions, rev_id, key=lambda revision: revision.rev_id)
    if at == len(page.revisions) or page.revisions[at].rev_id != rev_id:
        return None
    return page.revisions[at]


def _sitename(domain: str) -> str:
    labels = domain.split(".")
    known = next((_SITENAMES[label] for label in labels if label in _SITENAMES), None)
    return known or labels[0].capitalize()


def _local_names(pages: Iterable[CatalogPage]) -> dict[int, str]:
    """What the pages outside the main namespace show of the namespaces' names; the first that does decides."""
    standard = Namespaces.of()
    names: dict[int, str] = {}
    for page in pages:
        if page.namespace_id == MAIN or page.namespace_id in names:
            continue
        prefix, colon, _ = page.title.partition(":")
        known = standard.number_of(prefix)
        if colon and (known is None or known == page.namespace_id):
            names[page.namespace_id] = prefix.replace("_", " ")
    return names


_LANGUAGE_LABEL = re.compile(r"[a-z]{2,3}(-[a-z]+)*")
_NOT_A_LANGUAGE = frozenset({"www", "api", "wiki"})


def language_of(domain: str) -> str:
    """`de` for `de.wikipedia.org`; `en` for a domain that starts with no language code, such as a project's own."""
    label = domain.split(".", 1)[0]
    if "." not in domain or label in _NOT_A_LANGUAGE or not _LANGUAGE_LABEL.fullmatch(label):
        return "en"
    return label
