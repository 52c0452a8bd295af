"""Names of topics and partitions where there is little room: what they have in common is left out.

mediawiki.page_change.v1, codfw.mediawiki.page_change.v1  ─▶  mediawiki, codfw.mediawiki
page_change/0, page_change/1                              ─▶  0, 1
"""

import re
from collections.abc import Sequence
from itertools import takewhile

_LONGEST = 12


def short_names(names: Sequence[str]) -> list[str]:
    """In the same order. Each keeps one part at least, and is cut where that is too long."""
    parts = [re.split(r"[./]", name) for name in names]
    if len(names) > 1:
        shortest = min(map(len, parts))
        first = min(_alike(parts), shortest - 1)
        last = min(_alike([of[::-1] for of in parts]), shortest - 1 - first)
        parts = [of[first : len(of) - last] for of in parts]
    return [_cut(".".join(of)) for of in parts]


def _alike(parts: Sequence[Sequence[str]]) -> int:
    """How many parts all begin with."""
    return sum(1 for _ in takewhile(lambda of: len({*of}) == 1, zip(*parts, strict=False)))


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
