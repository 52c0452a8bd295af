"""All wikis of the mock: which of them a request means, by its Host header, and where a revision is."""

from collections.abc import Iterable, Iterator

from mockapi.errors import BaseUrlError
from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.wiki import DOMAIN_PLACEHOLDER, Wiki


class Wikis:
    """The wikis of a catalog that already fits `CatalogPages`, in the order in which it names them.

    `page_count` and `revision_count` are what the catalog gave; writes and main pages that it lacked do not count.
    """

    def __init__(self, pages: Iterable[CatalogPage], base_url: str | None = None) -> None:
        """Raises BaseUrlError for a `base_url` that would be that of several wikis."""
        given: dict[str, list[CatalogPage]] = {}
        self.page_count = 0
        self.revision_count = 0
        for page in pages:
            given.setdefault(page.wiki, []).append(page)
            self.page_count += 1
            self.revision_count += len(page.revisions)
        if base_url is not None and DOMAIN_PLACEHOLDER not in base_url and len(given) > 1:
            raise BaseUrlError(
                f"--base-url {base_url}: the catalog has {len(given)} wikis, which only their hosts tell apart\n"
                f"hint: put {DOMAIN_PLACEHOLDER} in place of the host, such as http://{DOMAIN_PLACEHOLDER}:8080"
            )
        self._by_name = {
            name: Wiki(name, pages_of_wiki[0].domain, pages_of_wiki, base_url=base_url)
            for name, pages_of_wiki in given.items()
        }
        self._by_domain = {wiki.domain: wiki for wiki in self}

    def __iter__(self) -> Iterator[Wiki]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def only(self) -> Wiki | None:
        """The wiki, if there is just one."""
        return next(iter(self)) if len(self) == 1 else None

    def by_name(self, name: str) -> Wiki | None:
        """The wiki of that name, such as `enwiki`."""
        return self._by_name.get(name)

    def wiki_of_host(self, host: str) -> Wiki | None:
        """The wiki whose domain `host` is (any case, a port does not matter); None for a host that is no wiki's."""
        return self._by_domain.get(host.rsplit(":", 1)[0].lower())

    def serving(self, host: str) -> Wiki | None:
        """The host's wiki, else the only one, so that curl on 127.0.0.1 works; None when that leaves a choice."""
        return self.wiki_of_host(host) or self.only

    def find(self, rev_id: int, *, host: str = "", wiki: str | None = None) -> Located | None:
        """The revision `rev_id` of `wiki`, else of the host's wiki.

        When neither names a wiki, the revision is found if exactly one wiki has it.
        """
        if wiki is not None:
            named = self.by_name(wiki)
            return named.revision(rev_id) if named else None
        meant = self.wiki_of_host(host)
        if meant is not None:
            return meant.revision(rev_id)
        revisions = [located for candidate in self if (located := candidate.revision(rev_id))]
        return revisions[0] if len(revisions) == 1 else None
