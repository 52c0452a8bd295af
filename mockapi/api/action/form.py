"""What a request to the Action API says: the parameters of its query string and of its body, as PHP reads them.

    titles=a&titles=b ──> "b"      my.name=1 ──> my_name      titles[]=a ──> an array, which no parameter takes

A value in the body wins over one in the query string. Text that is no clean UTF-8 is mended as MediaWiki mends it.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_from_bytes

from mockapi.server.request import Request
from mockapi.server.request_parameters import body_pairs, query_pairs

UNIT_SEPARATOR: Final = "\x1f"
"""Before a list of values it stands for `|` between them, so that values may hold one."""

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Form:
    """`values` by name, in the order of their arrival; `in_query` are the names that the query string gives, `arrays`
    those that came with brackets. `mended` holds, percent-encoded, what was sent in place of a value that was no
    clean text.
    """

    values: Mapping[str, str]
    in_query: frozenset[str]
    arrays: frozenset[str]
    mended: Mapping[str, str]
    posted: bool

    @property
    def names(self) -> tuple[str, ...]:
        """All that the request names, the arrays last."""
        return (*self.values, *(name for name in self.arrays if name not in self.values))


def read_form(request: Request) -> Form:
    """The form of a request; a body that is no form says nothing."""
    posted = request.method == "POST"
    in_query = query_pairs(request)
    in_body = body_pairs(request) if posted else ()
    values: dict[str, str] = {}
    arrays: set[str] = set()
    mended: dict[str, str] = {}
    names = []
    for raw_name, raw in (*in_query, *in_body):
        name, is_array = _name(raw_name)
        names.append(name)
        if not name:
            continue
        if is_array:
            arrays.add(name)
            continue
        value = _clean(raw)
        values[name] = value
        mended.pop(name, None)
        if value.encode() != raw:
            mended[name] = quote_from_bytes(raw, safe="")
    return Form(values, frozenset(names[: len(in_query)]), frozenset(arrays), mended, posted)


def _name(raw: bytes) -> tuple[str, bool]:
    """The name as PHP makes a variable of it, and whether it is an array's."""
    text = raw.decode("utf-8", "replace").lstrip(" ")
    if text.isidentifier():
        return text, False
    name, bracket, _ = text.partition("[")
    return name.replace(".", "_").replace(" ", "_"), bool(bracket and name)


def _clean(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    if text.isascii() and text.isprintable():
        return text
    separated = text.startswith(UNIT_SEPARATOR)
    text = unicodedata.normalize("NFC", text)
    return _FORBIDDEN.sub(lambda bad: bad[0] if separated and bad[0] == UNIT_SEPARATOR else "\ufffd", text)
