"""The parameters of a request, names and values as bytes, percent-decoded, in the order in which they were sent.

titles=a&titles=b+c ──> (b"titles", b"a"), (b"titles", b"b c")
"""

import email
import email.policy
from typing import Final
from urllib.parse import unquote_to_bytes

from mockapi.server.request import Request

_URLENCODED: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"

Pair = tuple[bytes, bytes]


def _urlencoded(text: bytes) -> tuple[Pair, ...]:
    pairs = (piece.partition(b"=") for piece in text.split(b"&") if piece)
    return tuple((_unquote(name), _unquote(value)) for name, _, value in pairs)


def _unquote(text: bytes) -> bytes:
    spaced = text.replace(b"+", b" ")
    return unquote_to_bytes(spaced) if b"%" in spaced else spaced


def query_pairs(request: Request) -> tuple[Pair, ...]:
    """Those of the query string."""
    return _urlencoded(request.query.encode("latin-1"))


def body_pairs(request: Request) -> tuple[Pair, ...]:
    """Those of the body, by its Content-Type; a body that is no form has none."""
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
