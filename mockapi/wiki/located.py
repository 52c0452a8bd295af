"""The identity of a revision."""

from dataclasses import dataclass

from mockapi.wiki.catalog import CatalogPage, CatalogRevision


@dataclass(frozen=True, slots=True)
class Located:
    """A revision that exists, with its page."""

    page: CatalogPage
    revision: CatalogRevision
