"""Conditional requests, as MediaWiki decides them and RFC 7232 wants it.

    If-Match, else If-Unmodified-Since ── fails ──> 412
    If-None-Match, else If-Modified-Since ── holds ──> 304

They are decided before the route looks at what it was asked for; so a title that needs normalising can be a 304, and a
page that is not there a 412.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mockapi.api.rest.envelope import sealed
from mockapi.server.reply import Reply
from mockapi.server.request import Request

HEADERS: Final = frozenset({"if-match", "if-none-match", "if-modified-since", "if-unmodified-since"})

_TAG: Final = re.compile(r'\s*(?:W/)?"([!#-~\x80-\xff]*)"\s*(,|$)')
_DATES: Final = (
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", re.ASCII), "%a, %d %b %Y %H:%M:%S GMT"),
    (re.compile(r"\w{6,9}, \d\d-\w{3}-\d\d \d\d:\d\d:\d\d GMT", re.ASCII), "%A, %d-%b-%y %H:%M:%S GMT"),
    (re.compile(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", re.ASCII), "%a %b %d %H:%M:%S %Y"),
)


@dataclass(frozen=True, slots=True)
class Validators:
    """What a request can be compared with. `etag` has its quotes; None where there is nothing. `exists` is what `*`
    asks for.
    """

    etag: str | None
    last_modified: datetime | None
    exists: bool


def conditional(request: Request) -> bool:
    """Whether `decide` has anything to look at: any of `HEADERS`."""
    return not HEADERS.isdisjoint(request.headers)


def decide(request: Request, validators: Validators) -> int | None:
    """304 or 412; None when the request is to be answered."""
    headers = request.headers
    reading = request.method in {"GET", "HEAD"}
    if "if-match" in headers:
        # A weak tag from the client counts: a cache in front makes them when it compresses.
        if not _among(headers["if-match"], validators):
            return 412
    elif "if-unmodified-since" in headers:
        limit = http_date(headers["if-unmodified-since"])
        if limit is not None and (validators.last_modified is None or _seconds(validators.last_modified) > limit):
            return 412
    if "if-none-match" in headers:
        if _among(headers["if-none-match"], validators):
            return 304 if reading else 412
    elif reading and _unchanged(headers, validators):
        return 304
    return None


def bare_reply(status: int, request_id: str) -> Reply:
    """304 or 412: nothing but the headers that every answer has."""
    return sealed(status, (), b"", request_id, php_type=True)


def http_date(text: str) -> datetime | None:
    """A date of HTTP in one of its three forms; None for anything else."""
    for form, pattern in _DATES:
        if form.fullmatch(text):
            try:
                return datetime.strptime(text, pattern).replace(tzinfo=UTC)
            except ValueError:
                return None
    return None


def _unchanged(headers: Mapping[str, str], validators: Validators) -> bool:
    since = http_date(headers.get("if-modified-since", ""))
    return since is not None and validators.last_modified is not None and _seconds(validators.last_modified) <= since


def _seconds(at: datetime) -> datetime:
    return at.replace(microsecond=0)


def _among(header: str, validators: Validators) -> bool:
    if header == "*":
        return validators.exists
    return validators.etag is not None and validators.etag[1:-1] in _tags(header)


def _tags(header: str) -> list[str]:
    """What is between the quotes of each tag; nothing of a header that cannot be read to its end."""
    tags, at = [], 0
    while at < len(header):
        match = _TAG.match(header, at)
        if match is None:
            return []
        tags.append(match[1])
        at = match.end()
    return [] if header.rstrip().endswith(",") else tags
