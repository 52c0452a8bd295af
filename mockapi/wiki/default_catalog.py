"""The catalog without a file of one: 1,000 articles of English Wikipedia, from the seed.

Pages 1 to 1,000 of `enwiki` (`en.wikipedia.org`), each with 2 to 6 revisions, n = 1, 2, …; so the second revision of
page 7 is 7 · 4096 + 2 = 28674, for every seed. Titles and timestamps (2026, UTC) depend on the seed.
"""

from datetime import UTC, datetime, timedelta

from mockapi.draws import uniform
from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision
from mockapi.wiki.pages.prose import prose

PAGES = 1_000
WIKI = "enwiki"
DOMAIN = "en.wikipedia.org"

_FIRST_EDIT = datetime(2026, 1, 1, tzinfo=UTC)
_EDITING_PERIOD = timedelta(days=180)
_LONGEST_PAUSE = timedelta(days=30)
_MOST_REVISIONS = 6


def default_catalog(seed: int, *, pages: int = PAGES) -> tuple[CatalogPage, ...]:
    """`pages` pages; the same seed gives the same catalog in every process."""
    return tuple(_page(seed, page_id) for page_id in range(1, pages + 1))


def _page(seed: int, page_id: int) -> CatalogPage:
    topics = prose("en").topics
    first, second = (topics[int(uniform(seed, "title", page_id, part) * len(topics))] for part in "ab")
    return CatalogPage(
        wiki=WIKI,
        domain=DOMAIN,
        page_id=page_id,
        namespace_id=0,
        title=f"{first} {second} {page_id}",
        revisions=_revisions(seed, page_id),
    )


def _revisions(seed: int, page_id: int) -> tuple[CatalogRevision, ...]:
    count = 2 + int(uniform(seed, "revisions", page_id) * (_MOST_REVISIONS - 1))
    at = _FIRST_EDIT + _EDITING_PERIOD * uniform(seed, "first edit", page_id)
    revisions = []
    for n in range(1, count + 1):
        rev_id = page_id * REVISIONS_PER_PAGE + n
        parent_id = rev_id - 1 if n > 1 else 0
        revisions.append(CatalogRevision(rev_id=rev_id, parent_id=parent_id, timestamp=at.replace(microsecond=0)))
        at += timedelta(seconds=1) + _LONGEST_PAUSE * uniform(seed, "pause", page_id, n)
    return tuple(revisions)
