"""What an article says, before it is HTML or wikitext: a pure function of (seed, page, revision).

    key ─┬─ size (log-normal) ──> number of elements
         ├─ shapes: one number an element, the page's for ever
         └─ history(n) ──> last edit of each element ──> its words

Revision n differs from n - 1 in one to three elements, sometimes one more.
"""

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from mockapi.draws import digest, log_normal, uniform
from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.elements import Bits
from mockapi.wiki.pages.prose import Prose, prose
from mockapi.wiki.wiki import language_of

_MOST_TOUCHED: Final = 3
_ADDS_ONE_IN: Final = 3
_PLACES_ONE_IN: Final = 10


@dataclass(frozen=True, slots=True)
class History:
    """`touched`: element index to the last edit that rewrote it; `added`: index to the last edit that put a paragraph
    after it. Both have edits from 1; an index that is missing was never edited, so its element keeps its bytes.
    """

    touched: dict[int, int]
    added: dict[int, int]


def history(page_key: bytes, edits: int, elements: int) -> History:
    """The effect of the edits 1 to `edits` on a page of `elements` elements.

    An edit rewrites one to three elements; one in three also adds a paragraph. Only every tenth element can be
    followed by an added one, and a later addition there replaces the earlier, so that no page grows without end.
    """
    touched: dict[int, int] = {}
    added: dict[int, int] = {}
    for edit in range(1, edits + 1):
        drawn = int.from_bytes(digest(page_key.hex(), edit), "big")
        drawn, more = divmod(drawn, _MOST_TOUCHED)
        for _ in range(1 + more):
            drawn, index = divmod(drawn, elements)
            touched[index] = edit
        drawn, adds = divmod(drawn, _ADDS_ONE_IN)
        if adds == 0:
            drawn, place = divmod(drawn, -(-elements // _PLACES_ONE_IN))
            added[place * _PLACES_ONE_IN] = edit
    return History(touched, added)


MEDIAN_BYTES: Final = 24 * 1024
P99_BYTES: Final = 160 * 1024
MAX_BYTES: Final = 400 * 1024

# Calibrated on the HTML: the head and the end of a page, the markup of an element with its share of headings and
# references, how many sentences and topics are in it on average, and the room that added paragraphs need below
# MAX_BYTES.
_FRAME_BYTES: Final = 1_700
_MARKUP_BYTES: Final = 177
_SENTENCES_EACH: Final = 1.1
_TOPICS_EACH: Final = 3.9
_GROWTH: Final = 0.85
_FEWEST_ELEMENTS: Final = 4

_ELEMENTS_A_SECTION: Final = 6
_OUTLINES_KEPT: Final = 16  # source and HTML of an article are made one after the other


@dataclass(frozen=True, slots=True)
class Outline:
    """One revision of an article. `shapes` has one number an element; elements are named by their index."""

    key: bytes
    prose: Prose
    shapes: tuple[int, ...]
    edits: History

    @property
    def sections(self) -> int:
        """How many sections the elements fill, the lead included."""
        return -(-len(self.shapes) // _ELEMENTS_A_SECTION)

    def heading(self, index: int) -> tuple[int, str] | None:
        """Number and heading of the section that begins with this element; None when none does."""
        number, within = divmod(index, _ELEMENTS_A_SECTION)
        return (number, f"{self._drawn(index, -1).of(self.prose.topics)} {number}") if number and not within else None

    def words(self, index: int) -> Bits:
        """What the element says since the last edit that touched it."""
        return self._drawn(index, self.edits.touched.get(index, 0))

    def source(self, index: int) -> Bits:
        """What the reference of the element cites, for ever."""
        return self._drawn(index, 0)

    def added(self, index: int) -> Bits | None:
        """What the paragraph says that an edit put after the element; None when there is none."""
        edit = self.edits.added.get(index)
        return None if edit is None else self._drawn(index, -edit - 1)

    def _drawn(self, index: int, edit: int) -> Bits:
        return Bits(int.from_bytes(digest(self.key.hex(), "text", index, edit), "big"))


class ArticleId(NamedTuple):
    """All that an article depends on: a change of its page or of the wiki does not change it."""

    seed: int
    wiki: str
    domain: str
    page_id: int
    number: int

    @classmethod
    def of(cls, seed: int, located: Located) -> "ArticleId":
        """The article of a revision for which the catalog gives no text."""
        page = located.page
        return cls(seed, page.wiki, page.domain, page.page_id, located.revision.number)


@lru_cache(maxsize=_OUTLINES_KEPT)
def outline(article: ArticleId) -> Outline:
    """The outline of a revision; the same in every process."""
    key = digest(article.seed, "article", article.wiki, article.page_id)
    size = min(log_normal(uniform(key.hex(), "size"), MEDIAN_BYTES, P99_BYTES), MAX_BYTES * _GROWTH)
    stock = prose(language_of(article.domain))
    mean = _MARKUP_BYTES + _SENTENCES_EACH * stock.sentence_bytes + _TOPICS_EACH * stock.topic_bytes
    elements = max(_FEWEST_ELEMENTS, round((size - _FRAME_BYTES) / mean))
    source = random.Random(key)
    shapes = tuple(int(source.random() * (1 << 24)) for _ in range(elements))
    return Outline(key, stock, shapes, history(key, article.number, elements))
