"""A request as the REST routes see it, read from the ASGI scope once."""

import re
from dataclasses import dataclass

from starlette.types import Scope

REST_ROOT = "/w/rest.php"

# MediaWiki's own reading of Accept-Encoding: `*` does not count, and only q=0 refuses.
_GZIP = re.compile(r"\bgzip\b\s*(?:;\s*q=([0-9.]+))?")
_LANGUAGE_TAG = re.compile(r"\s*([-\w]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Request:
    """`path` is decoded, `relative` is what follows `/w/rest.php` (None for a path elsewhere).

    `host` is the header as sent, `client` the peer's address. `request_id` is None when the client sent none.
    """

    method: str
    path: str
    host: str
    client: str
    request_id: str | None
    accepts_gzip: bool
    language: str | None

    @property
    def relative(self) -> str | None:
        """The path below the REST root."""
        inside = self.path == REST_ROOT or self.path.startswith(REST_ROOT + "/")
        return self.path[len(REST_ROOT) :] if inside else None


def read_request(scope: Scope) -> Request:
    """Reads method, path and the headers that matter here; of a repeated header the last one."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    language = headers.get(b"accept-language")
    client = scope.get("client")
    request_id = headers.get(b"x-request-id", b"").decode("latin-1")
    return Request(
        method=scope["method"],
        path=scope["path"],
        host=headers.get(b"host", b"").decode("latin-1"),
        client=client[0] if client else "",
        request_id=request_id or None,
        accepts_gzip=_accepts_gzip(headers.get(b"accept-encoding", b"").decode("latin-1")),
        language=None if language is None else _first_tag(language.decode("latin-1")),
    )


def _accepts_gzip(header: str) -> bool:
    match = _GZIP.search(header)
    return match is not None and (match[1] is None or match[1].strip("0.") != "")


def _first_tag(header: str) -> str:
    match = _LANGUAGE_TAG.match(header)
    return match[1].lower() if match else "und"
