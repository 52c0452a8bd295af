"""What the edits of a page did: which elements they rewrote and where they added one.

Revision n is the page after the edits 1 … n, so it differs from n - 1 by edit n alone. An element is rendered from
(index, last edit that touched it); so everything an edit did not touch keeps its bytes.
"""

from dataclasses import dataclass
from typing import Final

from mockapi.draws import digest

_MOST_TOUCHED: Final = 3
_ADDS_ONE_IN: Final = 3
_PLACES_ONE_IN: Final = 10


@dataclass(frozen=True, slots=True)
class History:
    """`touched`: element index to the last edit that rewrote it; `added`: index to the last edit that put a paragraph
    after it. Both have edits from 1; an index that is missing was never edited.
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
