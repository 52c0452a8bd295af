from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from mockapi.wiki.catalog import CatalogPage, CatalogRevision, Located

MakeEntity = Callable[..., Located]
NAMES = {"Q": (0, "", "item"), "P": (120, "Property:", "property"), "L": (146, "Lexeme:", "lexeme")}


@pytest.fixture(scope="session")
def make_entity() -> MakeEntity:
    """Revision `n` of an entity's page, whose page id is the number of the entity; the last one has `text`."""
    return entity_at


def entity_at(entity: str, n: int = 1, text: str | None = None) -> Located:
    namespace_id, prefix, kind = NAMES[entity[0]]
    low, start = int(entity[1:]) * 4096, datetime(2026, 1, 1, tzinfo=UTC)
    revisions = tuple(
        CatalogRevision(
            rev_id=low + number,
            parent_id=low + number - 1 if number > 1 else 0,
            timestamp=start + timedelta(hours=number),
            text=text if number == n else None,
        )
        for number in range(1, n + 1)
    )
    page = CatalogPage(
        wiki="wikidatawiki",
        domain="www.wikidata.org",
        page_id=int(entity[1:]),
        namespace_id=namespace_id,
        title=prefix + entity,
        revisions=revisions,
        content_model=f"wikibase-{kind}",
    )
    return Located(page, revisions[-1])
