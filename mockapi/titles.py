"""Finds page and revision for a request: by the Host header and a revision id."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from mockapi.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision


@dataclass(frozen=True, slots=True)
class Located:
    """A revision that exists, with its page."""

    page: CatalogPage
    revision: CatalogRevision


class TitleTable:
    """An index over a catalog that already fits `CatalogPages`."""

    def __init__(self, pages: Iterable[CatalogPage]) -> None:
        self._wikis: dict[str, dict[int, CatalogPage]] = {}
        self._wiki_of_domain: dict[str, str] = {}
        self.page_count = 0
        self.revision_count = 0
        for page in pages:
            self._wikis.setdefault(page.wiki, {})[page.page_id] = page
            self._wiki_of_domain[page.domain] = page.wiki
            self.page_count += 1
            self.revision_count += len(page.revisions)

    def wiki_of_host(self, host: str) -> str | None:
        """The wiki whose domain `host` is (any case, a port does not matter); None for a host that is no wiki's."""
        return self._wiki_of_domain.get(host.rsplit(":", 1)[0].lower())

    def find(self, rev_id: int, *, host: str = "", wiki: str | None = None) -> Located | None:
        """The revision `rev_id` of `wiki`, else of the host's wiki.

        When neither names a wiki, the revision is found if exactly one wiki has it, so that curl on 127.0.0.1 works.
        """
        chosen = wiki if wiki is not None else self.wiki_of_host(host)
        if chosen is not None:
            return self._in_wiki(chosen, rev_id)
        found = [located for name in self._wikis if (located := self._in_wiki(name, rev_id))]
        return found[0] if len(found) == 1 else None

    def _in_wiki(self, wiki: str, rev_id: int) -> Located | None:
        page = self._wikis.get(wiki, {}).get(rev_id // REVISIONS_PER_PAGE)
        if page is None:
            return None
        at = bisect_left(page.revisions, rev_id, key=lambda revision: revision.rev_id)
        if at == len(page.revisions) or page.revisions[at].rev_id != rev_id:
            return None
        return Located(page, page.revisions[at])
