"""How errors and warnings are shown: as in MediaWiki's early years (`bc`, the default), or in a list with their text in
one of several forms.

Texts are the same in all of them, but for `html`. `raw` gives a text's key and parameters; the mock knows those of a
few, and makes a key of the code for the others.
"""

import html
from typing import Final

from mockapi.api.action.errors import ApiError, ErrorMessage
from mockapi.api.action.form import Form
from mockapi.api.action.result import Warned, old_style
from mockapi.api.action.tree import Content, Tree
from mockapi.wiki.wiki import Wiki

_MODERN: Final = frozenset({"plaintext", "wikitext", "html", "raw", "none"})


def error_format(form: Form) -> str:
    """The form that the client wants; `bc` for one that there is not."""
    wanted = form.values.get("errorformat", "bc")
    return wanted if wanted in _MODERN else "bc"


def members_of_error(wiki: Wiki, form: Form, error: ApiError) -> dict[str, Tree]:
    """What an answer that is an error has in place of a result."""
    style = error_format(form)
    reference = Content(
        f"See {wiki.server}/w/api.php for API usage. Subscribe to the mediawiki-api-announce mailing list at "
        "&lt;https://lists.wikimedia.org/postorius/lists/mediawiki-api-announce.lists.wikimedia.org/&gt; "
        "for notice of API deprecations and breaking changes."
    )
    if style == "bc":
        return {"error": {"code": error.code, "info": error.english, **error.data, "docref": reference}}
    return {
        "errors": [
            _modern(style, Warned(error.module or "main", error.code, error.english, error.data), error.message)
        ],
        "docref": reference,
    }


def warnings(form: Form, warned: list[Warned]) -> Tree:
    """In the style of `errorformat`: by module for `bc`, else a list."""
    style = error_format(form)
    return old_style(warned) if style == "bc" else [_modern(style, one) for one in warned]


def _modern(style: str, one: Warned, message: ErrorMessage | None = None) -> Tree:
    item: dict[str, Tree] = {"code": one.code}
    match style:
        case "raw":
            shown = message or ErrorMessage(f"apiwarn-{one.code}")
            item |= {"key": shown.key, "params": [{"plaintext": param} for param in shown.params]}
        case "html":
            item["html"] = Content(html.escape(one.english, quote=False))
        case "plaintext" | "wikitext":
            item["text"] = Content(one.english)
    if one.data:
        item["data"] = one.data
    return {**item, "module": one.module}
