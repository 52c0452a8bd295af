from datetime import UTC, datetime, timedelta

import pytest

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision, Located
from tests.unit.mockapi.manual_time import ManualTime


def make_page(
    page_id: int = 7,
    *,
    revisions: int = 3,
    wiki: str = "enwiki",
    domain: str = "en.wikipedia.org",
    title: str = "Old harbour",
) -> CatalogPage:
    """A page of `revisions` revisions, n = 1 and up."""
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


def revision_of(page: CatalogPage, n: int) -> Located:
    """Revision n of `page`, whether or not the page lists it."""
    low = page.page_id * REVISIONS_PER_PAGE
    revision = CatalogRevision(
        rev_id=low + n, parent_id=max(low + n - 1, 0) if n else 0, timestamp=datetime(2026, 1, 1, tzinfo=UTC)
    )
    return Located(page, revision)


@pytest.fixture
def located() -> Located:
    return revision_of(make_page(), 2)


@pytest.fixture
def time() -> ManualTime:
    return ManualTime()
