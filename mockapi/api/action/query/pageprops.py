"""`prop=pageprops`: what pages say of themselves by behaviour switches, such as `__NOINDEX__`.

The mock expands no templates and no parser functions, so nothing comes from those; a generated page has no switches.
"""

import re
from typing import Final

from mockapi.api.action.call import Call
from mockapi.api.action.errors import bad_continue
from mockapi.api.action.module import Continue, QueryModule, public
from mockapi.api.action.parameters import Arguments, Parameter
from mockapi.api.action.query.page_set import PageSet
from mockapi.api.action.tree import Tree
from mockapi.wiki.catalog import Located

PARAMETERS: Final = (Parameter("continue"), Parameter("prop", several=True))

_SWITCH: Final = re.compile(
    r"<nowiki>.*?</nowiki>|<pre[ >].*?</pre>|<!--.*?-->|__([A-Z]+)__", re.DOTALL | re.IGNORECASE
)
_IN_ANY_CASE: Final = frozenset(
    {"notoc", "forcetoc", "toc", "noeditsection", "nogallery", "notitleconvert", "nocontentconvert"}
)
_IN_CAPITALS: Final = frozenset(
    {"newsectionlink", "nonewsectionlink", "hiddencat", "expectunusedcategory", "expectunusedtemplate"}
    | {"index", "noindex", "staticredirect"}
)


async def run(call: Call, arguments: Arguments, pages: PageSet, query: dict[str, Tree]) -> Continue:  # noqa: ARG001
    """Adds `pageprops` to the pages that have some."""
    wanted = arguments.many("prop")
    start = _start(arguments)
    for page_id, located in sorted(pages.good.items()):
        props: dict[str, Tree] = {name: "" for name in sorted(_switches(located)) if wanted is None or name in wanted}
        if page_id < start or not props:
            continue
        if not call.result.fits(props):
            return {"ppcontinue": page_id}
        pages.nodes[page_id]["pageprops"] = props
    return {}


def _start(arguments: Arguments) -> int:
    text = arguments.text("continue")
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise bad_continue()
    return int(text)


def _switches(located: Located) -> set[str]:
    text = located.revision.text
    if text is None or located.page.content_model != "wikitext":
        return set()
    words = [word for word in _SWITCH.findall(text) if word]
    return {word.lower() for word in words if word.lower() in _IN_ANY_CASE} | {
        word.lower() for word in words if word.isupper() and word.lower() in _IN_CAPITALS
    }


MODULE: Final = QueryModule("pageprops", "pp", PARAMETERS, run, public)
