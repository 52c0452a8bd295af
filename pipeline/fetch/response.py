"""What an answer says about the upstream, and not about what was asked for: that it is unhealthy or busy, and until
when; or that it is not the upstream's at all.
"""

import contextlib
import functools
import re

import aiohttp

from located_config.redaction import redacted_text
from pipeline.fetch.api_errors import meaning_of
from pipeline.fetch.body import GZIP, BodyBrokenError, BodyTooLargeError, pieces
from pipeline.fetch.header_fields import content_coding, elements
from pipeline.fetch.route import Head, Route
from pipeline.fetch.wiki_hosts import WikiHosts

FOREIGN = "without MediaWiki's words"
# An error of MediaWiki's has a few hundred.
_MOST_WORDS_BYTES = 64 * 1024
_MOST_LOCATION_CHARACTERS = 200
_USER = re.compile(r"(?<=//)[^/]*@")

# Transient statuses below 500; from 500 on all are.
_TRANSIENT = frozenset({408, 425, 429})


def is_transient(status: int) -> bool:
    """Whether the same request may be answered otherwise later."""
    return status >= 500 or status in _TRANSIENT


def head_of(response: aiohttp.ClientResponse, hosts: WikiHosts, wiki_id: str) -> Head:
    """The parts of a wiki's response that a route needs beside the body."""
    is_another = functools.partial(hosts.is_another, wiki_id)
    headers = response.headers
    # Other codings, `identity` among them, and several of them tell nothing of an end, or not to aiohttp.
    is_chunked = [coding.strip().lower() for coding in headers.getall("Transfer-Encoding", ())] == ["chunked"]
    is_bounded = "Content-Length" in headers or is_chunked or content_coding(headers) in GZIP
    revisions = dict.fromkeys(elements(headers, "Content-Revision-Id"))
    return Head(headers.get("Content-Type", ""), ", ".join(revisions) or None, is_another, is_bounded)


async def read_error_code(response: aiohttp.ClientResponse, route: Route) -> str | None:
    """MediaWiki's code in a response with another status than 200, which is not transient; None when it has none.
    Raises what aiohttp raises when it is broken off.
    """
    body = bytearray()
    with contextlib.suppress(BodyBrokenError, BodyTooLargeError):
        async for piece in pieces(response.content, _MOST_WORDS_BYTES, encoding=content_coding(response.headers)):
            body += piece
    return route.refusal(body.decode(errors="replace"))


def describe_outage(code: str | None) -> str | None:
    """Why a response with that code is about the upstream, not about the revision; None when it is final."""
    if code is None:
        return FOREIGN
    return f"with API error {code[:100]}" if meaning_of(code) == "later" else None


def describe_status(response: aiohttp.ClientResponse) -> str:
    """The status of a response and, of a redirect, where it leads: without user, parameters and query, any of which may
    be a secret.
    """
    location = response.headers.get("Location")
    if not 300 <= response.status < 400 or location is None:
        return f"status {response.status}"
    target = _USER.sub("", re.split(r"[?#]", location, maxsplit=1)[0]).partition(";")[0]
    # Cut last: half a secret is not known for one.
    target = redacted_text(target)[:_MOST_LOCATION_CHARACTERS]
    return f"status {response.status} to {target!r}"
