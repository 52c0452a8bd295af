"""Headers of answers, in MediaWiki's order: cookies, other origins, who may keep an answer and for how long."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Final
from urllib.parse import quote

from mockapi.api.action.call import Call
from mockapi.api.action.parameters import Arguments
from mockapi.server.reply import Headers

NO_SNIFF: Final = (b"x-content-type-options", b"nosniff")
PRIVATE: Final = (b"cache-control", b"private, must-revalidate, max-age=0")
LONG_AGO: Final = (b"expires", b"Thu, 01 Jan 1970 00:00:00 GMT")

_COOKIES_LIVE: Final = timedelta(days=30)
_COOKIES_LIVE_WHEN_REMEMBERED: Final = timedelta(days=180)
_FIRST_SECOND: Final = datetime.fromisoformat("1970-01-01T00:00:01+00:00")


@dataclass(frozen=True, slots=True)
class Caching:
    """Seconds that caches may keep an answer: `shared` ones, and those of one client."""

    own: int = 0
    shared: int = 0

    @classmethod
    def of(cls, main: Arguments) -> "Caching":
        """By `maxage` and `smaxage`, 0 where they are not given."""
        return cls(main.integer("maxage") or 0, main.integer("smaxage") or 0)


def end_of_head(request_id: str, length: int) -> Headers:
    """Content-Length and X-Request-Id, which MediaWiki sends last."""
    return ((b"content-length", str(length).encode()), id_header(request_id))


def id_header(request_id: str) -> tuple[bytes, bytes]:
    """X-Request-Id; characters outside latin-1 become `?`."""
    return (b"x-request-id", request_id.encode("latin-1", "replace"))


def write_cookie(call: Call) -> Headers:
    """After a write MediaWiki has the client read from the database that was written to, for as long as copies lag."""
    if not call.wrote:
        return ()
    lifetime = timedelta(seconds=10)
    return ((b"set-cookie", f"UseDC=master; {_lives(call.now + lifetime, lifetime)}path=/; HttpOnly".encode()),)


def cookie_headers(call: Call) -> Headers:
    """The cookies to keep, and those to delete."""
    remembered = bool(call.cookies.get(call.cookie("Token")))
    lifetime = _COOKIES_LIVE_WHEN_REMEMBERED if remembered else _COOKIES_LIVE
    headers = []
    for name, value in call.cookies.items():
        if not value:
            text = f"{name}=deleted; {_lives(_FIRST_SECOND, timedelta(0))}path=/; HttpOnly"
        elif name.endswith("_session"):
            text = f"{name}={value}; path=/; HttpOnly"
        else:
            text = f"{name}={quote(value)}; {_lives(call.now + lifetime, lifetime)}path=/; HttpOnly"
        headers.append((b"set-cookie", text.encode("latin-1", "replace")))
    return tuple(headers)


def origin_headers(call: Call) -> Headers:
    """What a browser with a page of another origin is told."""
    suppressed: Headers = ((b"mediawiki-login-suppressed", b"true"),) if call.untrusted else ()
    origin = call.form.values.get("origin")
    if origin is None:
        return suppressed
    if origin != "*":
        return (*suppressed, (b"mediawiki-cors-rejection", b"Origin mismatch"))
    exposed = b"MediaWiki-API-Error, Retry-After, X-Database-Lag, MediaWiki-Login-Suppressed"
    return (
        *suppressed,
        (b"access-control-allow-origin", b"*"),
        (b"access-control-allow-credentials", b"false"),
        (b"access-control-expose-headers", exposed),
    )


def cache_headers(call: Call, caching: Caching, encoding: Headers, *, is_error: bool) -> Headers:
    """Who may keep the answer; `encoding` stands where MediaWiki has it among them."""
    private = (b"cache-control", b"private, must-revalidate, max-age=%d" % (0 if is_error else caching.own))
    origin = b", Origin" if call.form.values.get("origin", "*") != "*" else b""
    if is_error or call.cache == "private":
        return (private, *encoding, (b"vary", b"Accept-Encoding" + origin))
    vary = (b"vary", b"Accept-Encoding" + origin + b", Treat-as-Untrusted, Cookie")
    own_session = call.session is not None and call.form.values.get("uselang", "user") == "user"
    if own_session or not (caching.own or caching.shared):
        return (vary, private, *encoding)
    least = min(caching.own, caching.shared)
    expires = call.now + timedelta(seconds=least) if least else _FIRST_SECOND
    kept = b"s-maxage=%d, max-age=%d, public" % (caching.shared, caching.own)
    return (vary, (b"expires", format_datetime(expires, usegmt=True).encode()), (b"cache-control", kept), *encoding)


def _lives(until: datetime, lifetime: timedelta) -> str:
    return f"expires={format_datetime(until, usegmt=True)}; Max-Age={lifetime // timedelta(seconds=1)}; "
