"""Which pages and revisions exist: the models other rooms may use to describe them.

A REST revision route names no page, so the page is found from the revision by arithmetic:

    rev_id = page_id · 4096 + n,   0 <= n < 4096

The models hold that contract; a catalog of several pages also has one domain for a wiki and one wiki for a domain.
What an entry leaves open (text, user, comment) is drawn from the seed; `mockapi.wiki.facts` has both.

The default catalog has the pages 1 to 1,000 of `enwiki` (`en.wikipedia.org`) with 2 to 6 revisions, n = 1, 2, …; so the
second revision of page 7 is 7 · 4096 + 2 = 28674, for every seed. Titles and timestamps (2026, UTC) depend on the seed.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.draws import uniform
from mockapi.values.strict import Strict
from mockapi.wiki.pages.prose import prose

REVISIONS_PER_PAGE = 4096
MAX_REVISION_ID = 2**53 - 1
MAX_TITLE_CHARACTERS = 320  # 255 bytes, and the namespace before them


HiddenPart = Literal["text", "user", "comment"]


class CatalogRevision(Strict):
    """One revision; `parent_id` 0 means that it is the page's first.

    `text` is its source as given; None stands for a generated one, as it does for `user`, `user_id` and `comment`.
    A `user_id` of 0 is a user without an account. `hidden` are the parts that readers are not shown; `suppressed`
    hides them from administrators too.
    """

    rev_id: int = Field(ge=1, le=MAX_REVISION_ID)
    parent_id: int = Field(ge=0, le=MAX_REVISION_ID)
    timestamp: AwareDatetime
    text: str | None = None
    user: str | None = Field(default=None, min_length=1)
    user_id: int | None = Field(default=None, ge=0)
    comment: str | None = None
    minor: bool = False
    hidden: tuple[HiddenPart, ...] = ()
    suppressed: bool = False

    @model_validator(mode="after")
    def _an_id_has_a_user(self) -> Self:
        if self.user_id is not None and self.user is None:
            raise PydanticCustomError(
                "user_id_alone",
                "user_id {user_id} of revision {rev_id} is no user's",
                {"user_id": self.user_id, "rev_id": self.rev_id, "hint": "add user, the name"},
            )
        return self

    @property
    def number(self) -> int:
        """n of the contract: the revision's place among those of its page."""
        return self.rev_id % REVISIONS_PER_PAGE


class CatalogPage(Strict):
    """One page of one wiki with the revisions that can be fetched, in ascending order.

    `title` is the full title as `page/change` events have it; spaces and underscores mean the same. The revisions of
    a `deleted` page are unknown to readers.
    """

    wiki: str = Field(min_length=1)
    domain: str = Field(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    page_id: int = Field(ge=1)
    namespace_id: int = Field(ge=0)
    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    revisions: tuple[CatalogRevision, ...] = Field(min_length=1)
    content_model: str = Field(default="wikitext", min_length=1)
    deleted: bool = False

    @model_validator(mode="after")
    def _revisions_belong_to_the_page(self) -> Self:
        low = self.page_id * REVISIONS_PER_PAGE
        for revision in self.revisions:
            parent = revision.parent_id
            if not low <= revision.rev_id < low + REVISIONS_PER_PAGE:
                raise PydanticCustomError(
                    "revision_contract",
                    "revision {rev_id} is not one of page {page_id}",
                    {
                        "rev_id": revision.rev_id,
                        "page_id": self.page_id,
                        "hint": f"rev_id = page_id * 4096 + n, here {low} to {low + REVISIONS_PER_PAGE - 1}",
                    },
                )
            if parent and not low <= parent < revision.rev_id:
                raise PydanticCustomError(
                    "parent_contract",
                    "parent {parent} of revision {rev_id} is not an earlier revision of page {page_id}",
                    {"parent": parent, "rev_id": revision.rev_id, "page_id": self.page_id, "hint": "use 0 for none"},
                )
        if any(later.rev_id <= earlier.rev_id for earlier, later in pairwise(self.revisions)):
            raise PydanticCustomError(
                "revision_order",
                "revisions of page {page_id} are not in ascending order of rev_id",
                {"page_id": self.page_id, "hint": "sort them, each once"},
            )
        return self


def _one_catalog(pages: tuple[CatalogPage, ...]) -> tuple[CatalogPage, ...]:
    domains: dict[str, str] = {}
    wikis: dict[str, str] = {}
    seen: set[tuple[str, int]] = set()
    for page in pages:
        if domains.setdefault(page.wiki, page.domain) != page.domain:
            raise PydanticCustomError(
                "wiki_domain",
                "wiki {wiki} has two domains: {one} and {two}",
                {"wiki": page.wiki, "one": domains[page.wiki], "two": page.domain, "hint": "a wiki has one domain"},
            )
        if wikis.setdefault(page.domain, page.wiki) != page.wiki:
            raise PydanticCustomError(
                "domain_wiki",
                "domain {domain} belongs to two wikis: {one} and {two}",
                {"domain": page.domain, "one": wikis[page.domain], "two": page.wiki, "hint": "a domain has one wiki"},
            )
        if (page.wiki, page.page_id) in seen:
            raise PydanticCustomError(
                "duplicate_page",
                "page {page_id} of {wiki} is there twice",
                {"page_id": page.page_id, "wiki": page.wiki, "hint": "put its revisions into one entry"},
            )
        seen.add((page.wiki, page.page_id))
    return pages


CatalogPages = Annotated[tuple[CatalogPage, ...], AfterValidator(_one_catalog)]
"""A whole catalog: what `PUT /__mock/state` takes, and the lines of a catalog file together."""


@dataclass(frozen=True, slots=True)
class Located:
    """A revision that exists, with its page."""

    page: CatalogPage
    revision: CatalogRevision


PAGES = 1_000
WIKI = "enwiki"
DOMAIN = "en.wikipedia.org"

_FIRST_EDIT = datetime(2026, 1, 1, tzinfo=UTC)
_EDITING_PERIOD = timedelta(days=180)
_LONGEST_PAUSE = timedelta(days=30)
_MOST_REVISIONS = 6


@lru_cache(maxsize=4)
def default_catalog(seed: int, *, pages: int = PAGES) -> tuple[CatalogPage, ...]:
    """`pages` pages; the same seed gives the same catalog in every process. Kept, as a reset asks for it again."""
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
