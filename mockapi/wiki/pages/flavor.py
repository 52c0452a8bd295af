"""The flavours in which MediaWiki gives out the HTML of a page.

`view` is the document, and `stash` the same one, kept for an edit to come. `edit` has a `data-parsoid` on each
element that has an id of Parsoid's; here it says nothing. `fragment` is the content of the body without its sections.
"""

import re
from typing import Final, Literal, get_args

Flavor = Literal["view", "stash", "fragment", "edit"]
FLAVORS: Final[tuple[Flavor, ...]] = get_args(Flavor)

_BODY: Final = re.compile(rb"<body\b[^>]*>(.*)</body>", re.DOTALL)
_SECTION: Final = re.compile(rb"</?section\b[^>]*>")
_TAG: Final = re.compile(rb"""<[a-z][a-z0-9]*((?: [a-z][a-z0-9:-]*=(?:"[^"]*"|'[^']*'))+)(?=/?>)""")
_PARSOID_ID: Final = b' id="mw'


def flavored(html: bytes, flavor: Flavor) -> bytes:
    """The `view` document in another flavour."""
    match flavor:
        case "view" | "stash":
            return html
        case "edit":
            return _TAG.sub(_with_data, html)
        case "fragment":
            body = _BODY.search(html)
            return html if body is None else _SECTION.sub(b"", body[1])


def _with_data(tag: re.Match[bytes]) -> bytes:
    return tag[0] + b' data-parsoid="{}"' if _PARSOID_ID in tag[1] else tag[0]
