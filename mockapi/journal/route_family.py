"""Which part of the API a path is of, with a handful of names however many paths there are."""

from typing import Final

_NOUNS: Final = frozenset({"revision", "page"})
_FORMS: Final = frozenset({"html", "bare", "with_html"})


def route_family(path: str) -> str:
    """`rest revision/html`, `rest page`, `rest other`, `restbase`, `action` or `other`."""
    if path.startswith("/w/rest.php/"):
        return f"rest {_handler(path)}"
    if path.startswith("/w/api.php"):
        return "action"
    return "restbase" if path.startswith("/api/rest_v1/") else "other"


def _handler(path: str) -> str:
    _, _, below = path.partition("/v1/")
    noun, _, rest = below.partition("/")
    if noun not in _NOUNS:
        return "other"
    form = rest.rpartition("/")[2]
    return f"{noun}/{form}" if form in _FORMS and "/" in rest else noun
