"""A request as everything behind the server sees it, read from ASGI once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from starlette.types import Receive, Scope

MOST_BODY_BYTES: Final = 12 * 1024 * 1024

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_GZIP: Final = re.compile(r"\bgzip(?:;q=([0-9]+\.[0-9]+))?\b")
_LANGUAGE_TAG: Final = re.compile(r"\s*([-\w]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Request:
    """`path` is decoded, `raw_path` as sent, `query` the text after the question mark. Header names are in lower case;
    of a repeated header the last one counts. `client` is the peer's address.
    """

    method: str
    path: str
    raw_path: str
    query: str
    headers: Mapping[str, str]
    client: str
    body: bytes = b""

    @property
    def host(self) -> str:
        """The header as sent; empty when there is none."""
        return self.headers.get("host", "")

    @property
    def request_id(self) -> str | None:
        """None when the client sent none."""
        return self.headers.get("x-request-id") or None

    @property
    def cookies(self) -> dict[str, str]:
        """Values by name, percent-decoded as PHP does; of a repeated name the first one counts."""
        cookies: dict[str, str] = {}
        for pair in self.headers.get("cookie", "").split(";"):
            name, equals, value = pair.strip().partition("=")
            if equals:
                cookies.setdefault(name, unquote(value.strip('"')))
        return cookies

    @property
    def language(self) -> str | None:
        """The first tag of Accept-Language as sent, `und` for one that cannot be read; None without the header."""
        header = self.headers.get("accept-language")
        if not header:
            return None
        match = _LANGUAGE_TAG.match(header)
        return match[1] if match else "und"

    def accepts(self, coding: str) -> bool:
        """Whether Accept-Encoding names a content coding: gzip as MediaWiki reads it, others with any weight but 0."""
        header = self.headers.get("accept-encoding", "")
        return bool(header) and (takes_gzip(header) if coding == "gzip" else _takes(coding, header))


@lru_cache(maxsize=1024)
def takes_gzip(accept_encoding: str) -> bool:
    """Whether MediaWiki sends gzip for that header. Of weights it only understands those with a fraction."""
    match = _GZIP.search(accept_encoding)
    return match is not None and (match[1] is None or float(match[1]) > 0)


def _takes(coding: str, accept_encoding: str) -> bool:
    match = re.search(rf"(?<![\w-]){re.escape(coding)}(?![\w-])\s*(?:;\s*q=([0-9.]+))?", accept_encoding)
    return match is not None and (match[1] is None or match[1].strip("0.") != "")


class BodyTooLarge(Exception):  # noqa: N818 - an answer to the client, no error of the mock
    """The request's body is longer than MOST_BODY_BYTES."""


def read_head(scope: Scope) -> Request:
    """From the ASGI scope; header names are in lower case as ASGI has them."""
    client = scope.get("client")
    raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
    return Request(
        method=scope["method"],
        path=scope["path"],
        raw_path=raw_path.decode("latin-1"),
        query=scope["query_string"].decode("latin-1"),
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
        client=client[0] if client else "",
    )


def has_body(request: Request) -> bool:
    """Whether the method is one whose body counts here."""
    return request.method in _WITH_BODY


async def read_body(receive: Receive) -> bytes | None:
    """The whole body; None when the client disconnected before its end. Raises BodyTooLarge."""
    pieces = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces += message.get("body", b"")
        if len(pieces) > MOST_BODY_BYTES:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(pieces)
