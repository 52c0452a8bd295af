from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, Located

MakePage = Callable[..., CatalogPage]


@pytest.fixture(scope="session")
def make_page() -> MakePage:
    """Builds a page of `revisions` revisions, n = 1 and up."""
    return page_with


@pytest.fixture
def located() -> Located:
    return at(page_with(), 2)


def page_with(
    page_id: int = 7,
    *,
    revisions: int = 3,
    wiki: str = "enwiki",
    domain: str = "en.wikipedia.org",
    title: str = "Old harbour",
) -> CatalogPage:
    low = page_id * REVISIONS_PER_PAGE
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return CatalogPage(
        wiki=wiki,
        domain=domain,
        page_id=page_id,
        namespace_id=0,
        title=title,
        revisions=tuple(
            CatalogRevision(rev_id=low + n, parent_id=low + n - 1 if n > 1 else 0, timestamp=start + timedelta(hours=n))
            for n in range(1, revisions + 1)
        ),
    )


def at(page: CatalogPage, n: int) -> Located:
    """Revision n of `page`, whether or not the page lists it."""
    low = page.page_id * REVISIONS_PER_PAGE
    revision = CatalogRevision(
        rev_id=low + n, parent_id=max(low + n - 1, 0) if n else 0, timestamp=datetime(2026, 1, 1, tzinfo=UTC)
    )
    return Located(page, revision)


@pytest.fixture(scope="session")
def revision_of() -> Callable[[CatalogPage, int], Located]:
    return at
