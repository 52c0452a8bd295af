"""The attributes of an HTML tag in wikitext, without those that could run code."""

import html
import re
from typing import Final

_ATTRIBUTE: Final = re.compile(r"""([A-Za-z][\w:-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?""")
_ALLOWED: Final = frozenset(
    re.findall(
        r"[a-z]+",
        "about align border cite class color colspan datatype datetime dir face height id itemid itemprop itemref "
        "itemscope itemtype lang property rel resource role rowspan size span start style title type typeof valign "
        "value width",
    )
)


def attributes_of(written: str) -> list[tuple[str, str]]:
    """The attributes that a page may set, in their order; the last of several of a name counts."""
    given = {name: value for name, value in raw_attributes(written).items() if _may_set(name)}
    return list(given.items())


def raw_attributes(written: str) -> dict[str, str]:
    """All attributes, by lower-case name."""
    return {
        found[1].lower(): html.unescape(found[2] or found[3] or found[4] or "")
        for found in _ATTRIBUTE.finditer(written)
    }


def _may_set(name: str) -> bool:
    if name.startswith(("data-mw", "data-parsoid")):
        return False
    return name in _ALLOWED or name.startswith(("aria-", "data-"))
