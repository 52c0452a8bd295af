"""What a request to the Action API says: the parameters of its query string and of its body, as PHP reads them.

    titles=a&titles=b ──> "b"      my.name=1 ──> my_name      titles[]=a ──> an array, which no parameter takes

A value in the body wins over one in the query string. Text that is no clean UTF-8 is mended as MediaWiki mends it.
"""

import email
import email.policy
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from mockapi.server.request import Request

UNIT_SEPARATOR: Final = "\x1f"
"""Before a list of values it stands for `|` between them, so that values may hold one."""

_URLENCODED: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

Pair = tuple[bytes, bytes]


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
    in_query = _urlencoded(request.query.encode("latin-1"))
    in_body = _body(request) if posted else ()
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


def _urlencoded(text: bytes) -> tuple[Pair, ...]:
    pairs = (piece.partition(b"=") for piece in text.split(b"&") if piece)
    return tuple((_unquote(name), _unquote(value)) for name, _, value in pairs)


def _unquote(text: bytes) -> bytes:
    spaced = text.replace(b"+", b" ")
    return unquote_to_bytes(spaced) if b"%" in spaced else spaced


def _body(request: Request) -> Iterable[Pair]:
    content_type = request.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _URLENCODED:
        return _urlencoded(request.body)
    return _multipart(content_type, request.body) if kind == _MULTIPART else ()


def _multipart(content_type: str, body: bytes) -> tuple[Pair, ...]:
    head = b"Content-Type: " + content_type.encode("latin-1").replace(b"\r", b"").replace(b"\n", b"") + b"\r\n\r\n"
    message = email.message_from_bytes(head + body, policy=email.policy.HTTP)
    pairs = []
    for part in message.iter_parts() if message.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        # A part with a file name is an upload, and no parameter.
        if isinstance(name, str) and isinstance(content, bytes) and part.get_filename() is None:
            pairs.append((name.encode("utf-8", "surrogateescape"), content))
    return tuple(pairs)


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
