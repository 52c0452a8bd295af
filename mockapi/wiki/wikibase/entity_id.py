"""Which pages of a wiki are entities, and the page of an entity: `Q42`, `Property:P31`, `Lexeme:L7`."""

import re
from typing import Final

from mockapi.wiki.catalog import CatalogPage
from mockapi.wiki.title import InvalidTitle
from mockapi.wiki.wiki import Wiki

ENTITY_ID: Final = re.compile(r"[QPL][1-9][0-9]{0,9}")
CONTENT_MODELS: Final = {"Q": "wikibase-item", "P": "wikibase-property", "L": "wikibase-lexeme"}

_PREFIXES: Final = {"Q": "", "P": "Property:", "L": "Lexeme:"}


def is_entity(page: CatalogPage) -> bool:
    """Whether the page holds an entity, by its content model."""
    return page.content_model == CONTENT_MODELS.get(entity_id_of(page)[:1])


def entity_id_of(page: CatalogPage) -> str:
    """The id that the title of an entity's page names."""
    return page.title.rpartition(":")[2]


def entity_title(entity: str) -> str:
    """The full title of the page of an entity."""
    return _PREFIXES[entity[0]] + entity


def entity_page(wiki: Wiki, entity: str) -> CatalogPage | None:
    """The page of an entity id, unless it is deleted or is no entity."""
    try:
        page = wiki.page(wiki.title(entity_title(entity)))
    except InvalidTitle:
        return None
    return page if page is not None and is_entity(page) else None
