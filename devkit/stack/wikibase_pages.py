"""The Wikibase of a stack for the updater: a hundred items and a few properties, each with one revision."""

from datetime import UTC, datetime
from typing import Final

from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision

WIKI: Final = "wikidatawiki"
DOMAIN: Final = "www.wikidata.org"
ITEMS: Final = 100
PROPERTIES: Final = 40
SEED: Final = 1

_MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PROPERTY_NAMESPACE: Final = 120


def wikibase_pages() -> tuple[CatalogPage, ...]:
    """Q1 to Q100 and P1 to P40; what they say is drawn from the mock's seed."""
    items = tuple(_page(number, 0, f"Q{number}", "wikibase-item") for number in range(1, ITEMS + 1))
    properties = (
        _page(ITEMS + number, _PROPERTY_NAMESPACE, f"Property:P{number}", "wikibase-property")
        for number in range(1, PROPERTIES + 1)
    )
    return (*items, *properties)


def _page(page_id: int, namespace_id: int, title: str, content_model: str) -> CatalogPage:
    first = CatalogRevision(rev_id=page_id * REVISIONS_PER_PAGE + 1, parent_id=0, timestamp=_MADE)
    return CatalogPage(
        wiki=WIKI,
        domain=DOMAIN,
        page_id=page_id,
        namespace_id=namespace_id,
        title=title,
        revisions=(first,),
        content_model=content_model,
    )
