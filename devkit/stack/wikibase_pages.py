"""The Wikibase of a stack for the updater: a hundred items and a few properties, each with one revision."""

from datetime import UTC, datetime
from typing import Final

from devkit.traffic.entity_life import entity_page
from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision

WIKI: Final = "wikidatawiki"
DOMAIN: Final = "www.wikidata.org"
ITEMS: Final = 100
PROPERTIES: Final = 40
SEED: Final = 1

_MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)


def wikibase_pages() -> tuple[CatalogPage, ...]:
    """Q1 to Q100 and P1 to P40; what they say is drawn from the mock's seed."""
    items = (f"Q{number}" for number in range(1, ITEMS + 1))
    properties = (f"P{number}" for number in range(1, PROPERTIES + 1))
    return tuple(_page(page_id, entity) for page_id, entity in enumerate((*items, *properties), 1))


def _page(page_id: int, entity: str) -> CatalogPage:
    page = entity_page(WIKI, DOMAIN, page_id, entity)
    first = CatalogRevision(rev_id=page_id * REVISIONS_PER_PAGE + 1, parent_id=0, timestamp=_MADE)
    return CatalogPage(
        wiki=WIKI,
        domain=DOMAIN,
        page_id=page_id,
        namespace_id=page.place.namespace_id,
        title=page.place.title,
        revisions=(first,),
        content_model=page.content_model,
    )
